#include "sweep/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "failure.hpp"
#include "output_file.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "sweep/interrupt.hpp"
#include "sweep/point.hpp"
#include "sweep/spec.hpp"
#include "sweep/store.hpp"
#include "sweep/sweep_progress.hpp"
#include "sweep/tables.hpp"
#include "sweep/workers.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kShownFailures = 10;

void say(const std::string& line) {
  std::fputs(("santasim: " + line + "\n").c_str(), stderr);
}

// The settings of a point in a message: "samples=64 memory.latency_ns=150".
std::string settings_text(const SweepPoint& point) {
  std::vector<std::string> words;
  for (const auto& [key, value] : point.settings) {
    words.push_back(config::escaped(fmt::format("{}={}", key, value)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

class Sweep {
 public:
  Sweep(const SweepOptions& options, Workers& workers) : options_(options), workers_(workers) {}

  int run() {
    const SweepSpec spec = load_sweep_spec(options_.spec);
    PointMaker maker(spec.command);
    if (options_.resume) SweepStore::require_folder(options_.folder);
    make_points(spec, maker);
    const SweepStore store(options_.folder, {spec.name, spec.command, points_, maker.files()},
                           options_.resume);
    const InterruptNotice notice(fmt::format(
        "santasim: the sweep was ended; {} keeps every point that was finished, and the "
        "same command with --resume does the others",
        config::in_quotes(options_.folder)));
    find_work(store);
    simulate(store);
    write_sweep_tables(store, spec, rows());
    return summarize(store);
  }

 private:
  void make_points(const SweepSpec& spec, PointMaker& maker) {
    SweepProgress progress(spec.points.size(), "points checked");
    points_.reserve(spec.points.size());
    for (const Settings& settings : spec.points) {
      points_.push_back(maker.make(settings));
      progress.add(false);
    }
  }

  // What is neither refused nor in the folder already; each configuration once.
  void find_work(const SweepStore& store) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const SweepPoint& point = points_[i];
      if (!seen.insert(point.key).second) continue;
      ++different_;
      std::string damage;
      if (!point.refusal.empty()) {
        failures_[point.key] = {kExitBadInput, point.refusal};
      } else if (store.load(point, damage)) {
        ++found_;
      } else {
        if (!damage.empty()) say(damage);
        work_.push_back(i);
      }
    }
  }

  void simulate(const SweepStore& store) {
    SweepProgress progress(work_.size(), "points");
    std::size_t next = 0;
    while (next < work_.size() || workers_.running() > 0) {
      while (next < work_.size() && workers_.has_room()) {
        workers_.start(work_[next], points_[work_[next]]);
        ++next;
      }
      if (const auto outcome = workers_.poll()) {
        finish(store, *outcome);
        progress.add(outcome->exit_code != 0);
      } else {
        progress.show();
        nap();
      }
    }
  }

  void finish(const SweepStore& store, const WorkOutcome& outcome) {
    const SweepPoint& point = points_[outcome.id];
    if (outcome.exit_code == kExitSuccess) {
      store.save(point, outcome.text);
      ++simulated_;
    } else {
      failures_[point.key] = {outcome.exit_code, outcome.text};
    }
  }

  std::vector<SweepRow> rows() const {
    std::vector<SweepRow> rows;
    rows.reserve(points_.size());
    for (const SweepPoint& point : points_) {
      const auto failure = failures_.find(point.key);
      rows.push_back({&point, failure == failures_.end() ? "" : failure->second.message});
    }
    return rows;
  }

  int summarize(const SweepStore& store) const {
    write_standard_output(
        fmt::format("{} points, {} different: {} found, {} simulated, {} failed\n{}\n{}\n",
                    points_.size(), different_, found_, simulated_, failures_.size(),
                    store.path("results.csv"), store.path("results.jsonl")));
    int exit_code = kExitSuccess;
    std::size_t shown = 0;
    std::set<std::string> said;
    for (const SweepPoint& point : points_) {
      const auto failure = failures_.find(point.key);
      if (failure == failures_.end() || !said.insert(point.key).second) continue;
      if (shown++ < kShownFailures) {
        say(fmt::format("point {} ({}): {}", point.key, settings_text(point),
                        failure->second.message));
      }
      exit_code = worse(exit_code, failure->second.exit_code);
    }
    if (shown > kShownFailures) {
      say(fmt::format("{} more points failed: {}", shown - kShownFailures,
                      store.path("results.csv")));
    }
    return exit_code;
  }

  // A fault of the program tells most, then a failed check, then bad input.
  static int worse(int a, int b) {
    constexpr int kOrder[] = {kExitSuccess, kExitBadInput, kExitVerificationFailed,
                              kExitInternalError};
    const auto place = [&](int code) {
      return std::find(std::begin(kOrder), std::end(kOrder), code) - std::begin(kOrder);
    };
    return place(a) < place(b) ? b : a;
  }

  const SweepOptions& options_;
  Workers& workers_;
  std::vector<SweepPoint> points_;
  std::vector<std::size_t> work_;            // indices of points to simulate
  std::map<std::string, Failure> failures_;  // by key
  std::size_t different_ = 0;
  std::size_t found_ = 0;
  std::size_t simulated_ = 0;
};

}  // namespace

int sweep(const SweepOptions& options) {
  int exit_code = kExitSuccess;
  with_workers(options.jobs, [&](Workers& workers) { exit_code = Sweep(options, workers).run(); });
  return exit_code;
}

}  // namespace santa::cli
