// The dense baseline: multiply-accumulate scores and values, keys and values both streamed once,
// the softmax folded in tile by tile with a running maximum.
//
//   fetch -> mac_array <-> softmax_unit, then divider
//
// While the softmax of a tile is made the array works on the next tile's scores.
#pragma once

#include <functional>
#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "mac_array.hpp"
#include "output_divider.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class DenseUnit : public sc_core::sc_module {
 public:
  DenseUnit(const sc_core::sc_module_name& name, const UnitContext& context, MacFormat format,
            const std::vector<Job>& jobs, std::function<void()> job_finished);

 private:
  void fetch();
  void multiply();
  void make_weights();
  void score(const TileToken& token);
  void gather(const TileToken& token);

  UnitContext context_;
  MacFormat format_;
  const std::vector<Job>& jobs_;
  MacArray mac_;
  BlockProbe& fetch_probe_;
  BlockProbe& mac_probe_;
  BlockProbe& softmax_probe_;
  OrderedFetcher<TileToken> keys_;
  OrderedFetcher<TileToken> values_;
  Channel<TileToken> scored_{2};
  Channel<TileToken> weighed_{2};
  Channel<JobPointer> summed_{1};
  OutputDivider divider_;
  energy::Handle buffer_write_;
  energy::Handle buffer_read_;
};

}  // namespace santa::sim
