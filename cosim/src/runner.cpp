#include "santa/cosim/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "santa/cosim/cycle_model.hpp"
#include "santa/cosim/export.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/waves_file.hpp"

namespace santa::cosim {
namespace {

class Run {
 public:
  explicit Run(const CosimOptions& options)
      : options_(options), unit_(options.model->parameters), result_(unit_) {}

  CosimResult run();

 private:
  SessionResult play(const Scenario& scenario, const std::string& waves, Coverage& coverage,
                     std::vector<std::shared_ptr<const ScoreboardRequest>>& requests);
  bool run_scenario(const Scenario& scenario);
  bool run_replays();
  bool check_recorded(const vectors::Vector& vector, const vectors::Results& computed,
                      const char* model);
  bool replay_on_model(const vectors::Vector& vector);
  void take(const SessionResult& session);
  bool compare_with_cycle_model(const Scenario& scenario, const ScoreboardRequest& request,
                                const RequestRecord& record);
  void check_counts();
  void fail(const Scenario& scenario, const SessionResult& session);
  void fail(const std::string& seed, const std::string& text);
  RunIdentity identity(const std::string& seed) const;
  std::string waves_file(const std::string& seed) const {
    return fmt::format("{}-seed-{}.fst", options_.waves_prefix, seed);
  }

  const CosimOptions& options_;
  UnitParameters unit_;
  CosimResult result_;
};

RunIdentity Run::identity(const std::string& seed) const {
  const bool number = seed.find_first_not_of("0123456789") == std::string::npos;
  return {options_.hardware->name, fmt::format("{:016x}", unit_.config_hash), seed,
          number ? options_.command + " --seed " + seed : options_.whole_command};
}

void Run::fail(const std::string& seed, const std::string& text) {
  const RunIdentity id = identity(seed);
  result_.failed_seed = seed;
  result_.failure = fmt::format("{}; unit {} of {}, seed {}; repeat with: {}", text, id.hash,
                                id.config, id.seed, id.command);
}

void Run::fail(const Scenario& scenario, const SessionResult& session) {
  if (session.mismatch) {
    result_.failed_seed = scenario.seed;
    result_.failure = sentence(*session.mismatch, identity(scenario.seed));
  } else {
    fail(scenario.seed, session.failure->text);
  }
}

SessionResult Run::play(const Scenario& scenario, const std::string& waves, Coverage& coverage,
                        std::vector<std::shared_ptr<const ScoreboardRequest>>& requests) {
  std::optional<WavesFile> file;
  if (!waves.empty()) file.emplace("--waves", waves);
  const std::unique_ptr<RtlModel> model = options_.model->make({scenario.initial_seed});
  Session session(*model, scenario, file ? file->partial() : "", coverage);
  SessionResult result = session.run();
  requests = session.requests();
  if (file) file->commit();
  return result;
}

void Run::take(const SessionResult& session) {
  ++result_.scenarios;
  result_.requests += session.requests.size();
  result_.cycles += session.cycles;
  result_.rules_checked += session.rules_checked;
  result_.checked += session.checked;
  result_.expected += session.expected;
}

bool Run::compare_with_cycle_model(const Scenario& scenario, const ScoreboardRequest& request,
                                   const RequestRecord& record) {
  const CosimRequest& r = request.request;
  const CycleModelResult model = run_cycle_model(*options_.hardware, *options_.energy_pack, r);
  const auto differ = [&](const std::string& field, const std::string& rtl,
                          const std::string& other) {
    Mismatch mismatch{"cycle model", request.index, r.workload,    field,
                      rtl,           other,         "cycle model", 0};
    result_.failed_seed = scenario.seed;
    result_.failure = sentence(mismatch, identity(scenario.seed));
    return false;
  };
  // What the unit gave is what the scoreboard has found equal to these.
  const attention::DecodeResult& golden = request.expected.result;
  if (model.output.size() != golden.output.size() || model.rows.size() != golden.rows.size()) {
    return differ("number of outputs and rows",
                  fmt::format("{} and {}", golden.output.size(), golden.rows.size()),
                  fmt::format("{} and {}", model.output.size(), model.rows.size()));
  }
  for (std::size_t i = 0; i < golden.output.size(); ++i) {
    ++result_.model_outputs_checked;
    if (model.output[i] == golden.output[i]) continue;
    return differ(fmt::format("output {}", i), std::to_string(golden.output[i]),
                  std::to_string(model.output[i]));
  }
  for (std::size_t i = 0; i < golden.rows.size(); ++i) {
    ++result_.model_rows_checked;
    if (model.rows[i].key == golden.rows[i].key && model.rows[i].counts == golden.rows[i].counts) {
      continue;
    }
    return differ(fmt::format("row {}", i), fmt::format("key {}", golden.rows[i].key),
                  fmt::format("key {}", model.rows[i].key));
  }
  if (scenario.seed == "timed" && record.cycles > 0) {
    result_.cycle_rows.push_back({r.workload, r.context, r.head_dimension(), r.group(),
                                  r.options.samples, record.cycles, model.latency_cycles});
  }
  return true;
}

// False after a failure.
bool Run::run_scenario(const Scenario& scenario) {
  std::vector<std::shared_ptr<const ScoreboardRequest>> requests;
  const bool always = options_.waves == Waves::kAlways;
  const std::string waves = always ? waves_file(scenario.seed) : "";
  const SessionResult session = play(scenario, waves, result_.coverage, requests);
  take(session);
  if (always) result_.waves = waves;
  if (!options_.export_folder.empty()) {
    for (const auto& request : requests) {
      export_request(*request, options_.export_folder,
                     fmt::format("seed-{}-request-{}", scenario.seed, request->index));
    }
  }
  if (session.failure) {
    fail(scenario, session);
    if (options_.waves == Waves::kOnFailure) {
      Coverage again(unit_);
      result_.waves = waves_file(scenario.seed);
      play(scenario, result_.waves, again, requests);
    }
    return false;
  }
  for (std::size_t i = 0; options_.cycle_model && i < requests.size(); ++i) {
    if (scenario.requests[i].ending != Ending::kDone) continue;
    if (!compare_with_cycle_model(scenario, *requests[i], session.requests[i])) return false;
  }
  return true;
}

// False after a failure.
bool Run::check_recorded(const vectors::Vector& vector, const vectors::Results& computed,
                         const char* model) {
  const auto difference = vectors::first_difference(vector.request, vector.results, computed);
  if (!difference) return true;
  fail("vectors", fmt::format("{}: {} ({}): {}: recorded {}, {} {}", model, vector.path,
                              vector.request.workload, difference->field, difference->recorded,
                              model, difference->computed));
  return false;
}

// A scheme that the unit does not have.
bool Run::replay_on_model(const vectors::Vector& vector) {
  vectors::Results results = vectors::results_of(vector.request, expect(vector.request));
  if (!check_recorded(vector, results, "golden model")) return false;
  result_.vector_values_checked += vectors::compared_values(vector.results, vector.request.group());
  if (!options_.cycle_model) return true;
  CycleModelResult model =
      run_cycle_model(*options_.hardware, *options_.energy_pack, vector.request);
  result_.model_outputs_checked += model.output.size();
  result_.model_rows_checked += model.rows.size();
  results.output = std::move(model.output);
  results.rows = std::move(model.rows);
  return check_recorded(vector, results, "cycle model");
}

// What was recorded is held against the golden model, and the unit against what was recorded.
bool Run::run_replays() {
  Scenario scenario = timed_scenario({}, *options_.hardware);
  scenario.seed = "vectors";
  for (const vectors::Vector& vector : options_.replays.vectors) {
    Expectation golden = expect(vector.request);
    if (!check_recorded(vector, vectors::results_of(vector.request, golden), "golden model")) {
      return false;
    }
    result_.vector_values_checked +=
        vectors::compared_values(vector.results, vector.request.group());
    scenario.requests.push_back(replay_request(vector, std::move(golden)));
  }
  if (!run_scenario(scenario)) return false;
  result_.vectors_replayed = options_.replays.vectors.size();
  for (const vectors::Vector& vector : options_.replays.model_only) {
    if (!replay_on_model(vector)) return false;
  }
  result_.vectors_model_only = options_.replays.not_on_unit;
  return true;
}

// A run that looked at less than it should have has shown nothing.
void Run::check_counts() {
  if (!result_.failure.empty()) return;
  for (const NamedCount& count : check_count_names()) {
    if (result_.checked.*count.field >= result_.expected.*count.field) continue;
    fail("all", fmt::format("checks: {} of {} {} were compared", result_.checked.*count.field,
                            result_.expected.*count.field, count.name));
    return;
  }
  if (result_.requests == 0) fail("all", "checks: no request has completed");
}

CosimResult Run::run() {
  result_.vectors_skipped = options_.replays.skipped;
  const double total =
      static_cast<double>(options_.seeds.size() + (options_.timed.empty() ? 0 : 1) +
                          (options_.replays.vectors.empty() ? 0 : 1));
  double done = 0.0;
  const auto step = [&] {
    ++done;
    if (options_.progress) options_.progress(done / total);
  };
  for (const std::uint64_t seed : options_.seeds) {
    const Scenario scenario =
        seed == 0 ? directed_scenario(unit_, options_.directed_context)
                  : random_scenario(seed, unit_, *options_.hardware, options_.effort);
    if (!run_scenario(scenario)) return std::move(result_);
    step();
  }
  if (!options_.timed.empty()) {
    if (!run_scenario(timed_scenario(options_.timed, *options_.hardware))) {
      return std::move(result_);
    }
    step();
  }
  if (!options_.replays.vectors.empty()) {
    if (!run_replays()) return std::move(result_);
    step();
  }
  check_counts();
  return std::move(result_);
}

}  // namespace

CosimResult run_cosim(const CosimOptions& options) {
  return Run(options).run();
}

std::vector<CosimRequest> timed_requests(const UnitParameters& unit, std::uint32_t effort) {
  using attention::ScoreScheme;
  std::vector<CosimRequest> requests;
  const std::uint32_t d = std::min(unit.max_head_dimension, 128U);
  const std::uint32_t group = std::min(unit.group_heads, 4U);
  const std::uint32_t most = std::max(effort / d, unit.tile_keys);
  for (const ScoreScheme scores :
       {ScoreScheme::kExact, ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    for (const std::uint32_t context : {most / 8, most / 2, most}) {
      attention::DecodeOptions options;
      options.scores = scores;
      options.samples = 64;
      requests.push_back(
          gaussian_request({std::max(context, 1U), d, group}, options, unit.tile_keys, context));
    }
  }
  return requests;
}

const BuiltModel* find_model(const std::vector<BuiltModel>& models,
                             const config::HardwareConfig& hardware) {
  const std::uint64_t hash = parameters_of(hardware).config_hash;
  const auto found = std::find_if(models.begin(), models.end(), [&](const BuiltModel& model) {
    return model.parameters.config_hash == hash;
  });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace santa::cosim
