// Several units on one memory, placement, prefetch, appended tokens, narrow caches, paged caches.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "job_schedule.hpp"
#include "santa/config/hardware.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

config::HardwareConfig hardware_with(const std::vector<std::string>& changes,
                                     const std::string& preset = "edge-lpddr5") {
  std::vector<config::Override> parsed;
  for (const std::string& text : changes) parsed.push_back(config::parse_override(text));
  return config::load_hardware(preset, parsed);
}

attention::CacheBits bits_of(const config::HardwareConfig& hardware) {
  return {static_cast<std::uint32_t>(hardware.system.key_bits),
          static_cast<std::uint32_t>(hardware.system.value_bits)};
}

struct SystemRun {
  Workload workload;
  std::vector<UnitReport> reports;
};

// Gaussian heads on the edge preset with changes; every job appends where `append`.
SystemRun run_system(const std::vector<std::string>& changes, const Shape& shape,
                     const std::vector<UnitKind>& kinds, bool append = false, bool spans = false) {
  const config::HardwareConfig hardware = hardware_with(changes);
  SystemRun run;
  run.workload = make_workload(shape, static_cast<std::uint32_t>(hardware.unit.tile_keys), 11,
                               bits_of(hardware));
  SimulationRequest request;
  request.hardware = &hardware;
  request.energy_pack = &default_pack();
  request.jobs = run.workload.jobs;
  for (Job& job : request.jobs) job.append = append;
  for (const UnitKind kind : kinds) request.units.push_back({kind, shape.options});
  request.record_spans = spans;
  run.reports = simulate(request);
  return run;
}

constexpr UnitKind kIntegerKinds[] = {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kTopK};

// Outputs and rows of every job against the golden decode of its own cache.
void check_golden(const SystemRun& run, const Shape& shape) {
  attention::DecodeWorkspace workspace;
  for (const UnitReport& report : run.reports) {
    attention::DecodeOptions options = shape.options;
    if (report.kind == UnitKind::kDenseInt8) options.values = attention::ValueScheme::kDense;
    if (report.kind == UnitKind::kTopK) options.values = attention::ValueScheme::kTopK;
    for (std::size_t j = 0; j < run.workload.jobs.size(); ++j) {
      const Job& job = run.workload.jobs[j];
      attention::DecodeRequest request = job.request;
      if (report.kind != UnitKind::kSampled) request.query = job.exact_query;
      const attention::DecodeResult golden =
          attention::decode(*job.cache, job.cache->context, request, options, workspace);
      const std::string name = to_string(report.kind) + " job " + std::to_string(j);
      check(report.outputs[j] == golden.output, name + " output");
      check(report.log_sum_exp[j] == golden.log_sum_exp, name + " log-sum-exp");
      check_equal(report.rows[j].size(), golden.rows.size(), name + " rows");
    }
  }
}

TEST(System, EveryPlacementAndWidthGivesTheGoldenValues) {
  const Shape shape{{24, 6, 64, 300}, {}};
  for (const char* system : {"system.units=1", "system.units=4"}) {
    for (const char* placement : {"system.placement=interleaved", "system.placement=per-unit",
                                  "system.placement=keys-values"}) {
      for (const char* model : {"memory.model=bandwidth", "memory.model=dram"}) {
        for (const char* bits : {"system.key_bits=8", "system.key_bits=4"}) {
          in_child(std::string(system) + " " + placement + " " + model + " " + bits, [&] {
            check_golden(run_system({system, placement, model, bits, "system.value_bits=4",
                                     "system.prefetch_next_head=off"},
                                    shape, {std::begin(kIntegerKinds), std::end(kIntegerKinds)}),
                         shape);
          });
        }
      }
    }
  }
}

// With its own channels, a unit does exactly what it would do alone on such a memory.
TEST(System, UnitsWithChannelsOfTheirOwnDoNotDisturbOneAnother) {
  const Shape both{{8, 2, 128, 3000}, {}};
  for (const UnitKind kind :
       {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kDenseFp16, UnitKind::kTopK}) {
    in_child(to_string(kind), [&] {
      // Two equal caches by one head's data: the two units must agree with each other.
      const config::HardwareConfig hardware =
          hardware_with({"system.units=2", "system.placement=per-unit"});
      const config::HardwareConfig half = hardware_with({"memory.channels=2"});
      const Workload workload = make_workload(both, 128, 11);
      SimulationRequest request;
      request.hardware = &hardware;
      request.energy_pack = &default_pack();
      request.jobs = {workload.jobs[0], workload.jobs[0]};
      request.units = {{kind, both.options}};
      const UnitReport two = simulate(request).front();
      check_equal(two.unit_latency_ns.size(), std::size_t{2}, "units");
      check_equal(two.unit_latency_ns[0], two.unit_latency_ns[1], "equal units");
      check_equal(two.latency_ns, two.unit_latency_ns[0], "latency");
      check(two.traffic.total_bytes() > 0, "traffic");
    });
    double together = 0.0;
    double alone = 0.0;
    // SystemC elaborates once in a process: the two latencies are compared through their span.
    for (const bool pair : {true, false}) {
      int ends[2];
      ASSERT_EQ(pipe(ends), 0);
      in_child(to_string(kind) + (pair ? " pair" : " alone"), [&] {
        const config::HardwareConfig hardware =
            pair ? hardware_with({"system.units=2", "system.placement=per-unit"})
                 : hardware_with({"memory.channels=2"});
        const Workload workload = make_workload(both, 128, 11);
        SimulationRequest request;
        request.hardware = &hardware;
        request.energy_pack = &default_pack();
        request.jobs = {workload.jobs[0]};
        if (pair) request.jobs.push_back(workload.jobs[1]);
        request.units = {{kind, both.options}};
        const double latency = simulate(request).front().unit_latency_ns.front();
        check(write(ends[1], &latency, sizeof latency) == sizeof latency, "pipe");
      });
      double& target = pair ? together : alone;
      ASSERT_EQ(read(ends[0], &target, sizeof target), static_cast<ssize_t>(sizeof target));
      close(ends[0]);
      close(ends[1]);
    }
    EXPECT_EQ(together, alone) << to_string(kind);
  }
}

// Latencies of the dense unit for some systems, each from a process of its own.
double dense_latency(const std::vector<std::string>& changes, const Shape& shape) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  in_child("latency", [&] {
    const double latency = run_system(changes, shape, {UnitKind::kDenseInt8}).reports[0].latency_ns;
    check(write(ends[1], &latency, sizeof latency) == sizeof latency, "pipe");
  });
  double latency = 0.0;
  EXPECT_EQ(read(ends[0], &latency, sizeof latency), static_cast<ssize_t>(sizeof latency));
  close(ends[0]);
  close(ends[1]);
  return latency;
}

TEST(System, UnitsShareTheMemoryAndDivideTheWork) {
  const Shape shape{{32, 8, 128, 2048}, {}};
  // 8 heads of 2048 keys and values of 128 bytes at 51.2 bytes a nanosecond.
  const double memory_ns = 8 * 2048 * 2 * 128 / 51.2;
  const double one = dense_latency({}, shape);
  const double two = dense_latency({"system.units=2"}, shape);
  EXPECT_GE(one, memory_ns);
  EXPECT_GE(two, memory_ns);  // no unit makes the memory faster
  EXPECT_LE(two, one);
  // 16 multipliers take 2048 * 2 * 128 * 4 / 16 cycles of 1 ns a head, far above the memory's time;
  // what filling, draining and handing over add does not grow with the number of units.
  const double head_ns = 2048.0 * 2 * 128 * 4 / 16;
  const double slow_one = dense_latency({"baselines.dense_multipliers=16"}, shape);
  const double slow_four =
      dense_latency({"baselines.dense_multipliers=16", "system.units=4"}, shape);
  EXPECT_GE(slow_one, 8 * head_ns);
  EXPECT_GE(slow_four, 2 * head_ns);
  // A unit's first tile waits at most for what fills the buffers of the three others, 8 tiles of
  // keys and 8 of values each.
  const double buffers_ns = 3 * 16 * 128 * 128 / 51.2;
  EXPECT_LE(slow_four - 2 * head_ns, slow_one - 8 * head_ns + buffers_ns);
}

TEST(System, WithoutPrefetchRequestsDoNotOverlap) {
  const Shape shape{{12, 3, 64, 700}, {}};
  for (const UnitKind kind : {UnitKind::kSampled, UnitKind::kTopK}) {
    for (const bool prefetch : {true, false}) {
      in_child(to_string(kind) + (prefetch ? " on" : " off"), [&] {
        const SystemRun run =
            run_system({std::string("system.prefetch_next_head=") + (prefetch ? "on" : "off")},
                       shape, {kind}, false, true);
        double begin[3] = {1e18, 1e18, 1e18};
        double end[3] = {0.0, 0.0, 0.0};
        for (const Span& span : run.reports[0].spans) {
          begin[span.job] = std::min(begin[span.job], span.start_ns);
          end[span.job] = std::max(end[span.job], span.end_ns);
        }
        for (int j = 1; j < 3; ++j) {
          check((begin[j] >= end[j - 1]) != prefetch, "job " + std::to_string(j));
        }
      });
    }
  }
  EXPECT_LT(dense_latency({}, shape), dense_latency({"system.prefetch_next_head=off"}, shape));
}

// 128 features, tiles of 128 keys, accesses of 32 bytes, rows at least 64 bytes apart.
TEST(System, AppendWritesTheTokenAndTransposesAFullTile) {
  for (const std::uint32_t bits : {8U, 4U}) {
    const std::uint64_t row = 128 * bits / 8;
    const std::string width = std::to_string(bits);
    for (const std::uint32_t context : {1U, 127U, 128U, 129U, 256U}) {
      const Shape shape{{4, 1, 128, context}, {}};
      in_child(width + " bits, context " + std::to_string(context), [&] {
        SystemRun run = run_system(
            {"system.key_bits=" + width, "system.value_bits=" + width}, shape,
            {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kTopK, UnitKind::kDenseFp16},
            true);
        const bool fills = context % 128 == 0;
        const std::uint64_t sampled = fills ? row + 127 * row + 128 * row : 2 * row;
        check_equal(run.reports[0].traffic.append_bytes, sampled, "sampled");
        check_equal(run.reports[1].traffic.append_bytes, 2 * row, "dense");
        check_equal(run.reports[2].traffic.append_bytes, 2 * row, "top-k");
        check_equal(run.reports[3].traffic.append_bytes, std::uint64_t{512}, "dense fp16");
        run.reports.pop_back();
        check_golden(run, shape);
      });
    }
  }
}

TEST(System, FourBitsHalveTheBytesOfKeysAndValues) {
  const Shape shape{{8, 2, 128, 1024}, {}};
  std::uint64_t bytes[2][2] = {};
  for (const int narrow : {0, 1}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    in_child(narrow != 0 ? "4 bits" : "8 bits", [&] {
      const char* width = narrow != 0 ? "4" : "8";
      const SystemRun run = run_system(
          {std::string("system.key_bits=") + width, std::string("system.value_bits=") + width},
          shape, {UnitKind::kDenseInt8, UnitKind::kDenseFp16});
      const std::uint64_t moved[2] = {
          run.reports[0].traffic.key_bytes + run.reports[0].traffic.value_bytes,
          run.reports[1].traffic.key_bytes + run.reports[1].traffic.value_bytes};
      check(write(ends[1], moved, sizeof moved) == sizeof moved, "pipe");
    });
    ASSERT_EQ(read(ends[0], bytes[narrow], sizeof bytes[narrow]),
              static_cast<ssize_t>(sizeof bytes[narrow]));
    close(ends[0]);
    close(ends[1]);
  }
  EXPECT_EQ(bytes[0][0], 2U * 2 * 1024 * 128);
  EXPECT_EQ(bytes[1][0], bytes[0][0] / 2);
  EXPECT_EQ(bytes[0][1], 2 * bytes[0][0]);
  EXPECT_EQ(bytes[1][1], bytes[0][1]);  // fp16 stays as it is
}

TEST(System, LeakageIsThatOfAllUnits) {
  const Shape shape{{4, 4, 64, 200}, {}};
  for (const char* units : {"1", "4"}) {
    in_child(units, [&] {
      const SystemRun run =
          run_system({std::string("system.units=") + units}, shape, {UnitKind::kSampled});
      double milliwatt = 0.0;
      for (const energy::StaticLine& line : run.reports[0].energy.statics) {
        if (line.part == energy::Part::sram_leakage) milliwatt += line.power_mw.mid;
      }
      const double one = default_pack().sram_leakage(512 * 1024).value.mid;
      const double stashes = milliwatt / one;
      check(stashes >= std::stod(units) && stashes < 1.5 * std::stod(units),
            "leakage of " + std::to_string(stashes) + " stashes");
    });
  }
}

TEST(JobSchedule, LongestFirstToTheUnitWithFewestTokens) {
  std::vector<attention::KvHead> caches(6);
  std::vector<Job> jobs(6);
  const std::uint32_t contexts[] = {10, 70, 30, 30, 20, 40};
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    caches[j].context = contexts[j];
    jobs[j].cache = &caches[j];
  }
  // 70 | 40, 30 -> 70 | 70 | then 30 to unit 0 (tie), 20 and 10 to unit 1.
  const std::vector<std::vector<std::uint32_t>> expected = {{1, 3}, {0, 2, 4, 5}};
  EXPECT_EQ(deal_jobs(jobs, 2), expected);
  const auto many = deal_jobs(jobs, 64);
  EXPECT_EQ(many.size(), 64U);
  EXPECT_EQ(std::accumulate(many.begin(), many.end(), std::size_t{0},
                            [](std::size_t sum, const auto& hand) { return sum + hand.size(); }),
            jobs.size());
}

TEST(System, APagedCacheIsItsTiles) {
  const Shape shape{{4, 1, 64, 700}, {}};
  in_child("paged", [&] {
    const config::HardwareConfig hardware = hardware_with({});
    const Workload workload = make_workload(shape, 128, 11);
    const attention::KvHead& whole = *workload.jobs[0].cache;
    attention::KvHead paged = whole;
    paged.keys.clear();
    paged.values.clear();
    for (std::uint32_t t = 0; t < whole.tiles(); ++t) {
      paged.pages.push_back({whole.tile(t), whole.value_row(t * 128)});
    }
    SimulationRequest request;
    request.hardware = &hardware;
    request.energy_pack = &default_pack();
    request.jobs = {workload.jobs[0], workload.jobs[0]};
    request.jobs[1].cache = &paged;
    for (const UnitKind kind : kIntegerKinds) request.units.push_back({kind, shape.options});
    for (const UnitReport& report : simulate(request)) {
      check(report.outputs[0] == report.outputs[1], to_string(report.kind));
      check(!report.outputs[0].empty(), "outputs");
    }
  });
}

TEST(System, RefusesPlacementsThatDoNotFit) {
  const auto message = [](const std::vector<std::string>& changes) -> std::string {
    try {
      hardware_with(changes);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({"system.units=3", "system.placement=per-unit"}),
            "--set: system.placement: got per-unit; allowed: that only where system.units divides "
            "memory.channels; they are 3 and 4");
  EXPECT_EQ(message({"memory.channels=3", "system.placement=keys-values"}),
            "--set: system.placement: got keys-values; allowed: that only with an even "
            "memory.channels, which is 3");
}

}  // namespace
}  // namespace santa::sim
