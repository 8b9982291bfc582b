#include "safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "message_place.hpp"

namespace santa::tensor {
namespace {

using Json = nlohmann::json;
using Entry = SafetensorsFile::Entry;

constexpr const char* kMetadataName = "__metadata__";
constexpr const char* kHeaderKey = "header";
constexpr const char* kWhole = "a whole number from 0 to 2^64-1";

// Every element type of the format, in bits.
const std::map<std::string, unsigned>& bits_of_types() {
  static const std::map<std::string, unsigned> bits = {
      {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"BOOL", 8},    {"U8", 8},
      {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
      {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
      {"F32", 32}, {"F64", 64},    {"I64", 64},    {"U64", 64},    {"C64", 64}};
  return bits;
}

// Takes the parser's events. Only the one structure that the format allows is followed, so nothing
// is nested deeper than three levels and nothing is kept that is not needed.
class Handler {
 public:
  Handler(std::string place, SafetensorsHeader& header)
      : place_(std::move(place)), header_(header) {}

  bool null() { return refuse("got null"); }
  bool boolean(bool value) { return refuse(value ? "got true" : "got false"); }
  bool number_integer(std::int64_t value) {
    // Only negative numbers come here, and "-0".
    return refuse(value == 0 ? "got -0" : fmt::format("got {}", value));
  }
  bool number_float(double, const std::string& text) { return refuse(got_number(text)); }
  bool binary(Json::binary_t&) { return refuse("got bytes"); }

  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::kShape) {
      if (entry_.shape.size() == kMaxDimensions) {
        refuse_with(key(), fmt::format("got more than {} axes", kMaxDimensions),
                    fmt::format("up to {} axes", kMaxDimensions));
      }
      entry_.shape.push_back(value);
      return true;
    }
    if (state_ == State::kOffsets && offsets_ < 2) {
      (offsets_ == 0 ? entry_.begin : entry_.end) = value;
      ++offsets_;
      return true;
    }
    if (state_ == State::kOffsets) {
      refuse_with(key(), "got more than two numbers", "begin and end");
    }
    return refuse(fmt::format("got {}", value));
  }

  bool string(std::string& value) {
    if (state_ == State::kMetadata) {
      header_.metadata[name_] = std::move(value);
      return true;
    }
    if (state_ == State::kEntry && field_ == kDtype) {
      entry_.dtype = std::move(value);
      return true;
    }
    return refuse(got(value));
  }

  bool start_object(std::size_t) {
    if (state_ == State::kStart) {
      state_ = State::kTensors;
    } else if (state_ == State::kTensors && name_ == kMetadataName) {
      state_ = State::kMetadata;
    } else if (state_ == State::kTensors) {
      state_ = State::kEntry;
      entry_ = {};
      fields_seen_ = 0;
      offsets_ = 0;
    } else {
      return refuse("got an object");
    }
    return true;
  }

  bool key(std::string& name) {
    if (state_ == State::kEntry) {
      start_field(name);
      return true;
    }
    const bool repeated = state_ == State::kMetadata ? header_.metadata.count(name) != 0
                          : name == kMetadataName    ? metadata_seen_
                                                     : header_.entries.count(name) != 0;
    if (repeated) {
      refuse_with(state_ == State::kMetadata ? kMetadataName : kHeaderKey,
                  "the key " + config::in_quotes(name) + " is there twice", "each key once");
    }
    if (state_ == State::kTensors) {
      tensor_ = name;
      metadata_seen_ = metadata_seen_ || name == kMetadataName;
    }
    name_ = std::move(name);
    return true;
  }

  bool end_object() {
    if (state_ == State::kEntry) {
      finish_entry();
      state_ = State::kTensors;
    } else if (state_ == State::kMetadata) {
      state_ = State::kTensors;
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (state_ != State::kEntry || field_ == kDtype) return refuse("got a list");
    state_ = field_ == kShape ? State::kShape : State::kOffsets;
    return true;
  }

  bool end_array() {
    if (state_ == State::kOffsets && offsets_ != 2) {
      refuse_with(key(), offsets_ == 0 ? "got an empty list" : "got one number", "begin and end");
    }
    state_ = State::kEntry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const Json::exception&) {
    throw input_error(
        place_, kHeaderKey,
        fmt::format("not JSON at byte {} of the header, {}", position, config::in_quotes(token)),
        "a JSON object");
  }

 private:
  enum class State { kStart, kTensors, kMetadata, kEntry, kShape, kOffsets };
  enum Field : unsigned { kDtype, kShape, kOffsets };
  static constexpr const char* kFieldNames[] = {"dtype", "shape", "data_offsets"};

  static std::string got_number(const std::string& text) {
    // A long number is cut as a name is, but is no text.
    const std::string quoted = got(text);
    return quoted.size() == text.size() + 6 ? "got " + text : quoted;
  }

  void start_field(const std::string& name) {
    for (const Field field : {kDtype, kShape, kOffsets}) {
      if (name != kFieldNames[field]) continue;
      if ((fields_seen_ >> field & 1U) != 0) {
        refuse_with(tensor_key(tensor_), "the key " + config::in_quotes(name) + " is there twice",
                    "each key once");
      }
      fields_seen_ |= 1U << field;
      field_ = field;
      return;
    }
    refuse_with(tensor_key(tensor_), "unknown key " + config::in_quotes(name),
                "dtype, shape and data_offsets");
  }

  void finish_entry() {
    for (const Field field : {kDtype, kShape, kOffsets}) {
      if ((fields_seen_ >> field & 1U) != 0) continue;
      refuse_with(tensor_key(tensor_), std::string(kFieldNames[field]) + " is missing",
                  "dtype, shape and data_offsets");
    }
    header_.entries.emplace(tensor_, std::move(entry_));
  }

  // What the next value belongs to.
  std::string key() const {
    switch (state_) {
      case State::kStart:
        return kHeaderKey;
      case State::kTensors:
        return name_ == kMetadataName ? kMetadataName : tensor_key(name_);
      case State::kMetadata:
        return std::string(kMetadataName) + ": " + config::in_quotes(name_);
      default:
        return tensor_key(tensor_) + ": " + kFieldNames[field_];
    }
  }

  std::string allowed() const {
    switch (state_) {
      case State::kStart:
        return "a JSON object";
      case State::kTensors:
        return name_ == kMetadataName ? "an object of strings"
                                      : "an object of dtype, shape and data_offsets";
      case State::kMetadata:
        return "a string";
      case State::kEntry:
        return field_ == kDtype ? "a string" : "a list of whole numbers";
      default:
        return kWhole;
    }
  }

  [[noreturn]] void refuse_with(const std::string& at, const std::string& found,
                                const std::string& what_is_allowed) const {
    throw input_error(place_, at, found, what_is_allowed);
  }
  // The type is what the parser wants back.
  bool refuse(const std::string& found) const { refuse_with(key(), found, allowed()); }

  std::string place_;
  SafetensorsHeader& header_;
  State state_ = State::kStart;
  std::string name_;    // last key of the root or the metadata
  std::string tensor_;  // last key of the root
  bool metadata_seen_ = false;
  Entry entry_;
  Field field_ = kDtype;
  unsigned fields_seen_ = 0;  // one bit each
  unsigned offsets_ = 0;
};

std::string offsets_text(const Entry& entry) {
  return fmt::format("got [{}, {}]", entry.begin, entry.end);
}

// Bytes of the data, where the type's size is known.
std::optional<std::uint64_t> data_size(const std::string& place, const std::string& name,
                                       const Entry& entry) {
  const std::string key = tensor_key(name) + ": shape";
  const std::optional<std::uint64_t> count = element_count(entry.shape);
  const auto type = bits_of_types().find(entry.dtype);
  const unsigned bits = type == bits_of_types().end() ? 0 : type->second;
  std::uint64_t total_bits = 0;
  if (!count || __builtin_mul_overflow(*count, bits, &total_bits)) {
    throw input_error(place, key, "got " + shape_text(entry.shape), "less than 2^64 bits in all");
  }
  if (bits == 0) return std::nullopt;
  if (total_bits % 8 != 0) {
    throw input_error(
        place, key,
        fmt::format("got {}, {} bits of {}", shape_text(entry.shape), total_bits, entry.dtype),
        "whole bytes");
  }
  return total_bits / 8;
}

void check_entry(const std::string& place, const std::string& name, const Entry& entry,
                 std::uint64_t data_bytes) {
  const std::string key = tensor_key(name) + ": data_offsets";
  if (entry.begin > entry.end || entry.end > data_bytes) {
    throw input_error(
        place, key, offsets_text(entry),
        fmt::format("0 <= begin <= end <= {}, the bytes after the header", data_bytes));
  }
  const std::optional<std::uint64_t> needed = data_size(place, name, entry);
  if (needed && entry.end - entry.begin != *needed) {
    throw input_error(
        place, key, fmt::format("{}, {} bytes", offsets_text(entry), entry.end - entry.begin),
        fmt::format("{} bytes, shape {} of {}", *needed, shape_text(entry.shape), entry.dtype));
  }
}

// Data lie one after another from the end of the header to the end of the file.
void check_layout(const std::string& place, const SafetensorsHeader& header,
                  std::uint64_t data_bytes) {
  using Item = std::pair<const std::string, Entry>;
  std::vector<const Item*> order;
  order.reserve(header.entries.size());
  for (const Item& item : header.entries) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
    return std::tie(a->second.begin, a->second.end) < std::tie(b->second.begin, b->second.end);
  });
  std::uint64_t end = 0;
  std::string end_of = "the header";
  for (const Item* item : order) {
    if (item->second.begin != end) {
      throw input_error(
          place, tensor_key(item->first) + ": data_offsets",
          offsets_text(item->second) + (item->second.begin < end ? ", an overlap" : ", a gap"),
          fmt::format("begin at {}, the end of {}", end, end_of));
    }
    end = item->second.end;
    end_of = tensor_key(item->first);
  }
  if (end != data_bytes) {
    throw input_error(place, "", fmt::format("{} bytes after the header", data_bytes),
                      fmt::format("{}, the end of {}", end, end_of));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& place,
                                           const std::vector<std::byte>& text,
                                           std::uint64_t data_bytes) {
  const char* begin = reinterpret_cast<const char*>(text.data());
  // The format demands it; the parser would also skip white space and a byte order mark.
  if (*begin != '{') {
    throw input_error(place, kHeaderKey, "starts with " + config::in_quotes({begin, 1}), "{");
  }
  SafetensorsHeader header;
  Handler handler(place, header);
  Json::sax_parse(begin, begin + text.size(), &handler);
  for (const auto& [name, entry] : header.entries) check_entry(place, name, entry, data_bytes);
  check_layout(place, header, data_bytes);
  return header;
}

}  // namespace santa::tensor
