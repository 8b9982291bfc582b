#include "santa/tensor/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "input_file.hpp"
#include "message.hpp"
#include "santa/error.hpp"
#include "santa/tensor/safetensors.hpp"
#include "transpose.hpp"

namespace santa::tensor {
namespace {

constexpr std::uint64_t kMaxNpyHeader = 65536;
constexpr std::string_view kMagic("\x93NUMPY", 6);

struct NpyHeader {
  std::optional<DType> dtype;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

// The one Python expression that a header may be: a dictionary of three known keys.
class NpyHeaderParser {
 public:
  NpyHeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!accept('}')) {
      parse_entry(header);
      if (accept('}')) break;
      expect(',');
    }
    skip_blanks();
    if (next_ != text_.size()) fail("blanks behind the dictionary");
    const auto require = [&](bool present, const char* key) {
      if (!present) {
        throw input_error(shown(path_), "header", std::string(key) + " is missing",
                          "descr, fortran_order, shape");
      }
    };
    require(header.dtype.has_value(), "descr");
    require(header.fortran_order.has_value(), "fortran_order");
    require(header.shape.has_value(), "shape");
    return header;
  }

 private:
  void parse_entry(NpyHeader& header) {
    const std::string_view key = string();
    expect(':');
    bool twice = false;
    if (key == "descr") {
      twice = header.dtype.has_value();
      header.dtype = dtype();
    } else if (key == "fortran_order") {
      twice = header.fortran_order.has_value();
      header.fortran_order = boolean();
    } else if (key == "shape") {
      twice = header.shape.has_value();
      header.shape = shape();
    } else {
      throw input_error(shown(path_), "header", "unknown key " + in_quotes(key),
                        "descr, fortran_order, shape");
    }
    if (twice) throw input_error(shown(path_), std::string(key), "is there twice", "once");
  }

  DType dtype() {
    skip_blanks();
    if (next_ < text_.size() && (text_[next_] == '[' || text_[next_] == '(')) {
      throw input_error(shown(path_), "descr", "got a structured type", "'<f4', '<f2', '|i1'");
    }
    const std::string_view name = string();
    if (name == "<f4") return DType::kF32;
    if (name == "<f2") return DType::kF16;
    if (name == "|i1") return DType::kI8;
    throw input_error(shown(path_), "descr", "got " + in_quotes(name), "'<f4', '<f2', '|i1'");
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(next_, word.size()) == word) {
        next_ += word.size();
        return word == "True";
      }
    }
    fail("True or False");
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> extents;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("a comma or a closing parenthesis");
      if (extents.size() == kMaxAxes) {
        throw input_error(shown(path_), "shape", fmt::format("more than {} axes", kMaxAxes),
                          fmt::format("up to {} axes", kMaxAxes));
      }
      extents.push_back(integer());
      comma = accept(',');
    }
    // Python takes "(3)" for the number 3.
    if (extents.size() == 1 && !comma) fail("a comma behind a single extent");
    return extents;
  }

  std::uint64_t integer() {
    skip_blanks();
    const std::size_t start = next_;
    std::uint64_t value = 0;
    while (next_ < text_.size() && text_[next_] >= '0' && text_[next_] <= '9') {
      const auto digit = static_cast<std::uint64_t>(text_[next_] - '0');
      if (__builtin_mul_overflow(value, 10U, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        throw input_error(shown(path_), "shape", "an integer beyond 2^64 - 1", "0 to 2^64 - 1");
      }
      ++next_;
    }
    if (next_ == start) fail("an integer");
    return value;
  }

  // Between single or double quotes, without escapes.
  std::string_view string() {
    skip_blanks();
    if (next_ == text_.size() || (text_[next_] != '\'' && text_[next_] != '"')) fail("a string");
    const std::size_t end = text_.find(text_[next_], next_ + 1);
    if (end == std::string_view::npos) fail("a string that ends");
    const std::string_view content = text_.substr(next_ + 1, end - next_ - 1);
    if (content.find('\\') != std::string_view::npos) fail("a string without escapes");
    next_ = end + 1;
    return content;
  }

  void skip_blanks() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\n')) ++next_;
  }

  bool accept(char c) {
    skip_blanks();
    if (next_ == text_.size() || text_[next_] != c) return false;
    ++next_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string(1, c));
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    const std::string found =
        next_ == text_.size() ? "its end" : in_quotes(text_.substr(next_, 16));
    throw input_error(shown(path_), "header", fmt::format("{} at its byte {}", found, next_),
                      wanted);
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t next_ = 0;
};

// The header's text; `data_start` becomes the position of the first element.
std::string header_text(const std::string& path, const InputFile& file, std::uint64_t& data_start) {
  std::string prefix(kMagic.size() + 2, '\0');
  if (file.size() < prefix.size() + 2) {
    throw input_error(shown(path), "", fmt::format("{} bytes", file.size()),
                      "a .npy file, of 10 bytes or more");
  }
  file.read(0, prefix.data(), prefix.size());
  if (prefix.compare(0, kMagic.size(), kMagic) != 0) {
    throw input_error(shown(path), "", "starts with " + in_quotes(prefix.substr(0, kMagic.size())),
                      in_quotes(kMagic) + ", a .npy file");
  }
  const auto major = static_cast<unsigned char>(prefix[6]);
  const auto minor = static_cast<unsigned char>(prefix[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw input_error(shown(path), "format version", fmt::format("got {}.{}", major, minor),
                      "1.0, 2.0, 3.0");
  }
  const std::uint64_t length_bytes = major == 1 ? 2 : 4;
  data_start = prefix.size() + length_bytes;
  if (file.size() < data_start) {
    throw input_error(shown(path), "", fmt::format("{} bytes", file.size()),
                      fmt::format("{} or more", data_start));
  }
  std::uint32_t length = 0;
  file.read(prefix.size(), &length, length_bytes);
  const std::uint64_t limit = std::min(kMaxNpyHeader, file.size() - data_start);
  if (length > limit) {
    throw input_error(shown(path), "header length", fmt::format("got {}", length),
                      fmt::format("0..{}", limit));
  }
  std::string text(length, '\0');
  file.read(data_start, text.data(), length);
  data_start += length;
  return text;
}

}  // namespace

Tensor read_npy(const std::string& path) {
  const InputFile file(path);
  std::uint64_t data_start = 0;
  const std::string text = header_text(path, file, data_start);
  const NpyHeader header = NpyHeaderParser(path, text).parse();

  Tensor tensor;
  tensor.dtype = *header.dtype;
  tensor.shape = *header.shape;
  std::uint64_t size = element_size(tensor.dtype);
  bool overflow = false;
  for (const std::uint64_t extent : tensor.shape) {
    overflow = overflow || __builtin_mul_overflow(size, extent, &size);
  }
  if (overflow) {
    throw input_error(shown(path), "shape", "got " + shape_text(tensor.shape),
                      "a size below 2^64 bytes");
  }
  const std::uint64_t available = file.size() - data_start;
  if (size != available) {
    throw input_error(shown(path), "", fmt::format("{} bytes behind the header", available),
                      fmt::format("{}, for {} of shape {}", size, dtype_name(tensor.dtype),
                                  shape_text(tensor.shape)));
  }
  tensor.bytes = allocate(path, tensor.name, size);
  file.read(data_start, tensor.bytes.data(), size);
  if (!*header.fortran_order) return tensor;
  // Column-major is row-major of the axes from last to first.
  std::vector<std::uint64_t> reversed(tensor.shape.rbegin(), tensor.shape.rend());
  tensor.shape = std::move(reversed);
  std::vector<std::size_t> order(tensor.shape.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return transposed(std::move(tensor), order);
}

}  // namespace santa::tensor
