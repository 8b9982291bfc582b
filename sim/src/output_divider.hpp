// The last block of the baselines: divides by the softmax's sum and writes the output.
#pragma once

#include <functional>

#include "channel.hpp"
#include "job_state.hpp"
#include "mac_array.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class OutputDivider : public sc_core::sc_module {
 public:
  // `finished` is called once the output of a request has been written.
  OutputDivider(const sc_core::sc_module_name& name, const UnitContext& context, MacArray& mac,
                Channel<JobPointer>& in, std::function<void()> finished);

 private:
  void run();

  UnitContext context_;
  MacArray& mac_;
  Channel<JobPointer>& in_;
  std::function<void()> finished_;
  BlockProbe& probe_;
};

}  // namespace santa::sim
