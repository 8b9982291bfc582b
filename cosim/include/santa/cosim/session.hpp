// One scenario on one model, from power-up to the last completion.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "santa/cosim/bench.hpp"
#include "santa/cosim/coverage.hpp"
#include "santa/cosim/driver.hpp"
#include "santa/cosim/scenario.hpp"
#include "santa/cosim/scoreboard.hpp"
#include "santa/cosim/traffic.hpp"

namespace santa::cosim {

struct RequestRecord {
  std::uint32_t code = 0;
  // From the accepted submission to the interrupt; meaningful when requests run one at a time.
  std::uint64_t cycles = 0;
};

struct SessionResult {
  std::optional<Failure> failure;
  std::optional<Mismatch> mismatch;     // when the failure is one
  std::vector<RequestRecord> requests;  // those that completed
  std::uint64_t cycles = 0;
  std::uint64_t rules_checked = 0;
  // The unit's counters since the last reset: words of keys, and cycles from the first to the last.
  std::uint64_t key_beats = 0;
  std::uint64_t key_cycles = 0;
  MemoryCounters memory;
  CheckCounts checked;
  CheckCounts expected;
};

class Session {
 public:
  // `waves`: an FST file of every signal; empty: none.
  Session(RtlModel& model, const Scenario& scenario, const std::string& waves, Coverage& coverage);

  SessionResult run();
  // Requests with their images and expectations, by index.
  const std::vector<std::shared_ptr<const ScoreboardRequest>>& requests() const {
    return prepared_;
  }

 private:
  void prepare();
  void start();
  void drive();
  bool may_submit() const;
  void submit_next();
  void run_with_error();
  void take(const Completion& completion);
  void settle();
  void check_slots();
  void check_counters();
  void check_traffic();
  void reset_under_way();
  void restore(const ScoreboardRequest& request);
  void check_untouched(const ScoreboardRequest& request);
  std::uint32_t expected_code(std::uint32_t index) const;

  RtlModel& model_;
  const Scenario& scenario_;
  std::string waves_;
  Coverage& coverage_;
  AxiMemory memory_;
  Scoreboard scoreboard_;
  Bench bench_;
  Driver driver_;
  Random random_;
  std::vector<std::shared_ptr<const ScoreboardRequest>> prepared_;
  std::vector<std::uint64_t> descriptors_;  // addresses to submit
  std::uint32_t submitted_ = 0;
  std::uint32_t completed_ = 0;
  std::uint32_t capacity_ = 0;  // slots of the unit
  std::size_t resets_done_ = 0;
  bool enabled_ = false;
  MemoryCounters counted_from_;       // memory counters at the last reset
  std::uint32_t submitted_from_ = 0;  // requests submitted before the last reset
  std::uint64_t rows_since_reset_ = 0;
  bool rows_known_ = true;
  MemoryCounters traffic_from_;   // memory counters when the traffic was last compared
  PortWords traffic_;             // of requests that have completed since
  bool error_completed_ = false;  // since the last reset
  SessionResult result_;
};

}  // namespace santa::cosim
