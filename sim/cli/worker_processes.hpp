// Work in processes of their own: SystemC elaborates once in a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace santa::cli {

// Calls `task(i)` for i = 0..count-1, each in a process forked from this one, at most `processes`
// at a time, and returns what they return. `finished` is called here with the number of tasks that
// have ended. The first task that fails ends the others; its InputError or VerificationError is
// thrown here, any other end of a process as std::runtime_error.
std::vector<std::vector<double>> run_in_processes(
    std::size_t count, std::size_t processes,
    const std::function<std::vector<double>(std::size_t)>& task,
    const std::function<void(std::size_t)>& finished);

}  // namespace santa::cli
