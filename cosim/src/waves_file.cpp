#include "santa/cosim/waves_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cosim {
namespace {

constexpr const char* kAllowed = "a folder to write to, with room for the waveforms";
constexpr std::array<int, 4> kSignals = {SIGBUS, SIGINT, SIGTERM, SIGHUP};

// What the handler needs: memory that nobody moves or frees while it runs.
struct Guarded {
  char partial[4096];
  char hierarchy[4096];  // the writer's own, beside it
  char message[8192];
  std::array<struct sigaction, kSignals.size()> before;
};
Guarded guarded;

void remove_partial() {
  static_cast<void>(::unlink(guarded.partial));
  static_cast<void>(::unlink(guarded.hierarchy));
}

void on_signal(int signal) {
  remove_partial();
  if (signal == SIGBUS) {
    static_cast<void>(!::write(STDERR_FILENO, guarded.message, std::strlen(guarded.message)));
    ::_exit(2);
  }
  static_cast<void>(::signal(signal, SIG_DFL));
  static_cast<void>(::raise(signal));
}

void guard() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &guarded.before[i]);
  }
}

void unguard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &guarded.before[i], nullptr);
  }
}

template <std::size_t kSize>
bool copy(char (&to)[kSize], const std::string& from) {
  if (from.size() >= kSize) return false;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return true;
}

std::uint64_t big_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

// A block is a byte that tells its kind, and its length in bytes, which counts itself but not the
// kind (GTKWave's fstapi.c). The first block is the header, kind 0: start time, end time.
bool is_whole_fst(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return false;
  const auto size = static_cast<std::uint64_t>(file.tellg());
  std::uint64_t place = 0;
  while (place < size) {
    unsigned char block[25] = {};
    const std::streamsize wanted = place == 0 ? 25 : 9;
    file.seekg(static_cast<std::streamoff>(place));
    if (!file.read(reinterpret_cast<char*>(block), wanted)) return false;
    const std::uint64_t length = big_endian(block + 1);
    if (length < 8 || length > size - place - 1) return false;
    if (place == 0 && (block[0] != 0 || big_endian(block + 17) == 0)) return false;
    place += 1 + length;
  }
  return place > 0;
}

WavesFile::WavesFile(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)) {
  const std::filesystem::path whole(path_);
  partial_ = (whole.parent_path() / fmt::format(".{}.{}.partial", whole.filename().string(),
                                                static_cast<long>(::getpid())))
                 .string();
  std::error_code error;
  if (std::filesystem::is_directory(whole, error)) fail(std::strerror(EISDIR));
  if (!copy(guarded.partial, partial_) || !copy(guarded.hierarchy, partial_ + ".hier") ||
      !copy(guarded.message, fmt::format("santasim: {}: {}: the disk is full; allowed: {}\n",
                                         option_, config::in_quotes(path_), kAllowed))) {
    fail(std::strerror(ENAMETOOLONG));
  }
  const int descriptor = ::open(partial_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(std::strerror(errno));
  ::close(descriptor);
  guard();
}

WavesFile::~WavesFile() {
  unguard();
  remove_partial();
}

void WavesFile::commit() {
  if (!is_whole_fst(partial_)) fail("not all of it could be written, the disk is full");
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail(std::strerror(errno));
}

void WavesFile::fail(const std::string& reason) const {
  throw input_error(option_, config::in_quotes(path_), "cannot write: " + reason, kAllowed);
}

}  // namespace santa::cosim
