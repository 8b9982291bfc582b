#include "normalizer.hpp"

#include <cmath>

#include "santa/arithmetic/sampler.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kSumBits = 32;
constexpr unsigned kOutputBits = 16;

}  // namespace

Normalizer::Normalizer(const sc_core::sc_module_name& name, const UnitContext& context,
                       std::uint32_t samples, Credits& sums, Channel<JobPointer>& in,
                       std::function<void()> finished)
    : sc_core::sc_module(name),
      context_(context),
      samples_log2_(static_cast<unsigned>(std::ilogb(samples))),
      sums_(sums),
      in_(in),
      finished_(std::move(finished)),
      probe_(context.probe.add_block("normalizer")) {
  using energy::Block;
  using energy::Operation;
  round_ = context_.meter.operation(Block::normalizer, Operation::add_int, kOutputBits);
  shift_ = context_.meter.operation(Block::normalizer, Operation::shift, kSumBits);
  output_write_ =
      context_.meter.operation(Block::normalizer, Operation::register_write, kOutputBits);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void Normalizer::run() {
  for (;;) {
    const JobPointer job = in_.read(probe_);
    std::vector<std::int16_t>& output = context_.report.outputs[job->index];
    for (const std::int32_t sum : job->sums) {
      output.push_back(arithmetic::normalize(sum, samples_log2_));
    }
    context_.count(shift_, output.size());
    context_.count(round_, output.size());
    context_.count(output_write_, output.size());
    context_.report.operations.algorithm.outputs_written += output.size();
    write_heads(*job);
    finished_();
  }
}

// Head by head: its outputs are made and written; the request is done when memory has answered.
void Normalizer::write_heads(const JobState& job) {
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t dimension = job.head_dimension();
  const std::uint64_t cycles = divide_up(dimension, context_.config_u64(unit.normalizer_lanes));
  const std::uint64_t stride = 2 * row_stride_bytes(dimension, unit);
  std::uint64_t writes = job.group();
  sc_core::sc_event answered;
  probe_.fill(pipeline::kNormalize - pipeline::kHeadRow);
  for (std::uint32_t g = 0; g < job.group(); ++g) {
    probe_.fill(pipeline::kHeadRow);
    probe_.work(cycles, job.index, "head", g);
    context_.port.write(Stream::kOutput, job.addresses.output + g * stride, 2 * dimension,
                        [&writes, &answered] {
                          if (--writes == 0) answered.notify();
                        });
  }
  sums_.release();
  while (writes > 0) sc_core::wait(answered);
  probe_.fill(pipeline::kComplete);
}

}  // namespace santa::sim
