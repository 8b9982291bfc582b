// value_gather: reads each sampled row, several in flight, and adds it, shifted by the digits of
// its count, to the accumulators of the heads that drew it.
#pragma once

#include "channel.hpp"
#include "fetchers.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class ValueGather : public sc_core::sc_module {
 public:
  ValueGather(const sc_core::sc_module_name& name, const UnitContext& context, RowPort& in,
              Credits& sums, Channel<JobPointer>& out);

 private:
  void fetch();       // thread: starts the reads
  void accumulate();  // thread: adds what has arrived
  void fetch_row(const JobPointer& job, const attention::SampledRow& row);
  void start_read(RowToken token);
  std::uint64_t add_row(const RowToken& token);  // cycles

  UnitContext context_;
  RowPort& in_;
  Credits& sums_;
  Channel<JobPointer>& out_;
  BlockProbe& fetch_probe_;
  BlockProbe& probe_;
  OrderedFetcher<RowToken> rows_;
  energy::Handle buffer_write_;
  energy::Handle buffer_read_;
  energy::Handle shift_;
  energy::Handle add_;
  energy::Handle accumulator_write_;
};

}  // namespace santa::sim
