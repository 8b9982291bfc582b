// systematic_sampler: tile prefix sums, thresholds, and the keys they fall on. It also draws the
// stratified and the independent thresholds, which differ only in their random words.
#pragma once

#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "statistics_stream.hpp"
#include "unit_context.hpp"
#include "weight_unit.hpp"

namespace santa::sim {

class SystematicSampler : public sc_core::sc_module {
 public:
  SystematicSampler(const sc_core::sc_module_name& name, const UnitContext& context,
                    const attention::DecodeOptions& options, Stash& stash, Channel<JobPointer>& in,
                    RowPort& out);

 private:
  // Thresholds of every head, and the next one to be placed.
  struct Draws {
    std::vector<std::vector<std::uint64_t>> thresholds;
    std::vector<std::uint32_t> cursor;
  };

  void run();
  void combine(JobState& state);
  Draws draw(JobState& state);
  void walk(const JobPointer& job, Draws& draws);
  sc_core::sc_time scan_tile(const JobPointer& job, Draws& draws, std::uint32_t tile,
                             StatisticsStream& statistics);
  sc_core::sc_time emit(const JobPointer& job, std::size_t& row, std::uint32_t key_end,
                        const sc_core::sc_time& time);
  bool falls_into(const JobState& state, const Draws& draws, std::uint32_t tile) const;
  void scan(const JobState& state, Draws& draws, std::uint32_t tile,
            std::vector<attention::SampledRow>& rows);

  UnitContext context_;
  attention::DecodeOptions options_;
  unsigned samples_log2_;
  Stash& stash_;
  Channel<JobPointer>& in_;
  RowPort& out_;
  BlockProbe& probe_;
  std::vector<std::uint16_t> counts_;  // [group][tile_keys] of the tile being scanned
  energy::Handle statistics_read_;
  energy::Handle distance_subtract_;
  energy::Handle mass_shift_;
  energy::Handle prefix_add_;
  energy::Handle prefix_write_;
  energy::Handle leap_;
  energy::Handle threshold_add_;
  energy::Handle threshold_compare_;
  energy::Handle residual_shift_;
  energy::Handle stash_read_;
  energy::Handle scan_add_;
  energy::Handle scan_compare_;
};

}  // namespace santa::sim
