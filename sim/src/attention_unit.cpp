#include "attention_unit.hpp"

namespace santa::sim {

AttentionUnit::AttentionUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                             const attention::DecodeOptions& options, const std::vector<Job>& jobs,
                             std::function<void()> job_finished)
    : sc_core::sc_module(name),
      keys_(context.port, context.hardware.unit),
      stash_(context.hardware.unit),
      query_encoder_("query_encoder", context, jobs, banks_, encoded_),
      key_fetch_("key_fetch", context, jobs.size(), encoded_, keys_),
      ternary_gather_("ternary_gather", context, keys_, banks_, scores_),
      weight_unit_("weight_unit", context, stash_, scores_, weighed_),
      sampler_("systematic_sampler", context, options, stash_, weighed_, rows_),
      value_gather_("value_gather", context, rows_, sums_, gathered_),
      normalizer_("normalizer", context, options.samples, sums_, gathered_,
                  std::move(job_finished)) {}

}  // namespace santa::sim
