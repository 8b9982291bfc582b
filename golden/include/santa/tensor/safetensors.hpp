// Files in the safetensors format: reader that trusts nothing, writer that leaves no partial file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

// Longest JSON header that the reader accepts, in bytes.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
// Most axes of one tensor.
inline constexpr std::size_t kMaxAxes = 32;

// What the header states of one tensor.
struct TensorInfo {
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // bytes from the end of the header; [begin, end) lies in the file
  std::uint64_t end = 0;    // end - begin = product of the shape * element size
};

using TensorDirectory = std::map<std::string, TensorInfo, std::less<>>;
using Metadata = std::map<std::string, std::string, std::less<>>;

class InputFile;

// An open file. The constructor reads and checks the header alone; every size is compared with the
// size of the file before memory is taken. Every failure is an InputError of one line that names
// the file, the tensor or key, what was found and what is allowed.
class SafetensorsFile {
 public:
  // Refused: anything but a regular file; a header length beyond kMaxHeaderBytes or the file; a
  // header that is not one JSON object of `__metadata__` (strings only) and tensors, or that names
  // a key twice; an entry that is not exactly dtype, shape and data_offsets; dtypes other than
  // DType's; sizes that overflow or disagree with the offsets; tensors that overlap, leave bytes
  // unused or reach past the end.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  const TensorDirectory& tensors() const { return tensors_; }

  // The entry of `name`, or null.
  const TensorInfo* find(std::string_view name) const;

  // Reads one tensor. Throws InputError if there is none of this name, or if the file has become
  // shorter or cannot be read.
  Tensor read(std::string_view name) const;

 private:
  std::string path_;
  std::unique_ptr<InputFile> file_;
  std::uint64_t data_start_ = 0;
  Metadata metadata_;
  TensorDirectory tensors_;
};

// Writes `tensors` and `metadata` as one file, tensors of wide elements first and then by name, so
// that each is aligned; the same arguments give the same bytes. The file appears under `path`
// complete or not at all: it is written under a temporary name in the same folder, flushed to the
// disk and renamed; an older file stays as it was until then.
// Throws InputError if it cannot be written or `path` is something other than a regular file,
// std::invalid_argument if a tensor's bytes do not fit its shape, a name occurs twice or is
// "__metadata__", or a text is not UTF-8.
void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       const Metadata& metadata);

}  // namespace santa::tensor
