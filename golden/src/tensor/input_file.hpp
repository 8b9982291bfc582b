// A regular file open for reading at any position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace santa::tensor {

class InputFile {
 public:
  // Throws InputError if `path` cannot be opened or is not a regular file (a folder, a FIFO, a
  // device). Never waits, not even for the writer of a FIFO.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Bytes, when it was opened.
  std::uint64_t size() const { return size_; }

  // Reads exactly `count` bytes from `offset` on. Throws InputError if they are not there.
  void read(std::uint64_t offset, void* to, std::uint64_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// `size` bytes for the tensor `name` of the file `path`. Throws InputError if the machine has less
// memory: a sparse file can be as large as it states and still be no tensor to hold.
std::vector<std::uint8_t> allocate(const std::string& path, const std::string& name,
                                   std::uint64_t size);

}  // namespace santa::tensor
