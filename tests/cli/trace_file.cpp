#include "trace_file.hpp"

#include "santa/attention/synthetic.hpp"

namespace santa::test {
namespace {

constexpr std::uint32_t kTokens = 100;
constexpr std::uint32_t kFeatures = 16;

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

}  // namespace

std::string float_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

FileTensor float_tensor(std::vector<std::uint64_t> shape, const std::vector<float>& values) {
  return {"F32", std::move(shape), float_bytes(values)};
}

std::string TraceParts::bytes() const {
  nlohmann::json header;
  header["__metadata__"] = metadata;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const std::string text = header.dump();
  return little_endian(text.size(), 8) + text + data;
}

TraceParts small_trace(const std::vector<std::uint32_t>& layers) {
  TraceParts trace;
  std::string indices;
  for (const std::uint32_t layer : layers) {
    indices += (indices.empty() ? "" : ",") + std::to_string(layer);
    const auto tensors = attention::make_gaussian({4, 2, kFeatures, kTokens}, 5, layer);
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    trace.tensors[prefix + "query"] = float_tensor({4, kFeatures}, tensors.query);
    trace.tensors[prefix + "key"] = float_tensor({2, kTokens, kFeatures}, tensors.key);
    trace.tensors[prefix + "value"] = float_tensor({2, kTokens, kFeatures}, tensors.value);
  }
  trace.metadata = {{"format", "santasim-trace"},
                    {"format_version", "1"},
                    {"kind", "captured"},
                    {"model", "little-model"},
                    {"model_licence", "Apache-2.0"},
                    {"text", "a text"},
                    {"text_licence", "public domain"},
                    {"layers", indices},
                    {"query_heads", "4"},
                    {"kv_heads", "2"},
                    {"head_dimension", "16"},
                    {"context_length", "100"},
                    {"decode_position", "99"},
                    {"softmax_scale", "0.25"},
                    {"rotary", "applied"}};
  return trace;
}

std::string npy_bytes(const std::string& descr, const std::vector<std::uint64_t>& shape,
                      const std::string& data) {
  std::string axes;
  for (const std::uint64_t length : shape) axes += std::to_string(length) + ", ";
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + axes + "), }";
  constexpr std::size_t kPrefixBytes = 10;
  while ((kPrefixBytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(header.size(), 2) + header + data;
}

}  // namespace santa::test
