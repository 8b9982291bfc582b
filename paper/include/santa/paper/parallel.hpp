// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace santa::paper {

// Called with the fraction done, from 0 to 1, now and then, by the caller's own thread.
using ProgressCallback = std::function<void(double)>;

// How a measurement runs: nothing of it changes a result.
struct Execution {
  unsigned jobs = 1;  // threads, at least 1
  ProgressCallback progress = [](double) {};
};

// Calls work(0) ... work(count - 1), each once, `execution.jobs` at a time and in any order. The
// first exception of a piece is thrown again once all threads have ended.
void for_each(std::size_t count, const Execution& execution,
              const std::function<void(std::size_t)>& work);

}  // namespace santa::paper
