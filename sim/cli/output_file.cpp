#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1U << 20;
constexpr mode_t kNewFileMode = 0666;  // less the process's mask
constexpr const char* kAllowedOutput =
    "a file in an existing, writable folder with room for the result";

InputError write_error(const std::string& option, const std::string& path, int error) {
  return input_error(option, config::in_quotes(path),
                     std::string("cannot write: ") + std::strerror(error), kAllowedOutput);
}

// The file that a path leads to. Of a dangling link, the place it points to.
std::string resolved(const std::string& path) {
  std::error_code error;
  fs::path result(path);
  for (int depth = 0; depth < 40 && fs::is_symlink(result, error); ++depth) {
    const fs::path target = fs::read_symlink(result, error);
    if (error) break;
    result = target.is_absolute() ? target : result.parent_path() / target;
  }
  return result.string();
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// True for a device, pipe or socket. Throws for a folder.
bool is_direct(const std::string& option, const std::string& path) {
  struct stat status {};
  if (path.empty()) throw write_error(option, path, ENOENT);
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw write_error(option, path, errno);
    if (path.back() == '/') throw write_error(option, path, EISDIR);
    return false;
  }
  if (S_ISDIR(status.st_mode)) throw write_error(option, path, EISDIR);
  return !S_ISREG(status.st_mode);
}

// Where the kernel and the file system can, a file without a name: a process that is killed then
// leaves nothing at all.
int open_nameless(const std::string& folder) {
  return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFileMode);
}

std::string temporary_name(const std::string& path, int attempt) {
  const std::size_t slash = path.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{}-{}.partial", path.substr(0, start), path.substr(start), ::getpid(),
                     attempt);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat status_a {};
  struct stat status_b {};
  const bool have_a = ::stat(a.c_str(), &status_a) == 0;
  const bool have_b = ::stat(b.c_str(), &status_b) == 0;
  if (have_a && have_b) {
    return S_ISREG(status_a.st_mode) && status_a.st_dev == status_b.st_dev &&
           status_a.st_ino == status_b.st_ino;
  }
  if (have_a != have_b) return false;
  // Absolute first: of a path with no existing part, weakly_canonical leaves the spelling alone.
  const auto normal = [](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(fs::absolute(resolved(path)), error);
  };
  return normal(a) == normal(b);
}

}  // namespace

void SignalHold::hold() {
  if (held_) return;
  sigset_t polite;
  ::sigemptyset(&polite);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&polite, signal);
  held_ = ::pthread_sigmask(SIG_BLOCK, &polite, &before_) == 0;
}

void SignalHold::release() {
  if (held_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  held_ = false;
}

void OutputFile::check(const std::string& option, const std::string& path) {
  if (is_direct(option, path)) {
    if (::access(path.c_str(), W_OK) != 0) throw write_error(option, path, errno);
    return;
  }
  const OutputFile probe(option, path);
}

OutputFile::OutputFile(std::string option, const std::string& path)
    : option_(std::move(option)), shown_path_(path), path_(resolved(path)) {
  direct_ = is_direct(option_, path);
  if (direct_) {
    // The path as given: /dev/stdout and /dev/fd/3 are links that only the kernel can follow.
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  descriptor_ = open_nameless(folder_of(path_));
  if (descriptor_ < 0) signals_.hold();
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(path_, attempt);
    descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFileMode);
    if (descriptor_ < 0 && errno != EEXIST) {
      temporary_.clear();
      fail(errno);
    }
  }
  // A file that is replaced keeps its permissions.
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) {
    if (::access(path_.c_str(), W_OK) != 0) {
      const int error = errno;
      discard();
      fail(error);
    }
    static_cast<void>(::fchmod(descriptor_, status.st_mode & 07777));
  }
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    done += static_cast<std::size_t>(count);
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (direct_) {
    const int result = ::close(std::exchange(descriptor_, -1));
    if (result != 0) fail(errno);
    return;
  }
  if (::fsync(descriptor_) != 0) fail(errno);
  if (temporary_.empty()) {
    signals_.hold();
    const std::string source = fmt::format("/proc/self/fd/{}", descriptor_);
    // A new file gets its name at once: no moment in which a kill would leave another name behind.
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
      signals_.release();
      return;
    }
    if (errno != EEXIST) fail(errno);
    // Only rename() replaces an existing file, so the nameless file gets a name first.
    for (int attempt = 0;; ++attempt) {
      const std::string name = temporary_name(path_, attempt);
      if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = name;
        break;
      }
      if (errno != EEXIST) fail(errno);
    }
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_.clear();
  signals_.release();
}

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw write_error(option_, shown_path_, error);
}

void require_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    for (const NamedPath& input : inputs) {
      if (same_file(output.path, input.path)) {
        throw input_error(output.option, config::in_quotes(output.path),
                          "is the input file of " + input.option, "another file");
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same_file(output.path, outputs[j].path)) {
        throw input_error(output.option, config::in_quotes(output.path),
                          "is the output file of " + outputs[j].option, "another file");
      }
    }
  }
}

void write_standard_output(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (errno == EPIPE) return;
  throw input_error("standard output", "", std::string("cannot write: ") + std::strerror(errno),
                    "an open file, pipe or terminal with room for the result");
}

void reserve_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free number is the closed stream's own. Read-only, so that writing fails; errors
    // have nowhere else to go.
    const int mode = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) std::abort();
  }
}

}  // namespace santa::cli
