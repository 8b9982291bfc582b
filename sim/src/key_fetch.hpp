// key_fetch: streams the feature rows that are needed, tile after tile, into the key buffers.
#pragma once

#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class KeyFetch : public sc_core::sc_module {
 public:
  // `jobs` is how many requests will come; tiles go out through `tiles`, in order.
  KeyFetch(const sc_core::sc_module_name& name, const UnitContext& context, std::size_t jobs,
           Channel<JobPointer>& in, OrderedFetcher<TileToken>& tiles);

 private:
  void run();

  UnitContext context_;
  std::size_t jobs_;
  Channel<JobPointer>& in_;
  OrderedFetcher<TileToken>& tiles_;
  BlockProbe& probe_;
};

}  // namespace santa::sim
