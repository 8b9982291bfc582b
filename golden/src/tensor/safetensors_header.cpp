#include "safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "message.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

std::optional<DType> dtype_named(std::string_view name) {
  for (const DType dtype : kDTypes) {
    if (dtype_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

std::string dtype_names() {
  std::string names;
  for (const DType dtype : kDTypes) {
    names += (names.empty() ? "" : ", ") + std::string(dtype_name(dtype));
  }
  return names;
}

// Receives the JSON piece by piece. What may come next is known at every point, so nothing is
// stored that the header does not need, and nesting beyond the three levels of a header is refused
// where it starts.
class HeaderBuilder {
 public:
  HeaderBuilder(const std::string& path, SafetensorsHeader& header)
      : path_(path), header_(header) {}

  bool null() { return unexpected("null"); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return unexpected(std::to_string(value)); }
  bool number_float(double, const std::string& digits) { return unexpected(cut(digits)); }
  bool binary(std::vector<std::uint8_t>&) { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ != Place::kShape && place_ != Place::kOffsets) {
      return unexpected(std::to_string(value));
    }
    const bool is_shape = place_ == Place::kShape;
    if (numbers_.size() == (is_shape ? kMaxAxes : 2)) {
      fail(is_shape ? fmt::format("more than {} axes", kMaxAxes) : "more than two integers");
    }
    numbers_.push_back(value);
    return true;
  }

  bool string(const std::string& value) {
    if (place_ == Place::kMetadata) {
      header_.metadata.emplace(key_, value);
      return true;
    }
    if (place_ != Place::kEntry || key_ != "dtype") return unexpected(in_quotes(value));
    dtype_ = dtype_named(value);
    if (!dtype_) fail(in_quotes(value));
    return true;
  }

  bool start_object(std::size_t) {
    switch (place_) {
      case Place::kStart:
        place_ = Place::kRoot;
        return true;
      case Place::kRoot:
        place_ = name_ == kMetadataKey ? Place::kMetadata : Place::kEntry;
        dtype_.reset();
        shape_.reset();
        offsets_.reset();
        return true;
      default:
        return unexpected("an object");
    }
  }

  bool key(const std::string& key) {
    if (place_ == Place::kRoot) {
      const bool is_metadata = key == kMetadataKey;
      if (is_metadata ? has_metadata_ : header_.tensors.count(key) != 0) {
        throw input_error(shown(path_), is_metadata ? key : tensor_key(key), "is there twice",
                          "once");
      }
      if (is_metadata) has_metadata_ = true;
      name_ = key;
      key_.clear();
      return true;
    }
    key_ = key;
    bool twice = false;
    if (place_ == Place::kMetadata) {
      twice = header_.metadata.count(key) != 0;
    } else if (key == "dtype") {
      twice = dtype_.has_value();
    } else if (key == "shape") {
      twice = shape_.has_value();
    } else if (key == "data_offsets") {
      twice = offsets_.has_value();
    } else {
      throw input_error(shown(path_), tensor_key(name_), "unknown key " + in_quotes(key),
                        "dtype, shape, data_offsets");
    }
    if (twice) throw input_error(shown(path_), where(), "is there twice", "once");
    return true;
  }

  bool end_object() {
    if (place_ == Place::kEntry) finish_entry();
    place_ = place_ == Place::kRoot ? Place::kEnd : Place::kRoot;
    key_.clear();
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::kEntry || (key_ != "shape" && key_ != "data_offsets")) {
      return unexpected("a list");
    }
    place_ = key_ == "shape" ? Place::kShape : Place::kOffsets;
    numbers_.clear();
    return true;
  }

  bool end_array() {
    if (place_ == Place::kOffsets && numbers_.size() != 2) {
      fail(fmt::format("{} integers", numbers_.size()));
    }
    (place_ == Place::kShape ? shape_ : offsets_) = numbers_;
    place_ = Place::kEntry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    throw input_error(shown(path_), "header",
                      fmt::format("is not JSON from its byte {} on", position), "a JSON object");
  }

 private:
  enum class Place { kStart, kRoot, kMetadata, kEntry, kShape, kOffsets, kEnd };

  static std::string cut(const std::string& digits) {
    constexpr std::size_t kShown = 40;
    return digits.size() > kShown ? digits.substr(0, kShown) + "..." : digits;
  }

  // The key that a message is about.
  std::string where() const {
    if (place_ == Place::kStart || place_ == Place::kEnd) return "header";
    if (place_ == Place::kMetadata) return "__metadata__: " + in_quotes(key_);
    if (name_ == kMetadataKey) return name_;
    return tensor_key(name_) + (key_.empty() ? "" : ": " + key_);
  }

  std::string allowed() const {
    switch (place_) {
      case Place::kMetadata:
        return "a string";
      case Place::kEntry:
        if (key_ == "dtype") return dtype_names();
        return key_ == "shape" ? "a list of integers from 0" : "two integers from 0";
      case Place::kShape:
        return fmt::format("up to {} integers from 0 to 2^64 - 1", kMaxAxes);
      case Place::kOffsets:
        return "two integers from 0 to 2^64 - 1";
      default:
        return name_ == kMetadataKey ? "an object of strings" : "an object";
    }
  }

  [[noreturn]] void fail(const std::string& found) const {
    throw input_error(shown(path_), where(), "got " + found, allowed());
  }

  // Returns a bool, like the callbacks that end with it.
  [[noreturn]] bool unexpected(const std::string& found) const { fail(found); }

  void finish_entry() {
    for (const auto& [name, present] :
         {std::pair{"dtype", dtype_.has_value()}, std::pair{"shape", shape_.has_value()},
          std::pair{"data_offsets", offsets_.has_value()}}) {
      if (!present) {
        throw input_error(shown(path_), tensor_key(name_), std::string(name) + " is missing",
                          "dtype, shape, data_offsets");
      }
    }
    header_.tensors.emplace(name_, TensorInfo{*dtype_, *shape_, (*offsets_)[0], (*offsets_)[1]});
  }

  const std::string& path_;
  SafetensorsHeader& header_;
  Place place_ = Place::kStart;
  std::string name_;  // of the tensor, or __metadata__
  std::string key_;   // inside it; empty at its start
  bool has_metadata_ = false;
  std::vector<std::uint64_t> numbers_;
  std::optional<DType> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
};

void check_size(const std::string& path, const std::string& name, const TensorInfo& info,
                std::uint64_t data_size) {
  const std::string key = tensor_key(name);
  const std::string shape = shape_text(info.shape);
  std::uint64_t size = element_size(info.dtype);
  bool overflow = false;
  for (const std::uint64_t extent : info.shape) {
    overflow = overflow || __builtin_mul_overflow(size, extent, &size);
  }
  if (overflow) {
    throw input_error(shown(path), key + ": shape", "got " + shape, "a size below 2^64 bytes");
  }
  const std::string offsets = fmt::format("got [{}, {}]", info.begin, info.end);
  if (info.begin > info.end) {
    throw input_error(shown(path), key + ": data_offsets", offsets, "begin <= end");
  }
  if (info.end > data_size) {
    throw input_error(shown(path), key + ": data_offsets", offsets,
                      fmt::format("0..{}, the bytes behind the header", data_size));
  }
  if (info.end - info.begin != size) {
    throw input_error(
        shown(path), key + ": data_offsets", offsets,
        fmt::format("{} bytes, for {} of shape {}", size, dtype_name(info.dtype), shape));
  }
}

// Every byte behind the header belongs to exactly one tensor.
void check_layout(const std::string& path, const TensorDirectory& tensors,
                  std::uint64_t data_size) {
  std::vector<const TensorDirectory::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  for (const auto* entry : order) {
    const auto& [name, info] = *entry;
    if (info.begin != covered) {
      throw input_error(shown(path), tensor_key(name) + ": data_offsets",
                        fmt::format("got [{}, {}], {} before", info.begin, info.end,
                                    info.begin < covered ? "an overlap with the tensor"
                                                         : "a gap of unused bytes"),
                        fmt::format("a begin at {}", covered));
    }
    covered = info.end;
  }
  if (covered != data_size) {
    throw input_error(shown(path), "", fmt::format("{} bytes behind the header", data_size),
                      fmt::format("{}, where the last tensor ends", covered));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text,
                                           std::uint64_t data_size) {
  // The JSON library takes a zero byte for the end of the text and skips a byte order mark.
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    throw input_error(shown(path), "header", fmt::format("a zero byte at its byte {}", zero),
                      "a JSON object");
  }
  if (text.empty() || text[0] != '{') {
    throw input_error(shown(path), "header",
                      "got " + in_quotes(text.substr(0, 8)) + " at its start",
                      "a JSON object that starts with {");
  }
  SafetensorsHeader header;
  HeaderBuilder builder(path, header);
  nlohmann::json::sax_parse(text, &builder);
  for (const auto& [name, info] : header.tensors) check_size(path, name, info, data_size);
  check_layout(path, header.tensors, data_size);
  return header;
}

}  // namespace santa::tensor
