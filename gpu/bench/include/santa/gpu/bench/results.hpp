// What a benchmark found.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "santa/gpu/bench/options.hpp"

namespace santa::gpu::bench {

struct Times {
  double median_us = 0, p5_us = 0, p95_us = 0;
};

// Of steps launched one behind the other, each on another copy of its data, so that caches are
// cold.
struct Energy {
  double step_mj = 0;  // the whole board, idle power included
  double mean_w = 0;
  double step_us = 0;
  double seconds = 0;  // measured
};

struct Row {
  std::string kernel;  // "decode", "plain read of keys", "plain read of keys and values"
  std::string scheme;  // empty for plain reads
  std::string scores;  // the same
  std::string type;
  int requests = 0;
  int length = 0;
  int samples = 0;  // 0 for plain reads
  double spread = 1;
  std::optional<Times> times;  // without: see not_run
  std::optional<Energy> energy;
  std::string not_run;  // the reason
};

struct DeviceFacts {
  std::string name, driver, toolkit, compute_capability;
  int multiprocessors = 0;
  int sm_clock_max_mhz = 0, memory_clock_max_mhz = 0;  // 0: no NVML
  int sm_clock_mhz = 0;                                // just after the measurements
};

struct Results {
  BenchOptions options;
  DeviceFacts device;
  Times empty_launch;
  std::optional<double> idle_w;  // with --energy: board without work, measured before
  std::string date, commit;      // UTC; commit of the program
  std::vector<Row> rows;
};

// Measures all that the options ask for. Throws InputError where there is no device or where the
// options contradict each other or ask for what the device has not; std::runtime_error when CUDA
// fails. `progress` gets each row when it is there.
Results run_bench(const BenchOptions& options, void (*progress)(const Row& row) = nullptr);

nlohmann::ordered_json to_json(const Results& results);

// A table for people, device first.
std::string to_table(const Results& results);

}  // namespace santa::gpu::bench
