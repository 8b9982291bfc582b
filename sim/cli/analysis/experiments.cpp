#include "analysis/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "analysis/result_file.hpp"
#include "failure.hpp"
#include "process_pool.hpp"
#include "progress.hpp"
#include "run_command.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

constexpr double kTwice = 2.0;
constexpr double kHalf = 0.5;

struct HardwareChange {
  const char* key;
  double factor;
};

constexpr HardwareChange kMemory[] = {
    {"memory.channels", kTwice},  {"memory.channel_gb_per_s", kTwice},
    {"memory.latency_ns", kHalf}, {"memory.max_outstanding", kTwice},
    {"unit.port_bytes", kTwice},  {"clock_mhz", kTwice}};
constexpr HardwareChange kSampled[] = {
    {"unit.key_lanes", kTwice},        {"unit.digit_lanes", kTwice},
    {"unit.weight_lanes", kTwice},     {"unit.scan_lanes", kTwice},
    {"unit.value_lanes", kTwice},      {"unit.normalizer_lanes", kTwice},
    {"unit.key_buffer_tiles", kTwice}, {"unit.row_buffer_rows", kTwice},
    {"unit.stash_kib", kTwice}};
constexpr HardwareChange kBaseline[] = {{"baselines.dense_multipliers", kTwice},
                                        {"baselines.exp_lanes", kTwice},
                                        {"baselines.select_lanes", kTwice},
                                        {"baselines.buffer_kib", kTwice}};

RunOptions without_baselines(RunOptions options) {
  options.baselines = false;
  return options;
}

class Maker {
 public:
  explicit Maker(const RunOptions& options)
      : options_(options), configuration_(configuration_of(options)) {}

  void change_hardware(const std::string& key, const std::string& to) {
    RunOptions options = options_;
    const auto same = [&](const config::Override& entry) { return entry.key == key; };
    auto& overrides = options.overrides;
    overrides.erase(std::remove_if(overrides.begin(), overrides.end(), same), overrides.end());
    overrides.push_back({key, to});
    add(key, value(key), to, options);
  }
  void scale_hardware(const HardwareChange& change) {
    const double from = number_at(configuration_, change.key);
    change_hardware(change.key, fmt::format("{}", from * change.factor));
  }
  void change_method(const std::string& key, const std::string& from, const std::string& to,
                     const RunOptions& options) {
    add(key, from, to, options);
  }
  std::string value(const std::string& key) const {
    const Json& json = at_key(configuration_, key);
    return json.is_string() ? json.get<std::string>() : fmt::format("{}", json.get<double>());
  }
  std::vector<Experiment> take() { return std::move(experiments_); }

 private:
  // The hardware as results show it.
  static Json configuration_of(const RunOptions& options) {
    RunResult result;
    result.options = options;
    result.hardware = load_setup(options.config, options.overrides).hardware;
    Json configuration = Json::object();
    const std::string section = "configuration.";
    for (const auto& statistic : run_statistics()) {
      if (statistic.key.compare(0, section.size(), section) != 0) continue;
      Json* place = &configuration;
      std::string name = statistic.key.substr(section.size());
      for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
        place = &(*place)[name.substr(0, dot)];
        name.erase(0, dot + 1);
      }
      (*place)[name] = statistic.value(result);
    }
    return configuration;
  }

  void add(const std::string& key, const std::string& from, const std::string& to,
           const RunOptions& options) {
    experiments_.push_back({key, from, to, options, std::nullopt, ""});
  }

  const RunOptions& options_;
  Json configuration_;
  std::vector<Experiment> experiments_;
};

void change_sampling(Maker& maker, const RunOptions& options) {
  RunOptions changed = options;
  const auto& decode = options.decode;
  if (decode.samples > 1) {
    changed.decode.samples = decode.samples / 2;
    maker.change_method("samples", std::to_string(decode.samples),
                        std::to_string(changed.decode.samples), changed);
  }
  changed = options;
  if (decode.scores == ScoreScheme::kExact) {
    changed.decode.scores = ScoreScheme::kBernoulliGroup;
    maker.change_method("scores", "exact",
                        fmt::format("bernoulli-group, B={}", changed.decode.bernoulli_draws),
                        changed);
  } else if (decode.bernoulli_draws > 1) {
    changed.decode.bernoulli_draws = decode.bernoulli_draws / 2;
    maker.change_method("bernoulli", std::to_string(decode.bernoulli_draws),
                        std::to_string(changed.decode.bernoulli_draws), changed);
  }
  if (maker.value("unit.merge_rows") != "group") maker.change_hardware("unit.merge_rows", "group");
}

}  // namespace

std::vector<Experiment> make_experiments(const RunOptions& options) {
  const RunOptions alone = without_baselines(options);
  Maker maker(alone);
  for (const HardwareChange& change : kMemory) maker.scale_hardware(change);
  if (attention::is_sampled(options.decode.values)) {
    for (const HardwareChange& change : kSampled) maker.scale_hardware(change);
    change_sampling(maker, alone);
  } else {
    for (const HardwareChange& change : kBaseline) maker.scale_hardware(change);
    if (options.decode.values == ValueScheme::kTopK && options.top_k > 1) {
      RunOptions changed = alone;
      changed.top_k = changed.decode.samples = options.top_k / 2;
      maker.change_method("top-k", std::to_string(options.top_k), std::to_string(changed.top_k),
                          changed);
    }
  }
  return maker.take();
}

Json run_experiments(const RunOptions& options, std::vector<Experiment>& experiments,
                     std::uint32_t jobs) {
  const RunOptions base = without_baselines(options);
  ProcessPool pool(jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency()));
  Progress progress;
  const std::size_t total = experiments.size() + 1;
  std::optional<Json> result;
  std::size_t started = 0;
  for (std::size_t finished = 0; finished < total;) {
    while (started < total && pool.has_room()) {
      const RunOptions& next = started == 0 ? base : experiments[started - 1].options;
      pool.start(started++, [&] { return simulated_report(next); });
    }
    const auto outcome = pool.poll();
    if (!outcome) {
      progress.show("simulating changes",
                    static_cast<double>(finished) / static_cast<double>(total));
      nap();
      continue;
    }
    ++finished;
    if (outcome->id == 0) {
      if (outcome->exit_code != kExitSuccess) throw InputError(outcome->text);
      result = Json::parse(outcome->text);
      continue;
    }
    Experiment& experiment = experiments[outcome->id - 1];
    if (outcome->exit_code == kExitSuccess) {
      experiment.report = Json::parse(outcome->text);
    } else {
      experiment.refusal = outcome->text;
    }
  }
  return result.value();
}

}  // namespace santa::cli
