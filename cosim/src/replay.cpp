#include "santa/cosim/replay.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/vectors/file.hpp"

namespace santa::cosim {

std::string shape_misfit(const CosimRequest& request, const UnitParameters& unit) {
  if (request.cache->tile_keys != unit.tile_keys) {
    return fmt::format("{} keys a tile, the unit has {}", request.cache->tile_keys, unit.tile_keys);
  }
  if (request.group() > unit.group_heads) {
    return fmt::format("{} query heads a group, the unit has {}", request.group(),
                       unit.group_heads);
  }
  if (request.head_dimension() > unit.max_head_dimension) {
    return fmt::format("head dimension {}, the unit has {}", request.head_dimension(),
                       unit.max_head_dimension);
  }
  return "";
}

std::string scheme_misfit(const CosimRequest& request) {
  if (request.options.values != attention::ValueScheme::kSystematic) {
    return fmt::format("{} values, the unit has sys", attention::to_string(request.options.values));
  }
  if (request.options.scores == attention::ScoreScheme::kBernoulliIid) {
    return "bernoulli-iid scores, the unit has exact, bernoulli, bernoulli-group";
  }
  return "";
}

ReplaySet load_replays(const std::string& option, const std::string& folder,
                       const UnitParameters& unit) {
  ReplaySet set;
  for (const std::string& file : vectors::vector_files(option, folder)) {
    vectors::Vector vector = vectors::read_vector(file);
    const attention::DecodeOptions& options = vector.request.options;
    const bool model_can =
        attention::is_sampled(options.values) || options.scores == attention::ScoreScheme::kExact;
    const std::string shape = shape_misfit(vector.request, unit);
    const std::string scheme = scheme_misfit(vector.request);
    if (!shape.empty() || (!scheme.empty() && !model_can)) {
      set.skipped.push_back({file, shape.empty() ? scheme : shape});
    } else if (!scheme.empty()) {
      set.not_on_unit.push_back({file, scheme});
      set.model_only.push_back(std::move(vector));
    } else {
      set.vectors.push_back(std::move(vector));
    }
  }
  if (set.vectors.empty()) {
    const std::size_t count = set.skipped.size() + set.not_on_unit.size();
    const SkippedVector& first =
        set.skipped.empty() ? set.not_on_unit.front() : set.skipped.front();
    throw input_error(
        option, config::in_quotes(folder),
        fmt::format("none of {} vectors fits the unit: {} has {}", count,
                    config::escaped(std::filesystem::path(first.file).filename().string()),
                    first.reason),
        fmt::format("vectors of {} keys a tile, up to {} query heads and head dimension {}, sys "
                    "values, exact, bernoulli or bernoulli-group scores",
                    unit.tile_keys, unit.group_heads, unit.max_head_dimension));
  }
  return set;
}

ScenarioRequest replay_request(const vectors::Vector& vector, Expectation golden) {
  ScenarioRequest replay;
  replay.request = vector.request;
  replay.request.workload = fmt::format(
      "{}, {}", std::filesystem::path(vector.path).filename().string(), vector.request.workload);
  replay.expected = std::make_shared<Expectation>(
      vectors::with_results(vector.request, std::move(golden), vector.results));
  replay.expected_from = "recorded vector";
  return replay;
}

}  // namespace santa::cosim
