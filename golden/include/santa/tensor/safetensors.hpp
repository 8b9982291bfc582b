// Files in the safetensors format: 8 bytes header length, a JSON header, then the tensors' bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;  // the format's own limit
inline constexpr std::size_t kMaxDimensions = 32;

using Metadata = std::map<std::string, std::string>;

class InputFile;  // private to the readers

// A safetensors file, open for reading. The constructor reads the header alone and checks all of
// it: sizes against the file before anything of that size is allocated, plain JSON without
// repeated keys, exactly dtype, shape and data_offsets in each entry, data without gap or overlap
// up to the end of the file. Values are read by read().
//
// Every failure is an InputError of one line that names the file, the tensor or key, what was found
// and what is allowed.
class SafetensorsFile {
 public:
  // One tensor of the header. Offsets count from the end of the header, end exclusive.
  struct Entry {
    std::string dtype;  // as the file writes it
    Shape shape;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  // The path as messages show it: control characters escaped.
  const std::string& place() const { return place_; }
  // The map `__metadata__`; empty if the file has none.
  const Metadata& metadata() const { return metadata_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

  // The entry of `name`, or null.
  const Entry* find(const std::string& name) const;

  // The type of a tensor that is there; refuses a type whose values cannot be read.
  DType dtype(const std::string& name) const;

  // Reads one tensor; no check of its values. Also refuses a file that has become shorter, and a
  // tensor that is larger than the machine's memory.
  Tensor read(const std::string& name) const;

 private:
  const Entry& require(const std::string& name) const;

  std::string path_;
  std::string place_;
  std::shared_ptr<const InputFile> file_;
  std::uint64_t data_begin_ = 0;
  Metadata metadata_;
  std::map<std::string, Entry> entries_;
};

// Writes a safetensors file. It appears under its name when it is complete and on the disk; after
// a failure (a full disk, no such folder) nothing is left and an older file is as it was. Tensors
// lie by falling element size, then by name, so that each is aligned to its elements.
// Throws InputError if the file cannot be written, `path` is something else than a regular file,
// two tensors have one name, a tensor is called __metadata__, or a text is not UTF-8.
void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       const Metadata& metadata);

}  // namespace santa::tensor
