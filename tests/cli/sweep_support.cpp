#include "sweep_support.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace santa::test {

namespace fs = std::filesystem;

std::string small_sweep(int seeds) {
  std::string list;
  for (int seed = 1; seed <= seeds; ++seed) list += (seed == 1 ? "" : ", ") + std::to_string(seed);
  return fmt::format(
      "name: small\n"
      "fixed: {{config: tiny-test, synthetic: gaussian, query-heads: 2, kv-heads: 1,\n"
      "        head-dimension: 8, context: 16, no-baselines: true}}\n"
      "grid: {{seed: [{}], samples: [4, 16]}}\n",
      list);
}

std::vector<std::string> sweep_words(const std::string& spec, const std::string& folder,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> words = {"sweep", spec, "--out", folder};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::map<std::string, std::string> folder_contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    contents[fs::relative(entry.path(), folder).string()] = read_file(entry.path().string());
  }
  return contents;
}

std::map<std::string, std::string> point_identities(const std::string& folder) {
  std::map<std::string, std::string> identities;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "points")) {
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) != 0) continue;
    identities[entry.path().filename().string()] =
        fmt::format("{} {}.{}", status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return identities;
}

bool wait_for_points(const std::string& folder, std::size_t points, pid_t process) {
  for (;;) {
    std::error_code error;
    std::size_t found = 0;
    for (auto entry = fs::directory_iterator(fs::path(folder) / "points", error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      ++found;
    }
    if (found >= points) return true;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == process) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

int end_of(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace santa::test
