#include "normalizer.hpp"

#include <cmath>

#include "santa/arithmetic/sampler.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kSumBits = 32;
constexpr unsigned kOutputBits = 16;

}  // namespace

Normalizer::Normalizer(const sc_core::sc_module_name& name, const UnitContext& context,
                       std::uint32_t samples, Channel<JobPointer>& in,
                       std::function<void()> finished)
    : sc_core::sc_module(name),
      context_(context),
      samples_log2_(static_cast<unsigned>(std::ilogb(samples))),
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
    probe_.work(
        divide_up(output.size(), context_.config_u64(context_.hardware.unit.normalizer_lanes)),
        job->index, "output", job->index);
    context_.port.write(Stream::kOutput, job->addresses.output, output.size() * 2, finished_);
  }
}

}  // namespace santa::sim
