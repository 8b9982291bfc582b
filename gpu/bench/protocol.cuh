// How time and energy of a step are measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
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
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
    struct Mark {
      double energy_mj;
      Clock::time_point at;
    };
    std::optional<Mark> first, last;
    std::int64_t steps = 0, settled_steps = 0;
    const Clock::time_point start = Clock::now();
    Clock::time_point settled = start;
    double seen = *nvml.energy_mj();
    bool settling = true;
    // The host stays at most two groups of steps ahead.
    cudaEvent_t events[2] = {begin_, end_};
    for (int group = 0;; ++group) {
      cudaEvent_t event = events[group % 2];
      if (group >= 2) check(cudaEventSynchronize(event));
      const Clock::time_point now = Clock::now();
      if (settling && seconds(now - start) > kSettleSeconds) {
        settling = false;
        settled = now;
        settled_steps = steps;
        seen = nvml.energy_mj().value_or(seen);
      } else if (!settling) {
        const double energy = nvml.energy_mj().value_or(seen);
        if (energy != seen) {
          seen = energy;
          last = Mark{energy, now};
          if (!first) first = last;
        }
        if (first && seconds(last->at - first->at) > kSeconds) break;
        if (seconds(now - settled) > 5 * kSeconds) break;  // a counter that stands still
      }
      for (int i = 0; i < kGroupSteps; ++i) launch(steps++);
      check(cudaEventRecord(event));
    }
    check(cudaDeviceSynchronize());
    const double step_s =
        seconds(Clock::now() - settled) / static_cast<double>(steps - settled_steps);
    if (!first || last->at == first->at) return std::nullopt;
    Energy result;
    result.seconds = seconds(last->at - first->at);
    result.mean_w = (last->energy_mj - first->energy_mj) / 1000 / result.seconds;
    result.step_us = 1e6 * step_s;
    result.step_mj = 1000 * result.mean_w * step_s;
    return result;
  }

  // Power of the board without work, by the same counter.
  static std::optional<double> idle_w(const Nvml& nvml) {
    using Clock = std::chrono::steady_clock;
    check(cudaDeviceSynchronize());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto next_move = [&]() -> std::optional<std::pair<double, Clock::time_point>> {
      const std::optional<double> before = nvml.energy_mj();
      const Clock::time_point start = Clock::now();
      while (before && Clock::now() - start < std::chrono::seconds(1)) {
        const std::optional<double> now = nvml.energy_mj();
        if (now && *now != *before) return std::make_pair(*now, Clock::now());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return std::nullopt;
    };
    const auto first = next_move();
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    const auto last = next_move();
    if (!first || !last) return std::nullopt;
    return (last->first - first->first) / 1000 /
           std::chrono::duration<double>(last->second - first->second).count();
  }

 private:
  static constexpr int kWarmUp = 10;
  static constexpr double kSettleSeconds = 0.5;
  static constexpr double kSeconds = 1.2;
  static constexpr int kGroupSteps = 16;

  int runs_;
  DeviceMemory flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace santa::gpu::bench
