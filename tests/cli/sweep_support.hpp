// Sweeps as a user starts them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "program.hpp"

namespace santa::test {

// A sweep of `seeds` times two points that take milliseconds.
std::string small_sweep(int seeds);

std::vector<std::string> sweep_words(const std::string& spec, const std::string& folder,
                                     const std::vector<std::string>& more = {});

// Bytes of every file below a folder, by its name from there.
std::map<std::string, std::string> folder_contents(const std::string& folder);

// Time and inode of every point that is there: neither changes unless the file is written again.
std::map<std::string, std::string> point_identities(const std::string& folder);

// Waits until the folder holds that many points. False if the process ends before.
bool wait_for_points(const std::string& folder, std::size_t points, pid_t process);

// How a process ended: its exit code, or the signal's number below 0.
int end_of(pid_t process);

}  // namespace santa::test
