#include "workload.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/config/hardware.hpp"

// libsystemc expects it; GoogleTest's main runs instead.
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace santa::sim {
namespace {

unsigned checks_made = 0;
unsigned checks_failed = 0;

}  // namespace

Workload make_workload(const Shape& shape, std::uint32_t tile_keys, std::uint64_t seed,
                       const attention::CacheBits& bits) {
  const attention::LayerShape& layer = shape.layer;
  const attention::LayerTensors tensors = attention::make_gaussian(layer, seed, 0);
  const std::size_t head_elements = static_cast<std::size_t>(layer.context) * layer.head_dimension;
  Workload workload;
  for (std::uint32_t kv = 0; kv < layer.kv_heads; ++kv) {
    workload.heads.push_back(std::make_unique<attention::KvHead>(attention::quantize_kv_head(
        tensors.key.data() + kv * head_elements, tensors.value.data() + kv * head_elements,
        layer.context, layer.head_dimension, tile_keys, bits)));
    const attention::KvHead& cache = *workload.heads.back();
    const float* query =
        tensors.query.data() + static_cast<std::size_t>(kv) * layer.group() * layer.head_dimension;
    const auto prepare = [&](attention::ScoreScheme scheme) {
      return attention::prepare_query(query, layer.group(), layer.head_dimension,
                                      cache.key_scale.data(), tensors.softmax_scale, scheme,
                                      shape.options.bernoulli_draws);
    };
    using arithmetic::StreamPurpose;
    Job job;
    job.kv_head = kv;
    job.cache = &cache;
    job.request.query = prepare(shape.options.scores);
    job.exact_query = prepare(attention::ScoreScheme::kExact);
    job.request.score_stream =
        arithmetic::derive_stream(seed, {0, 0, kv, 0, StreamPurpose::kScores});
    for (std::uint32_t g = 0; g < layer.group(); ++g) {
      job.request.value_streams.push_back(arithmetic::derive_stream(
          seed, {0, 0, kv * layer.group() + g, 0, StreamPurpose::kValues}));
    }
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

const energy::EnergyPack& default_pack() {
  static const energy::EnergyPack pack =
      energy::EnergyPack::load(SANTA_SOURCE_DIR "/configs/energy/horowitz-45nm.yaml");
  return pack;
}

std::vector<UnitReport> simulate_preset(const std::string& preset,
                                        const std::vector<std::string>& overrides,
                                        const Shape& shape, const std::vector<UnitKind>& units,
                                        bool record_spans) {
  std::vector<config::Override> parsed;
  for (const std::string& text : overrides) parsed.push_back(config::parse_override(text));
  const config::HardwareConfig hardware = config::load_hardware(preset, parsed);
  const Workload workload =
      make_workload(shape, static_cast<std::uint32_t>(hardware.unit.tile_keys), 11);
  SimulationRequest request;
  request.hardware = &hardware;
  request.energy_pack = &default_pack();
  request.jobs = workload.jobs;
  for (const UnitKind kind : units) request.units.push_back({kind, shape.options});
  request.record_spans = record_spans;
  return simulate(request);
}

void check(bool ok, const std::string& what) {
  ++checks_made;
  if (ok) return;
  ++checks_failed;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
}

void in_child(const std::string& what, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      check(false, error.what());
    }
    std::fflush(nullptr);
    _exit(checks_made > 0 && checks_failed == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << what << ", status " << status;
}

}  // namespace santa::sim
