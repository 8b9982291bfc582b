// normalizer: bit shift, rounding, output.
#pragma once

#include "channel.hpp"
#include "job_state.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class Normalizer : public sc_core::sc_module {
 public:
  // `finished` is called once the output of a request has been written.
  Normalizer(const sc_core::sc_module_name& name, const UnitContext& context, std::uint32_t samples,
             Credits& sums, Channel<JobPointer>& in, std::function<void()> finished);

 private:
  void run();
  void write_heads(const JobState& job);

  UnitContext context_;
  unsigned samples_log2_;
  Credits& sums_;
  Channel<JobPointer>& in_;
  std::function<void()> finished_;
  BlockProbe& probe_;
  energy::Handle round_;
  energy::Handle shift_;
  energy::Handle output_write_;
};

}  // namespace santa::sim
