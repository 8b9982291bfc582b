#include "input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

// Linux moves at most about 2 GB a call.
constexpr std::uint64_t kMaxReadBytes = 1U << 30;

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::byte> allocate(const std::string& place, const std::string& key,
                                std::uint64_t bytes) {
  // A sparse file can be larger than memory, and the system grants more than there is.
  if (bytes <= memory_bytes()) {
    try {
      return std::vector<std::byte>(bytes);
    } catch (const std::bad_alloc&) {
      throw input_error(place, key, fmt::format("needs {} bytes", bytes),
                        "what fits into the memory that is free");
    }
  }
  throw input_error(place, key, fmt::format("needs {} bytes", bytes),
                    fmt::format("at most {}, this machine's memory", memory_bytes()));
}

}  // namespace

InputFile::InputFile(const std::string& path, const std::string& expected)
    : place_(config::escaped(path)) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) {
    throw input_error(place_, "", std::string("cannot be opened: ") + std::strerror(errno),
                      expected);
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw input_error(place_, "", "is a folder, a pipe or a device", expected);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::vector<std::byte> InputFile::read(std::uint64_t offset, std::uint64_t bytes,
                                       const std::string& key) const {
  std::vector<std::byte> data = allocate(place_, key, bytes);
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t count =
        ::pread(descriptor_, data.data() + done, std::min(bytes - done, kMaxReadBytes),
                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw input_error(place_, key, std::string("cannot be read: ") + std::strerror(errno),
                        "a readable file");
    }
    if (count == 0) {
      throw input_error(place_, key, fmt::format("the file ends at byte {}", offset + done),
                        fmt::format("a file that keeps its {} bytes while it is read", size_));
    }
    done += static_cast<std::uint64_t>(count);
  }
  return data;
}

}  // namespace santa::tensor
