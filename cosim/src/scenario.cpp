#include "santa/cosim/scenario.hpp"

#include <algorithm>

#include "santa/cosim/generator.hpp"

namespace santa::cosim {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put16(Bytes& bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::uint8_t>(value);
  bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
}

// Of the last head where there are not so many.
void clear_stream(Bytes& descriptor, std::uint32_t head) {
  const std::uint32_t last = descriptor[6] - 1U;
  std::fill_n(descriptor.begin() + 0x80 + 8 * std::min(head, last), 8, std::uint8_t{0});
}

std::vector<Refusal> make_refusals() {
  return {
      {"context 2^20 + 1",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) {
         put16(d, 0, 1);
         put16(d, 2, 0x10);
       }},
      {"context 2^31", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[3] |= 0x80; }},
      {"head dimension 0", [](const UnitParameters&, Bytes& d, std::uint64_t&) { put16(d, 4, 0); }},
      {"head dimension above the largest",
       [](const UnitParameters& unit, Bytes& d, std::uint64_t&) {
         put16(d, 4, unit.max_head_dimension + 1);
       }},
      {"head dimension 2^15",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[5] |= 0x80; }},
      {"group 0", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[6] = 0; }},
      {"group above the largest",
       [](const UnitParameters& unit, Bytes& d, std::uint64_t&) {
         d[6] = static_cast<std::uint8_t>(unit.group_heads + 1);
       }},
      {"group 128", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[6] |= 0x80; }},
      {"scores 3", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[7] = 3; }},
      {"scores 4", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[7] |= 4; }},
      {"s 13", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[8] = 13; }},
      {"s 16", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[8] |= 16; }},
      {"operand address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x10] |= 1; }},
      {"key address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x18] |= 8; }},
      {"tail address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x20] |= 4; }},
      {"value address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x28] |= 2; }},
      {"scratch address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x30] |= 1; }},
      {"output address", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0x38] |= 8; }},
      {"score stream 0",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) {
         if (d[7] == 0) d[7] = 1;
         std::fill_n(d.begin() + 0x40, 8, std::uint8_t{0});
       }},
      {"value stream 0 of the last head",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) { clear_stream(d, d[6] - 1U); }},
      {"value stream 0 of the first head",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) { clear_stream(d, 0); }},
      {"value stream 0 of the second head",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) { clear_stream(d, 1); }},
      {"value stream 0 of the third head",
       [](const UnitParameters&, Bytes& d, std::uint64_t&) { clear_stream(d, 2); }},
      {"exponent -9", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC0] = 0xF7; }},
      {"exponent 31", [](const UnitParameters&, Bytes& d,
                         std::uint64_t&) { d[0xC0 + 4 * (d[6] - std::size_t{1})] = 31; }},
      {"shift a 0", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC1] &= 0xF8; }},
      {"shift a 7", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC1] |= 7; }},
      {"shift b 0", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC2] &= 0xF8; }},
      {"shift b 7", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC2] |= 7; }},
      {"sign a 3", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC1] |= 0x18; }},
      {"sign b 3", [](const UnitParameters&, Bytes& d, std::uint64_t&) { d[0xC2] |= 0x18; }},
      {"descriptor address",
       [](const UnitParameters&, Bytes&, std::uint64_t& address) { address += 128; }},
  };
}

ChannelStall random_stall(Random& random) {
  return {random.pick({0.0, 0.0, 0.1, 0.5, 0.9}), random.chance(0.15)};
}

MemoryBehaviour random_behaviour(Random& random) {
  MemoryBehaviour behaviour;
  if (random.chance(0.7)) {
    behaviour.ar = random_stall(random);
    behaviour.r = random_stall(random);
    behaviour.aw = random_stall(random);
    behaviour.w = random_stall(random);
    behaviour.b = random_stall(random);
  }
  behaviour.order =
      random.pick({ReadOrder::kAccepted, ReadOrder::kBursts, ReadOrder::kInterleaved});
  behaviour.ready_after_valid = random.chance(0.2);
  behaviour.aw_waits_for_w = random.chance(0.2);
  return behaviour;
}

// Regions that a request surely touches, as far as its size tells.
void choose_error(ScenarioRequest& r, const UnitParameters& unit, Random& random) {
  const auto sizes = region_sizes(r.request, unit);
  r.error_response = random.pick({kRespSlaveError, kRespDecodeError});
  std::vector<RegionKind> kinds;
  for (std::size_t kind = 0; kind < kRegionKinds; ++kind) {
    const auto region = static_cast<RegionKind>(kind);
    const int id = r.ending == Ending::kReadError ? read_id_of(region) : write_id_of(region);
    if (sizes[kind] > 0 && id >= 0) kinds.push_back(region);
  }
  r.error_region = kinds[random.below(static_cast<std::uint32_t>(kinds.size()))];
}

}  // namespace

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = make_refusals();
  return all;
}

Scenario random_scenario(std::uint64_t seed, const UnitParameters& unit,
                         const config::HardwareConfig& hardware, std::uint32_t effort) {
  Random random(seed);
  Scenario scenario;
  scenario.seed = std::to_string(seed);
  scenario.behaviour = random_behaviour(random);
  scenario.timing = random.chance(0.3) ? MemoryTiming::of(hardware)
                                       : MemoryTiming::ideal(random.pick({0U, 1U, 7U, 100U}),
                                                             random.pick({1U, 2U, 16U, 256U}));
  scenario.driver.idle = random.pick({0.0, 0.0, 0.3, 0.9});
  scenario.driver.interrupt = random.chance(0.6);
  scenario.most_queued = random.pick({1U, 2U, 4U, 100U});
  scenario.enable_late = random.chance(0.2);
  scenario.seed_of_addresses = random.next();
  scenario.initial_seed = static_cast<std::uint32_t>(random.next() | 1U);
  const std::uint32_t count = 1 + random.below(8);
  for (std::uint32_t i = 0; i < count; ++i) {
    ScenarioRequest r;
    r.request = random_request(unit, effort, random);
    const std::uint32_t kind = random.below(20);
    if (kind == 0) {
      r.ending = Ending::kRefused;
      r.refusal = random.below(static_cast<std::uint32_t>(refusals().size()));
    } else if (kind <= 2) {
      r.ending = kind == 1 ? Ending::kReadError : Ending::kWriteError;
      choose_error(r, unit, random);
    }
    scenario.requests.push_back(std::move(r));
  }
  for (double chance = 0.25; random.chance(chance); chance = 0.5) {
    scenario.resets.push_back(50 + random.below(random.pick({500U, 3000U, 20000U})));
  }
  return scenario;
}

Scenario directed_scenario(const UnitParameters& unit, std::uint32_t most_context) {
  Scenario scenario;
  scenario.seed = "0";
  scenario.check_registers = true;
  scenario.timing = MemoryTiming::ideal(10, 64);
  scenario.behaviour.order = ReadOrder::kInterleaved;
  scenario.most_queued = 100;  // the queue is full, and is asked for one more
  scenario.fill_first = true;
  for (CosimRequest& request : directed_requests(unit, most_context)) {
    ScenarioRequest r;
    r.request = std::move(request);
    scenario.requests.push_back(std::move(r));
  }
  // Every way to be refused, of a whole group: every head's fields are looked at.
  std::vector<ScenarioRequest> whole;
  for (const ScenarioRequest& r : scenario.requests) {
    if (r.request.group() == unit.group_heads) whole.push_back(r);
  }
  for (unsigned refusal = 0; refusal < refusals().size(); ++refusal) {
    ScenarioRequest r = whole[refusal % whole.size()];
    r.ending = Ending::kRefused;
    r.refusal = refusal;
    scenario.requests.push_back(std::move(r));
  }
  scenario.requests.push_back(scenario.requests.front());
  return scenario;
}

Scenario timed_scenario(std::vector<CosimRequest> requests,
                        const config::HardwareConfig& hardware) {
  Scenario scenario;
  scenario.seed = "timed";
  scenario.timing = MemoryTiming::of(hardware);
  for (CosimRequest& request : requests) {
    ScenarioRequest r;
    r.request = std::move(request);
    scenario.requests.push_back(std::move(r));
  }
  return scenario;
}

}  // namespace santa::cosim
