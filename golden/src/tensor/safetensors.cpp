#include "santa/tensor/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "input_file.hpp"
#include "message_place.hpp"
#include "safetensors_header.hpp"

namespace santa::tensor {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMinHeaderBytes = 2;  // {}

std::vector<std::byte> read_header(const InputFile& file) {
  if (file.size() < kLengthBytes + kMinHeaderBytes) {
    throw input_error(file.place(), "", fmt::format("{} bytes", file.size()),
                      "a safetensors file, at least 10 bytes");
  }
  const std::vector<std::byte> prefix = file.read(0, kLengthBytes, "header length");
  std::uint64_t length = 0;
  std::memcpy(&length, prefix.data(), sizeof length);
  const std::uint64_t limit = std::min(file.size() - kLengthBytes, kMaxSafetensorsHeaderBytes);
  if (length < kMinHeaderBytes || length > limit) {
    throw input_error(file.place(), "header length", fmt::format("got {} bytes", length),
                      fmt::format("{} to {}", kMinHeaderBytes, limit));
  }
  return file.read(kLengthBytes, length, "header");
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path), file_(std::make_shared<InputFile>(path, "a safetensors file")) {
  place_ = file_->place();
  const std::vector<std::byte> text = read_header(*file_);
  data_begin_ = kLengthBytes + text.size();
  SafetensorsHeader header = parse_safetensors_header(place_, text, file_->size() - data_begin_);
  metadata_ = std::move(header.metadata);
  entries_ = std::move(header.entries);
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

const SafetensorsFile::Entry& SafetensorsFile::require(const std::string& name) const {
  const Entry* entry = find(name);
  if (entry == nullptr) {
    throw input_error(place_, tensor_key(name), "is missing",
                      fmt::format("one of the {} tensors in the file", entries_.size()));
  }
  return *entry;
}

DType SafetensorsFile::dtype(const std::string& name) const {
  const Entry& entry = require(name);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
    if (entry.dtype == dtype_name(dtype)) return dtype;
  }
  throw input_error(place_, tensor_key(name) + ": dtype", got(entry.dtype), kReadableDTypes);
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const Entry& entry = require(name);
  return Tensor(place_, name, dtype(name), entry.shape,
                file_->read(data_begin_ + entry.begin, entry.end - entry.begin, tensor_key(name)));
}

}  // namespace santa::tensor
