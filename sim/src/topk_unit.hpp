// The top-k baseline: multiply-accumulate scores, a selector, and a weighted sum of k value rows.
//
//   fetch -> mac_array -> topk_selector -> value_fetch -> value_array -> divider
//
// The selector keeps a histogram of the scores as they come (a radix selection), which gives the
// k-th largest score at the end; a second pass filters the keys above it. Scores of the next
// request overlap the selection of the current one, as in the sampled unit.
#pragma once

#include <functional>
#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "mac_array.hpp"
#include "output_divider.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class TopKUnit : public sc_core::sc_module {
 public:
  TopKUnit(const sc_core::sc_module_name& name, const UnitContext& context, std::uint32_t k,
           const std::vector<Job>& jobs, std::function<void()> job_finished);

 private:
  void fetch();
  void multiply();
  void select();
  void fetch_rows();
  void accumulate();
  void score(const TileToken& token);
  bool scores_fit(const JobState& state) const;
  void filter(const JobState& state);

  UnitContext context_;
  std::uint32_t k_;
  const std::vector<Job>& jobs_;
  MacArray mac_;
  attention::DecodeWorkspace workspace_;
  BlockProbe& fetch_probe_;
  BlockProbe& mac_probe_;
  BlockProbe& selector_probe_;
  BlockProbe& row_probe_;
  BlockProbe& value_probe_;
  OrderedFetcher<TileToken> keys_;
  OrderedFetcher<RowToken> rows_;
  Credits score_halves_{2};
  Channel<JobPointer> scored_{1};
  Channel<RowToken> selected_{16};
  Channel<JobPointer> summed_{1};
  OutputDivider divider_;
  energy::Handle buffer_write_;
  energy::Handle buffer_read_;
  energy::Handle histogram_add_;
  energy::Handle histogram_write_;
  energy::Handle filter_compare_;
};

}  // namespace santa::sim
