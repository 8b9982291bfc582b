// Runs scenarios on a built unit and compares it with everything that knows the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/coverage.hpp"
#include "santa/cosim/replay.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/rtl_model.hpp"
#include "santa/cosim/session.hpp"
#include "santa/energy/pack.hpp"

namespace santa::cosim {

enum class Waves : std::uint8_t { kNever, kOnFailure, kAlways };

struct CosimOptions {
  const BuiltModel* model = nullptr;
  const config::HardwareConfig* hardware = nullptr;
  const energy::EnergyPack* energy_pack = nullptr;
  std::vector<std::uint64_t> seeds;        // scenarios; 0: the directed requests
  std::uint32_t directed_context = 32768;  // longest context of the directed requests
  std::uint32_t effort = 8192;      // context times head dimension of a random request, at most
  std::vector<CosimRequest> timed;  // one at a time, on the memory of the description
  ReplaySet replays;                // recorded vectors, one at a time on the same memory
  bool cycle_model = true;          // compares every request with the cycle model as well
  Waves waves = Waves::kNever;
  std::string waves_prefix = "cosim";  // of file names: PREFIX-seed-K.fst
  std::string export_folder;           // for the files of every request; empty: none
  std::string command;                 // repeats a scenario, with --seed K behind it
  std::string whole_command;           // repeats the whole run
  std::function<void(double)> progress;
};

// One request on the unit and on the cycle model.
struct CycleRow {
  std::string workload;
  std::uint32_t context = 0;
  std::uint32_t head_dimension = 0;
  std::uint32_t group = 0;
  std::uint32_t samples = 0;
  std::uint64_t rtl_cycles = 0;
  std::uint64_t model_cycles = 0;
  // Of the cycle model, in parts of the unit's cycles; below 0: it is too fast.
  double error() const {
    return (static_cast<double>(model_cycles) - static_cast<double>(rtl_cycles)) /
           static_cast<double>(rtl_cycles);
  }
};

struct CosimResult {
  explicit CosimResult(const UnitParameters& unit) : coverage(unit) {}

  std::string failure;  // one sentence; empty: everything agreed
  std::string failed_seed;
  std::string waves;  // file written for the failure or the last scenario; empty: none
  std::uint64_t scenarios = 0;
  std::uint64_t requests = 0;  // completed
  std::uint64_t cycles = 0;
  std::uint64_t rules_checked = 0;
  std::uint64_t model_outputs_checked = 0;  // cycle model
  std::uint64_t model_rows_checked = 0;
  std::uint64_t vectors_replayed = 0;
  std::uint64_t vector_values_checked = 0;  // with the golden model
  std::vector<SkippedVector> vectors_model_only;
  std::vector<SkippedVector> vectors_skipped;
  CheckCounts checked;
  CheckCounts expected;
  Coverage coverage;
  std::vector<CycleRow> cycle_rows;
};

// Stops at the first failure. Throws InputError when a file cannot be written.
CosimResult run_cosim(const CosimOptions& options);

// Gaussian requests of every score scheme and some lengths that suit the unit, for `timed`.
std::vector<CosimRequest> timed_requests(const UnitParameters& unit, std::uint32_t effort);

// The model whose unit hash is that of the description, or null.
const BuiltModel* find_model(const std::vector<BuiltModel>& models,
                             const config::HardwareConfig& hardware);

}  // namespace santa::cosim
