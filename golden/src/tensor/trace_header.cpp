#include "trace_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "message.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

std::string metadata_key(std::string_view key) {
  return "metadata " + shown(key);
}

const std::string* find_text(const SafetensorsFile& file, std::string_view key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? nullptr : &found->second;
}

const std::string& required_text(const SafetensorsFile& file, std::string_view key,
                                 const std::string& allowed) {
  const std::string* text = find_text(file, key);
  if (text == nullptr) {
    throw input_error(shown(file.path()), metadata_key(key), "is missing", allowed);
  }
  return *text;
}

[[noreturn]] void refuse(const SafetensorsFile& file, std::string_view key,
                         const std::string& found, const std::string& allowed) {
  throw input_error(shown(file.path()), metadata_key(key), "got " + in_quotes(found), allowed);
}

// Decimal digits without sign, blank or leading zero, in low..high.
std::optional<std::uint64_t> parse_integer(std::string_view text, std::uint64_t low,
                                           std::uint64_t high) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool plain = error == std::errc{} && stop == end && (text.size() == 1 || text[0] != '0');
  if (!plain || value < low || value > high) return std::nullopt;
  return value;
}

std::string integers_from(std::uint64_t low, std::uint64_t high) {
  return low == high ? std::to_string(low) : fmt::format("an integer from {} to {}", low, high);
}

// Nothing if the key is not there. Throws if it is and holds anything else.
std::optional<std::uint64_t> optional_integer(const SafetensorsFile& file, const std::string& key,
                                              std::uint64_t low, std::uint64_t high) {
  const std::string* text = find_text(file, key);
  if (text == nullptr) return std::nullopt;
  const std::optional<std::uint64_t> value = parse_integer(*text, low, high);
  if (!value) refuse(file, key, *text, integers_from(low, high));
  return value;
}

std::uint32_t required_integer(const SafetensorsFile& file, const std::string& key,
                               std::uint64_t low, std::uint64_t high) {
  required_text(file, key, integers_from(low, high));
  return static_cast<std::uint32_t>(*optional_integer(file, key, low, high));
}

void require_value(const SafetensorsFile& file, std::string_view key,
                   const std::vector<std::string>& choices) {
  const std::string allowed = fmt::format("{}", fmt::join(choices, ", "));
  const std::string& text = required_text(file, key, allowed);
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    refuse(file, key, text, allowed);
  }
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::uint32_t> layer_indices(const SafetensorsFile& file) {
  const std::string allowed = "layer indices from 0 to 65535 with commas, rising";
  const std::string& text = required_text(file, "layers", allowed);
  std::vector<std::uint32_t> indices;
  for (const std::string_view part : split(text)) {
    const std::optional<std::uint64_t> index = parse_integer(part, 0, 65535);
    if (!index || (!indices.empty() && *index <= indices.back())) {
      refuse(file, "layers", text, allowed);
    }
    indices.push_back(static_cast<std::uint32_t>(*index));
  }
  return indices;
}

double softmax_scale(const SafetensorsFile& file) {
  const std::string allowed = "a decimal number, finite and above 0";
  const std::string& text = required_text(file, "softmax_scale", allowed);
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value) || value <= 0.0) {
    refuse(file, "softmax_scale", text, allowed);
  }
  return value;
}

const std::vector<std::string_view>& default_axes(const std::string& role) {
  static const std::vector<std::string_view> query = {"query_head", "feature"};
  static const std::vector<std::string_view> cache = {"kv_head", "token", "feature"};
  return role == "query" ? query : cache;
}

// The stored shape of a tensor must be `shape`, given in the default order.
const TensorInfo& require_tensor(const SafetensorsFile& file, const std::string& name,
                                 const std::vector<DType>& dtypes,
                                 const std::vector<std::uint64_t>& shape,
                                 const std::vector<std::size_t>& axes) {
  const TensorInfo* info = file.find(name);
  std::vector<std::uint64_t> stored(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) stored[axes[i]] = shape[i];
  if (info == nullptr) {
    throw input_error(shown(file.path()), tensor_key(name), "is missing",
                      "shape " + shape_text(stored));
  }
  if (std::find(dtypes.begin(), dtypes.end(), info->dtype) == dtypes.end()) {
    std::vector<std::string_view> names(dtypes.size());
    std::transform(dtypes.begin(), dtypes.end(), names.begin(), dtype_name);
    throw input_error(shown(file.path()), tensor_key(name) + ": dtype",
                      fmt::format("got {}", dtype_name(info->dtype)),
                      fmt::format("{}", fmt::join(names, ", ")));
  }
  if (info->shape != stored) {
    throw input_error(shown(file.path()), tensor_key(name) + ": shape",
                      "got " + shape_text(info->shape),
                      shape_text(stored) + ", as the metadata state");
  }
  return *info;
}

void check_scale(const SafetensorsFile& file, const TraceHeader& header, const std::string& name,
                 bool is_integer) {
  if (is_integer) {
    require_tensor(file, name, {DType::kF32}, {header.kv_heads, header.head_dimension}, {0, 1});
  } else if (file.find(name) != nullptr) {
    throw input_error(shown(file.path()), tensor_key(name), "is there without an I8 tensor",
                      "scales of I8 tensors only");
  }
}

TraceLayerInfo layer_info(const SafetensorsFile& file, const TraceHeader& header,
                          std::uint32_t layer) {
  TraceLayerInfo info;
  info.layer = layer;
  const std::uint32_t context = header.context_length;
  const std::string keys_key = layer_key(layer, "context_length");
  info.keys =
      static_cast<std::uint32_t>(optional_integer(file, keys_key, 0, context).value_or(context));
  const std::string first_key = layer_key(layer, "first_position");
  optional_integer(file, first_key, context - info.keys, context - info.keys);
  const std::string window_key = layer_key(layer, "sliding_window");
  info.sliding_window = optional_integer(file, window_key, 1, UINT32_MAX);
  if (info.sliding_window && info.keys > *info.sliding_window) {
    refuse(file, window_key, *find_text(file, window_key),
           fmt::format("{}, the keys of the layer, or more", info.keys));
  }

  const std::vector<DType> real = {DType::kF32, DType::kF16, DType::kBF16};
  const std::vector<DType> any = {DType::kF32, DType::kF16, DType::kBF16, DType::kI8};
  const std::vector<std::uint64_t> rows = {header.query_heads, header.head_dimension};
  const std::vector<std::uint64_t> cache = {header.kv_heads, info.keys, header.head_dimension};
  require_tensor(file, layer_key(layer, "query"), real, rows, stored_axes(file, "query"));
  info.key_dtype =
      require_tensor(file, layer_key(layer, "key"), any, cache, stored_axes(file, "key")).dtype;
  info.value_dtype =
      require_tensor(file, layer_key(layer, "value"), any, cache, stored_axes(file, "value")).dtype;
  check_scale(file, header, layer_key(layer, "key_scale"), info.key_dtype == DType::kI8);
  check_scale(file, header, layer_key(layer, "value_scale"), info.value_dtype == DType::kI8);
  info.has_output = file.find(layer_key(layer, "output")) != nullptr;
  if (info.has_output) {
    require_tensor(file, layer_key(layer, "output"), {DType::kF32}, rows, {0, 1});
  }
  return info;
}

}  // namespace

std::string layer_key(std::uint32_t layer, const std::string& role) {
  return fmt::format("layers.{}.{}", layer, role);
}

std::vector<std::size_t> stored_axes(const SafetensorsFile& file, const std::string& role) {
  const std::vector<std::string_view>& names = default_axes(role);
  const std::string* text = find_text(file, "axes." + role);
  const std::vector<std::string_view> stored = text == nullptr ? names : split(*text);
  if (!std::is_permutation(stored.begin(), stored.end(), names.begin(), names.end())) {
    refuse(file, "axes." + role, *text, fmt::format("{} in any order", fmt::join(names, ",")));
  }
  std::vector<std::size_t> order;
  for (const std::string_view name : names) {
    const auto found = std::find(stored.begin(), stored.end(), name);
    order.push_back(static_cast<std::size_t>(found - stored.begin()));
  }
  return order;
}

TraceHeader parse_trace_header(const SafetensorsFile& file) {
  require_value(file, "format", {"santasim-trace"});
  require_value(file, "format_version", {"1"});
  require_value(file, "kind", {"captured", "synthetic"});
  require_value(file, "rotary", {"applied"});
  TraceHeader header;
  header.path = file.path();
  header.metadata = file.metadata();
  header.kind = *find_text(file, "kind");
  header.model = required_text(file, "model", "a text");
  header.model_licence = required_text(file, "model_licence", "a text");
  header.text = required_text(file, "text", "a text");
  header.text_licence = required_text(file, "text_licence", "a text");

  constexpr std::uint64_t kHeads = 65536;
  header.kv_heads = required_integer(file, "kv_heads", 1, kHeads);
  header.query_heads = required_integer(file, "query_heads", 1, kHeads);
  const std::uint32_t group = header.query_heads / header.kv_heads;
  if (header.query_heads % header.kv_heads != 0 || group > arithmetic::kMaxGroup) {
    refuse(file, "query_heads", *find_text(file, "query_heads"),
           fmt::format("1 to {} times the {} of kv_heads", arithmetic::kMaxGroup, header.kv_heads));
  }
  header.head_dimension =
      required_integer(file, "head_dimension", 1, arithmetic::kMaxHeadDimension);
  header.context_length = required_integer(file, "context_length", 0, arithmetic::kMaxContext);
  const std::uint32_t last = std::max(header.context_length, 1U) - 1;
  header.decode_position = required_integer(file, "decode_position", last, last);
  header.softmax_scale = softmax_scale(file);
  for (const std::uint32_t layer : layer_indices(file)) {
    header.contents.push_back(layer_info(file, header, layer));
  }
  return header;
}

}  // namespace santa::tensor
