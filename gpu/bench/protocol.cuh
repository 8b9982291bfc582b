// How time and energy of a step are measured.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "device.cuh"
#include "nvml.hpp"
#include "santa/gpu/bench/results.hpp"

namespace santa::gpu::bench {

constexpr std::size_t kFlushBytes = std::size_t{512} << 20;  // several times any level 2 cache

class Protocol {
 public:
  explicit Protocol(int runs) : runs_(runs), flush_(kFlushBytes) {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Protocol() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;

  // Of single launches, each with a cold cache.
  template <typename Launch>
  Times time(const Launch& launch) {
    std::vector<float> times;
    for (int run = -kWarmUp; run < runs_; ++run) {
      check(cudaMemsetAsync(flush_.get(), run & 0xff, kFlushBytes));
      check(cudaEventRecord(begin_));
      launch();
      check(cudaEventRecord(end_));
      check(cudaEventSynchronize(end_));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin_, end_));
      if (run >= 0) times.push_back(1000 * ms);
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
      return static_cast<double>(times[static_cast<std::size_t>(share * (times.size() - 1) + 0.5)]);
    };
    return {at(0.5), at(0.05), at(0.95)};
  }

  // Of `launch(step)`, launched without pause for kSeconds after kSettleSeconds. Mean power is
  // taken between two moves of the board's counter, so that its coarse steps do not matter; the
  // energy of a step is that power times the mean time of a step. Empty where the board has no
  // counter.
  template <typename Launch>
  std::optional<Energy> energy(const Nvml& nvml, const Launch& launch) {
    if (!nvml.energy_mj()) return std::nullopt;
    CounterWatch watch(nvml);
    std::int64_t steps = 0;
    // The host stays at most two groups of steps ahead.
    cudaEvent_t events[2] = {begin_, end_};
    const auto run_for = [&](double duration_s) {
      const std::int64_t before = steps;
      const Clock::time_point start = Clock::now();
      for (int group = 0; seconds(Clock::now() - start) < duration_s; ++group) {
        cudaEvent_t event = events[group % 2];
        if (group >= 2) check(cudaEventSynchronize(event));
        for (int i = 0; i < kGroupSteps; ++i) launch(steps++);
        check(cudaEventRecord(event));
      }
      check(cudaDeviceSynchronize());
      return seconds(Clock::now() - start) / static_cast<double>(steps - before);
    };
    run_for(kSettleSeconds);
    const Clock::time_point settled = Clock::now();
    const double step_s = run_for(kSeconds);
    const auto [first, last] = watch.between(settled, Clock::now());
    if (seconds(last.at - first.at) < kSeconds / 2) return std::nullopt;
    Energy result;
    result.seconds = seconds(last.at - first.at);
    result.mean_w = (last.energy_mj - first.energy_mj) / 1000 / result.seconds;
    result.step_us = 1e6 * step_s;
    result.step_mj = 1000 * result.mean_w * step_s;
    return result;
  }

  // Power of the board without work, by the same counter.
  static std::optional<double> idle_w(const Nvml& nvml) {
    if (!nvml.energy_mj()) return std::nullopt;
    check(cudaDeviceSynchronize());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    CounterWatch watch(nvml);
    const Clock::time_point start = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
    const auto [first, last] = watch.between(start, Clock::now());
    if (seconds(last.at - first.at) < kSeconds / 2) return std::nullopt;
    return (last.energy_mj - first.energy_mj) / 1000 / seconds(last.at - first.at);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  // The moves of the counter, by a thread of its own: a question takes milliseconds.
  class CounterWatch {
   public:
    struct Mark {
      double energy_mj = 0;
      Clock::time_point at;
    };

    explicit CounterWatch(const Nvml& nvml) : thread_([this, &nvml] { watch(nvml); }) {}
    ~CounterWatch() { stop(); }
    CounterWatch(const CounterWatch&) = delete;
    CounterWatch& operator=(const CounterWatch&) = delete;

    // The first and the last move within these times; equal where there were fewer than two.
    std::pair<Mark, Mark> between(Clock::time_point from, Clock::time_point to) {
      stop();
      std::pair<Mark, Mark> ends;
      bool any = false;
      for (const Mark& mark : marks_) {
        if (mark.at < from || mark.at > to) continue;
        if (!any) ends.first = mark;
        ends.second = mark;
        any = true;
      }
      return ends;
    }

   private:
    void watch(const Nvml& nvml) {
      double seen = nvml.energy_mj().value_or(0);
      while (!stopped_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const double energy = nvml.energy_mj().value_or(seen);
        if (energy == seen) continue;
        seen = energy;
        marks_.push_back({energy, Clock::now()});
      }
    }
    void stop() {
      stopped_ = true;
      if (thread_.joinable()) thread_.join();
    }

    std::vector<Mark> marks_;
    std::atomic<bool> stopped_{false};
    std::thread thread_;  // last: it uses the others
  };

  static constexpr int kWarmUp = 10;
  static constexpr double kSettleSeconds = 0.5;
  static constexpr double kSeconds = 1.4;
  static constexpr int kGroupSteps = 16;

  int runs_;
  DeviceMemory flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace santa::gpu::bench
