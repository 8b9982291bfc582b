// query_encoder: reads a request's operands and turns them into small signed coefficients, one
// request ahead of the gather.
#pragma once

#include <vector>

#include "channel.hpp"
#include "job_state.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class QueryEncoder : public sc_core::sc_module {
 public:
  QueryEncoder(const sc_core::sc_module_name& name, const UnitContext& context,
               const std::vector<Job>& jobs, Credits& banks, Channel<JobPointer>& out);

 private:
  void run();
  void encode(JobState& state);
  void plan_gather(JobState& state) const;
  void count_energy(const JobState& state);

  UnitContext context_;
  const std::vector<Job>& jobs_;
  Credits& banks_;  // of coefficients
  Channel<JobPointer>& out_;
  BlockProbe& probe_;
  energy::Handle round_;
  energy::Handle compare_;
  energy::Handle recode_;
  energy::Handle coefficient_write_;
  energy::Handle leap_;
};

}  // namespace santa::sim
