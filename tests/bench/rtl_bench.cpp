// Speed of the verilated unit, in cycles a second, and of the SystemC model on the same request,
// with both models of memory: the ratios of their wall times. The unit's time is that of the model
// alone, without the memory, the driver and the scoreboards around it; SystemC's holds its process,
// elaboration and results.
//
//   rtl_bench [CONFIG [CONTEXT]]      of the units that are built in; edge-lpddr5, 8192
//
// Exit code 1 if a ratio is below 150 (the many-core model of arXiv 2605.07750 reports 115).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "santa/config/preset.hpp"
#include "santa/cosim/cycle_model.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/cosim/session.hpp"
#include "santa/energy/pack.hpp"

// libsystemc expects it.
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace santa::cosim {
namespace {

constexpr double kLeastRatio = 150.0;
constexpr int kRepetitions = 5;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The unit with a stop watch around each evaluation.
class TimedUnit : public RtlModel {
 public:
  explicit TimedUnit(std::unique_ptr<RtlModel> unit)
      : RtlModel(unit->parameters()), unit_(std::move(unit)) {}

  void eval() override {
    unit_->inputs() = inputs_;
    const double start = seconds_now();
    unit_->eval();
    seconds_ += seconds_now() - start;
    outputs_ = unit_->outputs();
    monitors_ = unit_->monitors();
  }
  void tick() override {
    const double start = seconds_now();
    unit_->tick();
    seconds_ += seconds_now() - start;
  }
  void open_waves(const std::string& path) override { unit_->open_waves(path); }
  void close_waves() override { unit_->close_waves(); }
  double seconds() const { return seconds_; }

 private:
  std::unique_ptr<RtlModel> unit_;
  double seconds_ = 0.0;
};

struct Timed {
  std::uint64_t cycles = 0;
  double seconds = 0.0;  // median
};

Timed time_systemc(const config::HardwareConfig& hardware, const energy::EnergyPack& pack,
                   const CosimRequest& request) {
  Timed timed;
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = seconds_now();
    timed.cycles = run_cycle_model(hardware, pack, request).latency_cycles;
    seconds.push_back(seconds_now() - start);
  }
  std::sort(seconds.begin(), seconds.end());
  timed.seconds = seconds[kRepetitions / 2];
  return timed;
}

void print_speed(const std::string& what, const Timed& timed) {
  fmt::print("{:<36} {:>12} cycles {:>10.3f} s {:>12.0f} cycles/s\n", what, timed.cycles,
             timed.seconds, static_cast<double>(timed.cycles) / timed.seconds);
}

int bench(const std::string& config, std::uint32_t context) {
  const config::HardwareConfig hardware = config::load_hardware(config);
  const BuiltModel* built = find_model(built_models(), hardware);
  if (built == nullptr) {
    fmt::print(stderr, "rtl_bench: {}: not built in (SANTA_COSIM_CONFIGS)\n", config);
    return 2;
  }
  const energy::EnergyPack pack =
      energy::EnergyPack::load(config::find_config("energy", hardware.energy_pack));
  const UnitParameters& unit = built->parameters;
  attention::DecodeOptions options;
  const CosimRequest request = gaussian_request(
      {context, std::min(unit.max_head_dimension, 128U), std::min(unit.group_heads, 4U)}, options,
      unit.tile_keys, 1);

  TimedUnit model(built->make({}));
  const Scenario scenario = timed_scenario({request}, hardware);
  Coverage coverage(unit);
  const SessionResult rtl = Session(model, scenario, "", coverage).run();
  if (rtl.failure || rtl.requests.size() != 1) {
    fmt::print(stderr, "rtl_bench: the unit and the golden model differ\n");
    return 1;
  }
  fmt::print("unit {}, {} keys, d {}, {} query heads, exact scores, S = {}\n", hardware.name,
             context, request.head_dimension(), request.group(), options.samples);
  print_speed("verilated RTL", {rtl.cycles, model.seconds()});
  bool kept = true;
  for (const char* memory : {"bandwidth", "dram"}) {
    const Timed systemc =
        time_systemc(config::load_hardware(config, {{"memory.model", memory}}), pack, request);
    const double ratio = model.seconds() / systemc.seconds;
    print_speed(fmt::format("SystemC, {}, median of {}", memory, kRepetitions), systemc);
    fmt::print("{:<36} {:>12.1f}  bound {} {}\n", "ratio of the times", ratio, kLeastRatio,
               ratio >= kLeastRatio ? "kept" : "MISSED");
    kept = kept && ratio >= kLeastRatio;
  }
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace santa::cosim

int main(int argc, char** argv) {
  try {
    const std::string config = argc > 1 ? argv[1] : "edge-lpddr5";
    const unsigned long context = argc > 2 ? std::stoul(argv[2]) : 8192;
    return santa::cosim::bench(config, static_cast<std::uint32_t>(context));
  } catch (const std::exception& error) {
    fmt::print(stderr, "rtl_bench: {}\n", error.what());
    return 2;
  }
}
