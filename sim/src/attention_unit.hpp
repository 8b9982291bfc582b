// attention_unit: the adder-only unit, its blocks wired by valid/ready channels.
//
//   query_encoder -> key_fetch -> ternary_gather -> weight_unit -> systematic_sampler
//     -> value_gather -> normalizer
//
// Scores of the next request overlap the sampling of the current one.
#pragma once

#include <functional>
#include <vector>

#include "key_fetch.hpp"
#include "normalizer.hpp"
#include "query_encoder.hpp"
#include "systematic_sampler.hpp"
#include "ternary_gather.hpp"
#include "value_gather.hpp"
#include "weight_unit.hpp"

namespace santa::sim {

class AttentionUnit : public sc_core::sc_module {
 public:
  AttentionUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                const attention::DecodeOptions& options, const std::vector<Job>& jobs,
                std::function<void()> job_finished);

 private:
  Credits banks_{2};  // of coefficients
  Credits sums_{1};   // of values
  Channel<JobPointer> encoded_{1};
  KeyBuffer keys_;
  ScoreBuffers scores_;
  Channel<JobPointer> weighed_{1};
  RowPort rows_;
  Channel<JobPointer> gathered_{1};
  Stash stash_;

  QueryEncoder query_encoder_;
  KeyFetch key_fetch_;
  TernaryGather ternary_gather_;
  WeightUnit weight_unit_;
  SystematicSampler sampler_;
  ValueGather value_gather_;
  Normalizer normalizer_;
};

}  // namespace santa::sim
