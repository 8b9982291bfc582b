#include "support.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "santa/error.hpp"

namespace santa::tensor {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "santa_tensor_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& bytes) const {
  // Some file systems flush a file that is cut to nothing and written anew; a new one is fast.
  std::filesystem::remove(path(name));
  std::ofstream stream(path(name), std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + path(name));
  return path(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    result.push_back(entry.path().filename().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string prefix(sizeof(size), '\0');
  std::memcpy(prefix.data(), &size, sizeof(size));
  return prefix + header + data;
}

std::string message_of(const std::function<void()>& action, const TemporaryFolder& folder) {
  std::string message;
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
    return "";
  } catch (const InputError& error) {
    message = error.what();
  }
  const bool plain =
      std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  EXPECT_TRUE(plain && !message.empty()) << message;
  const std::string prefix = folder.path("");
  for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
    message.erase(at, prefix.size());
  }
  return message;
}

Tensor f32_tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                  const std::vector<float>& values) {
  Tensor tensor{name, DType::kF32, shape, {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

Tensor i8_tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                 const std::vector<int>& values) {
  Tensor tensor{name, DType::kI8, shape, {}};
  for (const int value : values) tensor.bytes.push_back(static_cast<std::uint8_t>(value & 255));
  return tensor;
}

SmallTrace::SmallTrace() {
  const auto numbers = [](std::size_t count, float first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + 0.25F * static_cast<float>(i);
    return values;
  };
  tensors = {f32_tensor("layers.0.query", {4, 3}, numbers(12, -1.0F)),
             f32_tensor("layers.0.key", {2, 5, 3}, numbers(30, 100.0F)),
             f32_tensor("layers.0.value", {2, 5, 3}, numbers(30, 200.0F))};
  metadata = {{"format", "santasim-trace"}, {"format_version", "1"},
              {"kind", "synthetic"},        {"model", "none"},
              {"model_licence", "MIT"},     {"text", "none"},
              {"text_licence", "MIT"},      {"layers", "0"},
              {"query_heads", "4"},         {"kv_heads", "2"},
              {"head_dimension", "3"},      {"context_length", "5"},
              {"decode_position", "4"},     {"softmax_scale", "0.5"},
              {"rotary", "applied"}};
}

Tensor& SmallTrace::tensor(const std::string& name) {
  for (Tensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::out_of_range(name);
}

}  // namespace santa::tensor
