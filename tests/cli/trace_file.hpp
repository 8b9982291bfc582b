// Small trace and .npy files for tests, written here byte by byte so that they can also be wrong.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace santa::test {

struct FileTensor {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

std::string float_bytes(const std::vector<float>& values);
FileTensor float_tensor(std::vector<std::uint64_t> shape, const std::vector<float>& values);

// A safetensors trace in parts that a test may change before it takes the bytes.
struct TraceParts {
  std::map<std::string, std::string> metadata;
  std::map<std::string, FileTensor> tensors;
  std::string bytes() const;
};

// 4 query heads over 2 KV heads of 16 features, 100 tokens, the layers of that number.
TraceParts small_trace(const std::vector<std::uint32_t>& layers = {0});

// A version 1.0 .npy file.
std::string npy_bytes(const std::string& descr, const std::vector<std::uint64_t>& shape,
                      const std::string& data);

}  // namespace santa::test
