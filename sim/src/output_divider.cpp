#include "output_divider.hpp"

namespace santa::sim {

OutputDivider::OutputDivider(const sc_core::sc_module_name& name, const UnitContext& context,
                             MacArray& mac, Channel<JobPointer>& in, std::function<void()> finished)
    : sc_core::sc_module(name),
      context_(context),
      mac_(mac),
      in_(in),
      finished_(std::move(finished)),
      probe_(context.probe.add_block("divider")) {
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void OutputDivider::run() {
  for (;;) {
    const JobPointer job = in_.read(probe_);
    const std::uint64_t outputs = static_cast<std::uint64_t>(job->group()) * job->head_dimension();
    mac_.count_divides(outputs);
    // A pipelined divider beside each output lane.
    probe_.work(
        context_.config_u64(context_.hardware.baselines.divider_cycles) +
            divide_up(outputs, context_.config_u64(context_.hardware.unit.normalizer_lanes)),
        job->index, "output", job->index);
    context_.port.write(Stream::kOutput, job->addresses.output, outputs * 2, finished_);
  }
}

}  // namespace santa::sim
