// santa_cycle_error: cycles of the SystemC model against the RTL on random workloads, by class.
// Exit code 1 when a result differs, or the error passes its bounds: median 2 %, 95th percentile
// 5 % of the magnitude, over all workloads.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "santa/config/preset.hpp"
#include "santa/cosim/cycle_model.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/cosim/session.hpp"
#include "santa/energy/pack.hpp"
#include "workloads.hpp"

// libsystemc's main() calls this; the program has its own.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace santa::cosim {
namespace {

constexpr double kMedianBound = 0.02;
constexpr double kTailBound = 0.05;

struct Options {
  std::string markdown;
  std::uint32_t workloads = 25;  // a class and configuration
  std::vector<std::string> configs;
};

// Value at or below which `share` of the sorted values lie.
double quantile(const std::vector<double>& sorted, double share) {
  const auto index =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(index, 1) - 1];
}

struct Errors {
  std::vector<double> signed_errors;
  std::string worst;
  double worst_magnitude = -1.0;

  void add(double error, const std::string& what) {
    signed_errors.push_back(error);
    if (std::abs(error) > worst_magnitude) {
      worst_magnitude = std::abs(error);
      worst = what;
    }
  }
  std::vector<double> magnitudes() const {
    std::vector<double> sorted;
    for (const double error : signed_errors) sorted.push_back(std::abs(error));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  std::string row(const std::string& name) const {
    double mean = 0.0;
    for (const double error : signed_errors) mean += error;
    mean /= static_cast<double>(signed_errors.size());
    const std::vector<double> sorted = magnitudes();
    return fmt::format("| {} | {} | {:+.2f} % | {:.2f} % | {:.2f} % | {:.2f} % | {} |\n", name,
                       sorted.size(), 100.0 * mean, 100.0 * quantile(sorted, 0.5),
                       100.0 * quantile(sorted, 0.95), 100.0 * sorted.back(), worst);
  }
};

std::string describe(const CycleWorkload& workload, std::uint64_t rtl, std::uint64_t model) {
  const CosimRequest& r = workload.request;
  return fmt::format("{}, n = {}, d = {}, g = {}, S = {}: {} cycles, model {}",
                     attention::to_string(r.options.scores), r.context, r.head_dimension(),
                     r.group(), r.options.samples, rtl, model);
}

// Cycles of the RTL; throws with the failure if the run does not agree with the golden model.
std::uint64_t rtl_cycles(const BuiltModel& built, const CycleWorkload& workload) {
  const std::unique_ptr<RtlModel> model = built.make({});
  Coverage coverage(built.parameters);
  Session session(*model, workload.scenario, "", coverage);
  const SessionResult result = session.run();
  if (result.failure || result.requests.size() != 1) {
    throw std::runtime_error("RTL and golden model differ: " +
                             (result.failure ? result.failure->text : "no completion"));
  }
  return result.requests.front().cycles;
}

std::string table_head() {
  return "| class | workloads | mean | median | 95th percentile | maximum | at the maximum |\n"
         "|---|---|---|---|---|---|---|\n";
}

int run(const Options& options) {
  std::map<std::string, Errors> by_memory;
  std::map<std::string, Errors> by_scheme;
  std::map<std::string, Errors> by_config;
  Errors all;
  for (const std::string& name : options.configs) {
    const config::HardwareConfig hardware = config::load_hardware(name);
    const BuiltModel* built = find_model(built_models(), hardware);
    if (built == nullptr) {
      throw std::runtime_error("configuration " + name + " is not built into this program");
    }
    const energy::EnergyPack pack =
        energy::EnergyPack::load(config::find_config("energy", hardware.energy_pack));
    for (std::size_t c = 0; c < memory_classes().size(); ++c) {
      const MemoryClass& memory = memory_classes()[c];
      for (std::uint64_t i = 0; i < options.workloads; ++i) {
        const CycleWorkload workload =
            make_cycle_workload(*built, hardware, memory, 1 + i + 1000 * c);
        const std::uint64_t rtl = rtl_cycles(*built, workload);
        const std::uint64_t model =
            run_cycle_model(workload.hardware, pack, workload.request).latency_cycles;
        const double error =
            (static_cast<double>(model) - static_cast<double>(rtl)) / static_cast<double>(rtl);
        const std::string what = describe(workload, rtl, model);
        all.add(error, hardware.name + ", " + memory.name + ", " + what);
        by_memory[memory.name].add(error, hardware.name + ", " + what);
        by_config[hardware.name].add(error, std::string(memory.name) + ", " + what);
        by_scheme["scores " + std::string(attention::to_string(workload.request.options.scores))]
            .add(error, hardware.name + ", " + memory.name + ", " + what);
      }
      std::fprintf(stderr, "%s: %s\n", hardware.name.c_str(), memory.name);
    }
  }
  std::string text =
      "# Cycles of the SystemC model against the RTL\n\n"
      "Random Gaussian requests, one at a time, from the accepted submission to the interrupt. "
      "Errors\n"
      "are those of the model in parts of the RTL's cycles; all columns but the mean are of their\n"
      "magnitude. Every request's coefficients, scores, weights, samples and outputs agree bit for "
      "bit.\n"
      "Written by `make cycle-error`.\n\n" +
      table_head();
  for (const auto& groups : {by_memory, by_scheme, by_config}) {
    for (const auto& [name, errors] : groups) text += errors.row(name);
  }
  text += all.row("**all**");
  text +=
      "\nCauses. The model moves tiles, rows and requests, not words: a tile's first words are "
      "taken to\n"
      "arrive at the memory's mean rate, so short requests and random stalls scatter by some tens "
      "of\n"
      "cycles. Reads of keys and of rows share the port in order of submission in the model and "
      "by\n"
      "priority in the RTL. Key buffers are counted in tiles in the model and in words in the "
      "RTL.\n";
  if (options.markdown.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    std::ofstream(options.markdown) << text;
  }
  const std::vector<double> magnitudes = all.magnitudes();
  const double median = quantile(magnitudes, 0.5);
  const double tail = quantile(magnitudes, 0.95);
  std::fprintf(stderr, "%zu workloads: median %.2f %%, 95th percentile %.2f %%\n",
               magnitudes.size(), 100.0 * median, 100.0 * tail);
  return median <= kMedianBound && tail <= kTailBound ? 0 : 1;
}

}  // namespace
}  // namespace santa::cosim

int main(int argc, char** argv) {
  santa::cosim::Options options;
  CLI::App app("Cycles of the SystemC model against the RTL, by class of workload");
  app.add_option("--markdown", options.markdown, "Write the table here instead of to the output");
  app.add_option("--workloads", options.workloads, "Workloads of each class and configuration")
      ->check(CLI::Range(1U, 100000U));
  app.add_option("configs", options.configs, "Hardware descriptions that are built in")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return santa::cosim::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "santa_cycle_error: %s\n", error.what());
    return 1;
  }
}
