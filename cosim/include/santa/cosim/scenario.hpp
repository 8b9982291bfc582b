// What one run does to the unit: requests, how they end, how the memory behaves, how software
// drives, when resets come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/axi_memory.hpp"
#include "santa/cosim/driver.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/request_image.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

enum class Ending : std::uint8_t {
  kDone,
  kRefused,     // a field of its descriptor is out of range
  kReadError,   // the memory answers reads of a region with an error
  kWriteError,  // the same for writes
};

struct ScenarioRequest {
  CosimRequest request;
  Ending ending = Ending::kDone;
  unsigned refusal = 0;  // index into refusals()
  RegionKind error_region = RegionKind::kKeys;
  std::uint8_t error_response = kRespSlaveError;
  // What the unit must give, and whose word that is; null: the golden model's.
  std::shared_ptr<const Expectation> expected;
  const char* expected_from = "golden model";
};

struct Scenario {
  std::string seed;  // as the command line takes it
  std::vector<ScenarioRequest> requests;
  MemoryTiming timing;
  MemoryBehaviour behaviour;
  DriverOptions driver;
  std::uint32_t most_queued = 1;      // under way at once; above the slots: one is refused
  bool check_registers = false;       // before the first request
  bool enable_late = false;           // the first requests are queued before CONTROL.enable
  bool fill_first = false;            // as many as the queue holds are
  std::vector<std::uint64_t> resets;  // cycles after the start, and after the reset before
  std::uint64_t seed_of_addresses = 1;
  std::uint32_t initial_seed = 0;  // of registers and memories without a reset value
};

// Ways to write a descriptor that the unit must refuse.
struct Refusal {
  const char* name;
  // May change the descriptor and the address it is submitted at.
  void (*spoil)(const UnitParameters& unit, std::vector<std::uint8_t>& descriptor,
                std::uint64_t& address);
};
const std::vector<Refusal>& refusals();

// Scenario number `seed`, from 1. `effort` bounds context times head dimension of a request.
Scenario random_scenario(std::uint64_t seed, const UnitParameters& unit,
                         const config::HardwareConfig& hardware, std::uint32_t effort);
// Scenario 0: the directed requests one after another, on a memory with short latency.
Scenario directed_scenario(const UnitParameters& unit, std::uint32_t most_context);
// Requests one at a time on the memory of the description: what is compared with the cycle model.
Scenario timed_scenario(std::vector<CosimRequest> requests, const config::HardwareConfig& hardware);

}  // namespace santa::cosim
