// Time of one Llama-3.1-8B-shaped layer at a 32,768-token decode step: the golden model, the
// SystemC model on both models of memory and float32 attention, on one core, and their ratios from
// one run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "float_attention.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/attention/decode.hpp"
#include "santa/attention/synthetic.hpp"
#include "santa/sim/simulation.hpp"

// libsystemc expects it.
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace santa::bench {
namespace {

constexpr attention::LayerShape kLayer{32, 8, 128, 32768};
constexpr std::uint64_t kSeed = 1;

struct Layer {
  attention::LayerTensors tensors = attention::make_gaussian(kLayer, kSeed, 0);
  config::HardwareConfig hardware = config::load_hardware("edge-lpddr5");
  energy::EnergyPack pack =
      energy::EnergyPack::load(SANTA_SOURCE_DIR "/configs/energy/horowitz-45nm.yaml");
  std::vector<attention::KvHead> heads;
  std::vector<sim::Job> jobs;

  Layer() {
    const std::size_t elements = static_cast<std::size_t>(kLayer.context) * kLayer.head_dimension;
    for (std::uint32_t kv = 0; kv < kLayer.kv_heads; ++kv) {
      heads.push_back(attention::quantize_kv_head(
          tensors.key.data() + kv * elements, tensors.value.data() + kv * elements, kLayer.context,
          kLayer.head_dimension, static_cast<std::uint32_t>(hardware.unit.tile_keys)));
    }
    for (std::uint32_t kv = 0; kv < kLayer.kv_heads; ++kv) {
      sim::Job job;
      job.kv_head = kv;
      job.cache = &heads[kv];
      job.request.query = attention::prepare_query(
          query(kv), kLayer.group(), kLayer.head_dimension, heads[kv].key_scale.data(),
          tensors.softmax_scale, attention::ScoreScheme::kExact, 0);
      job.exact_query = job.request.query;
      for (std::uint32_t g = 0; g < kLayer.group(); ++g) {
        job.request.value_streams.push_back(arithmetic::derive_stream(
            kSeed, {0, 0, kv * kLayer.group() + g, 0, arithmetic::StreamPurpose::kValues}));
      }
      jobs.push_back(std::move(job));
    }
  }
  const float* query(std::uint32_t kv) const {
    return tensors.query.data() +
           static_cast<std::size_t>(kv) * kLayer.group() * kLayer.head_dimension;
  }
};

const Layer& layer() {
  static const Layer instance;
  return instance;
}

void golden(benchmark::State& state) {
  attention::DecodeWorkspace workspace;
  for (auto _ : state) {
    for (const sim::Job& job : layer().jobs) {
      benchmark::DoNotOptimize(
          attention::decode(*job.cache, kLayer.context, job.request, {}, workspace));
    }
  }
}

void float_attention(benchmark::State& state, FloatAttention* function) {
  const std::size_t elements = static_cast<std::size_t>(kLayer.context) * kLayer.head_dimension;
  std::vector<float> scores(kLayer.context);
  std::vector<float> output(kLayer.group() * kLayer.head_dimension);
  for (auto _ : state) {
    for (std::uint32_t kv = 0; kv < kLayer.kv_heads; ++kv) {
      function(layer().query(kv), layer().tensors.key.data() + kv * elements,
               layer().tensors.value.data() + kv * elements, kLayer.group(), kLayer.context,
               kLayer.head_dimension, static_cast<float>(layer().tensors.softmax_scale),
               scores.data(), output.data());
      benchmark::DoNotOptimize(output.data());
    }
  }
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// What a child does: one simulation of the sampled unit, or one golden decode of the same layer, in
// a fresh process; prints its processor seconds.
int run_once(bool simulation, const char* memory_model) {
  const config::HardwareConfig hardware =
      config::load_hardware("edge-lpddr5", {{"memory.model", memory_model}});
  sim::SimulationRequest request;
  request.hardware = &hardware;
  request.energy_pack = &layer().pack;
  request.jobs = layer().jobs;
  request.units = {{sim::UnitKind::kSampled, {}}};
  attention::DecodeWorkspace workspace;
  bool ok = true;
  const double start = processor_seconds();
  if (simulation) {
    ok = sim::simulate(request).front().latency_cycles > 0;
  } else {
    for (const sim::Job& job : request.jobs) {
      const auto result = attention::decode(*job.cache, kLayer.context, job.request, {}, workspace);
      ok = ok && !result.output.empty();
    }
  }
  fmt::print("{:.9f}\n", processor_seconds() - start);
  return ok ? 0 : 1;
}

// SystemC elaborates once in a process, so each simulation gets a program of its own, this one with
// an option; the golden decode that it is compared with runs in the same way.
constexpr const char* kSimulateOnce = "--simulate-once";
constexpr const char* kSimulateDramOnce = "--simulate-dram-once";
constexpr const char* kDecodeOnce = "--decode-once";

void in_child(benchmark::State& state, const char* option) {
  for (auto _ : state) {
    const std::string command = fmt::format("/proc/{}/exe {}", getpid(), option);
    FILE* child = popen(command.c_str(), "r");
    double seconds = -1.0;
    const int values = child == nullptr ? 0 : std::fscanf(child, "%lf", &seconds);
    if (child == nullptr || pclose(child) != 0 || values != 1) {
      state.SkipWithError("the child failed");
      break;
    }
    state.SetIterationTime(seconds);
  }
}

// Prints as the console does and keeps the medians.
class MedianReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      failed = failed || run.error_occurred;
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") {
        // The simulation sets its processor time as "real" time itself.
        const bool manual = run.run_name.time_type == "manual_time";
        median_ms[run.run_name.function_name] =
            manual ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }
  std::map<std::string, double> median_ms;
  bool failed = false;
};

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

// 0 when every ratio keeps its bound.
int print_ratios(MedianReporter& reporter) {
  const auto ms = [&](const char* name) { return reporter.median_ms[name]; };
  struct Ratio {
    const char* text;
    double value;
    double bound;  // 0: reported only
  };
  const Ratio ratios[] = {
      {"golden / float32 -O3", ms("golden") / ms("float32_O3"), 1.0},
      {"golden / float32 -O3 -march=native -ffast-math", ms("golden") / ms("float32_native"), 0.0},
      {"SystemC / golden, once each in a fresh process", ms("systemc") / ms("golden_once"), 2.0},
      {"SystemC with memory.model dram / golden", ms("systemc_dram") / ms("golden_once"), 3.0},
  };
  rusage self{};
  rusage children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  fmt::print("\n{} query heads, {} KV heads, d {}, {} tokens, int8; one core of {}\n",
             kLayer.query_heads, kLayer.kv_heads, kLayer.head_dimension, kLayer.context,
             processor_name());
  bool kept = !reporter.failed;
  for (const Ratio& ratio : ratios) {
    const bool ok = ratio.bound == 0.0 || (ratio.value > 0.0 && ratio.value <= ratio.bound);
    kept = kept && ok;
    fmt::print("{:<48} {:6.2f}{}\n", ratio.text, ratio.value,
               ratio.bound == 0.0
                   ? ""
                   : fmt::format("  bound {:.1f} {}", ratio.bound, ok ? "kept" : "MISSED"));
  }
  const double peak_mb = static_cast<double>(std::max(self.ru_maxrss, children.ru_maxrss)) / 1024.0;
  kept = kept && peak_mb < 1024.0;
  fmt::print("{:<48} {:6.0f}  bound 1024 {}\n", "peak memory, MiB, with the float32 tensors",
             peak_mb, peak_mb < 1024.0 ? "kept" : "MISSED");
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace santa::bench

int main(int argc, char** argv) {
  using namespace santa::bench;
  if (argc == 2 && std::string(argv[1]) == kSimulateOnce) return run_once(true, "bandwidth");
  if (argc == 2 && std::string(argv[1]) == kSimulateDramOnce) return run_once(true, "dram");
  if (argc == 2 && std::string(argv[1]) == kDecodeOnce) return run_once(false, "bandwidth");
  const auto add = [](benchmark::internal::Benchmark* b) {
    b->Unit(benchmark::kMillisecond)->Iterations(3)->Repetitions(7)->ReportAggregatesOnly();
  };
  layer();
  add(benchmark::RegisterBenchmark("golden", golden)->UseRealTime());
  add(benchmark::RegisterBenchmark("golden_once", in_child, kDecodeOnce)->UseManualTime());
  add(benchmark::RegisterBenchmark("systemc", in_child, kSimulateOnce)->UseManualTime());
  add(benchmark::RegisterBenchmark("systemc_dram", in_child, kSimulateDramOnce)->UseManualTime());
  add(benchmark::RegisterBenchmark("float32_O3", float_attention, float_attention_plain)
          ->UseRealTime());
  add(benchmark::RegisterBenchmark("float32_native", float_attention, float_attention_native)
          ->UseRealTime());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return print_ratios(reporter);
}
