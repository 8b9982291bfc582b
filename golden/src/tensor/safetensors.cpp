#include "santa/tensor/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input_file.hpp"
#include "message.hpp"
#include "safetensors_header.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

constexpr std::uint64_t kPrefixBytes = 8;

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path), file_(std::make_unique<InputFile>(path)) {
  const std::uint64_t size = file_->size();
  if (size < kPrefixBytes + 2) {
    throw input_error(shown(path), "", fmt::format("{} bytes", size),
                      "a safetensors file, of 10 bytes or more");
  }
  std::uint64_t header_size = 0;
  file_->read(0, &header_size, kPrefixBytes);
  const std::uint64_t limit = std::min(kMaxHeaderBytes, size - kPrefixBytes);
  if (header_size < 2 || header_size > limit) {
    throw input_error(
        shown(path), "header length", fmt::format("got {}", header_size),
        fmt::format("2..{}{}", limit,
                    limit < kMaxHeaderBytes ? ", the bytes behind it in the file" : ""));
  }
  std::string text(header_size, '\0');
  file_->read(kPrefixBytes, text.data(), header_size);
  data_start_ = kPrefixBytes + header_size;
  SafetensorsHeader header = parse_safetensors_header(path, text, size - data_start_);
  metadata_ = std::move(header.metadata);
  tensors_ = std::move(header.tensors);
}

SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Tensor SafetensorsFile::read(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (info == nullptr) throw input_error(shown(path_), tensor_key(name), "is missing", "");
  Tensor tensor;
  tensor.name = name;
  tensor.dtype = info->dtype;
  tensor.shape = info->shape;
  tensor.bytes = allocate(path_, tensor.name, info->end - info->begin);
  file_->read(data_start_ + info->begin, tensor.bytes.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace santa::tensor
