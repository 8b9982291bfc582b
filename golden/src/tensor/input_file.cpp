#include "input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "message.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

InputError system_failure(const std::string& path, const std::string& action, int number) {
  return input_error(shown(path), "",
                     "cannot " + action + ": " + std::generic_category().message(number),
                     "a readable regular file");
}

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode)) return "is a FIFO";
  return "is a device";
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // A name with a zero byte would be opened up to that byte: another file.
  if (path.find('\0') != std::string::npos) {
    throw input_error(shown(path), "", "the name holds a zero byte", "the name of a file");
  }
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) throw system_failure(path, "open", errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int number = errno;
    ::close(descriptor_);
    throw system_failure(path, "examine", number);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw input_error(shown(path), "", kind_name(status.st_mode), "a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read(std::uint64_t offset, void* to, std::uint64_t count) const {
  auto* next = static_cast<char*>(to);
  while (count > 0) {
    constexpr std::uint64_t kChunk = 1U << 30;  // Linux reads less than 2^31 bytes in one call
    const ssize_t got =
        ::pread(descriptor_, next, std::min(count, kChunk), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_failure(path_, "read", errno);
    if (got == 0) {
      throw input_error(shown(path_), "", fmt::format("has no byte {} any more", offset),
                        fmt::format("{} bytes as when it was opened", size_));
    }
    const auto advanced = static_cast<std::uint64_t>(got);
    next += advanced;
    offset += advanced;
    count -= advanced;
  }
}

std::vector<std::uint8_t> allocate(const std::string& path, const std::string& name,
                                   std::uint64_t size) {
  try {
    return std::vector<std::uint8_t>(size);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw input_error(shown(path), tensor_key(name), fmt::format("{} bytes", size),
                    "what the memory of this machine holds");
}

}  // namespace santa::tensor
