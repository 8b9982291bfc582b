// Small files for the tests of the readers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"

namespace santa::tensor {

// A folder of its own for each test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Writes `bytes` under `name` and returns the path.
  std::string write(const std::string& name, const std::string& bytes) const;

  // Names of everything in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path folder_;
};

std::string read_file(const std::string& path);

// The bytes of a safetensors file: length, header, data.
std::string safetensors_bytes(const std::string& header, const std::string& data);

// The message of the InputError that `action` throws, with `folder/` cut out of it; a test failure
// if it throws none or the message is not one line.
std::string message_of(const std::function<void()>& action, const TemporaryFolder& folder);

// A tensor of the given values, stored as F32.
Tensor f32_tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                  const std::vector<float>& values);
Tensor i8_tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                 const std::vector<int>& values);

// A trace with one layer (0), 4 query heads, 2 KV heads, head dimension 3 and 5 keys. Element i of
// a tensor, in its default order, is a different small number for every i and role.
struct SmallTrace {
  SmallTrace();
  Tensor& tensor(const std::string& name);
  std::vector<Tensor> tensors;
  Metadata metadata;
};

}  // namespace santa::tensor
