// A regular file that is read at given places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace santa::tensor {

class InputFile {
 public:
  // Opens `path`; `expected` is what messages say it should be, for example "a .npy file". Throws
  // InputError if it cannot be read or is not a regular file.
  InputFile(const std::string& path, const std::string& expected);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The path as messages show it.
  const std::string& place() const { return place_; }
  // Bytes when it was opened.
  std::uint64_t size() const { return size_; }

  // Reads bytes that were in the file when it was opened; `key` names them in messages. Throws
  // InputError if they are gone, cannot be read, or are more than the machine's memory.
  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t bytes,
                              const std::string& key) const;

 private:
  std::string place_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace santa::tensor
