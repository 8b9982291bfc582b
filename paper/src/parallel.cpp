#include "santa/paper/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace santa::paper {

void for_each(std::size_t count, const Execution& execution,
              const std::function<void(std::size_t)>& work) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::size_t running = std::min<std::size_t>(execution.jobs, count);
  std::exception_ptr failure;
  const auto worker = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      ++done;
      changed.notify_one();
    }
    const std::lock_guard<std::mutex> lock(mutex);
    --running;
    changed.notify_one();
  };
  std::vector<std::thread> threads;
  for (std::size_t t = running; t > 0; --t) threads.emplace_back(worker);
  {
    std::unique_lock<std::mutex> lock(mutex);
    while (running > 0) {
      execution.progress(static_cast<double>(done) / static_cast<double>(count));
      changed.wait_for(lock, kInterval);
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace santa::paper
