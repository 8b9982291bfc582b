#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "layout.hpp"
#include "santa/vectors/file.hpp"

namespace santa::vectors {
namespace {

using tensor::Tensor;

class Writer {
 public:
  explicit Writer(const Vector& vector)
      : vector_(vector),
        group_(vector.request.group()),
        dimension_(vector.request.head_dimension()),
        context_(vector.request.context),
        tiles_(vector.request.tiles()) {}

  tensor::Metadata metadata() const;
  std::vector<Tensor> tensors();

 private:
  template <typename T>
  void add(const char* name, Shape shape, const std::vector<T>& values) {
    Tensor tensor{name, dtype_of<T>(), std::move(shape), {}};
    if (tensor.elements() != values.size()) {
      throw std::invalid_argument(fmt::format("vector: {}: {} values for shape {}", name,
                                              values.size(), tensor::shape_text(tensor.shape)));
    }
    tensor.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    tensors_.push_back(std::move(tensor));
  }
  void add_query();
  void add_cache();
  void add_results();

  const Vector& vector_;
  std::uint64_t group_, dimension_, context_, tiles_;
  std::vector<Tensor> tensors_;
};

tensor::Metadata Writer::metadata() const {
  const Request& r = vector_.request;
  const Provenance& p = vector_.provenance;
  tensor::Metadata metadata = {
      {"format", kFormat},
      {"format_version", kFormatVersion},
      {"workload", r.workload},
      {"scores", std::string(attention::to_string(r.options.scores))},
      {"values", std::string(attention::to_string(r.options.values))},
      {"samples", std::to_string(r.options.samples)},
      {"group", std::to_string(group_)},
      {"head_dimension", std::to_string(dimension_)},
      {"context", std::to_string(context_)},
      {"tile_keys", std::to_string(r.cache->tile_keys)},
      {"producer", p.device.producer},
      {"device", p.device.name},
      {"driver", p.device.driver},
      {"toolkit", p.device.toolkit},
      {"program", p.program},
      {"commit", p.commit},
      {"date", p.date},
  };
  if (attention::is_bernoulli(r.options.scores)) {
    metadata["bernoulli_draws"] = std::to_string(r.options.bernoulli_draws);
  }
  return metadata;
}

void Writer::add_query() {
  const attention::DecodeRequest& request = vector_.request.request;
  const attention::QueryOperands& query = request.query;
  const bool shared = query.scheme == attention::ScoreScheme::kBernoulliGroup;
  const std::uint64_t rows = shared ? 1 : group_;
  add("query.magnitude", {rows, dimension_}, query.magnitude);
  add("query.negative", {group_, dimension_},
      std::vector<std::int8_t>(query.negative.begin(), query.negative.end()));
  if (shared) {
    std::vector<std::int8_t> exponents;
    std::vector<std::uint16_t> probabilities;
    for (const arithmetic::GroupRatio& ratio : query.ratio) {
      exponents.push_back(ratio.exponent);
      probabilities.push_back(ratio.upper_probability);
    }
    add("query.ratio_exponent", {group_, dimension_}, exponents);
    add("query.ratio_probability", {group_, dimension_}, probabilities);
  }
  std::vector<std::int8_t> scales;
  for (const arithmetic::ScaleFactor& s : query.scale) {
    for (const int field :
         {int{s.exponent}, int{s.sign_a}, int{s.shift_a}, int{s.sign_b}, int{s.shift_b}}) {
      scales.push_back(static_cast<std::int8_t>(field));
    }
  }
  add("query.scale", {rows, kScaleFields}, scales);
  add("score_stream", {1}, std::vector<std::uint64_t>{request.score_stream});
  add("value_streams", {group_}, request.value_streams);
}

// Token by token, as in a trace: what is left of the last tile takes no room.
void Writer::add_cache() {
  const attention::KvHead& cache = *vector_.request.cache;
  if (cache.context != context_) {
    throw std::invalid_argument("vector: the request does not attend to its whole cache");
  }
  std::vector<std::int8_t> keys;
  for (std::uint32_t n = 0; n < context_; ++n) {
    const std::int8_t* tile = cache.tile(n / cache.tile_keys);
    for (std::size_t i = 0; i < dimension_; ++i) {
      keys.push_back(tile[i * cache.tile_keys + n % cache.tile_keys]);
    }
  }
  add("keys", {context_, dimension_}, keys);
  add("values", {context_, dimension_}, cache.values);
}

void Writer::add_results() {
  const Results& results = vector_.results;
  if (results.coefficients) {
    add("result.coefficients", {group_, dimension_}, *results.coefficients);
  }
  if (results.scores) add("result.scores", {group_, context_}, *results.scores);
  if (results.weights) add("result.weights", {group_, context_}, *results.weights);
  std::vector<std::int32_t> exponents;
  std::vector<std::uint32_t> sums;
  for (const attention::TileStatistics& tile : results.tiles) {
    exponents.push_back(tile.exponent);
    sums.push_back(tile.sum);
  }
  add("result.tile_exponents", {tiles_, group_}, exponents);
  add("result.tile_sums", {tiles_, group_}, sums);
  exponents.clear();
  std::vector<std::uint64_t> masses;
  std::vector<std::uint64_t> offsets;
  for (const HeadResult& head : results.heads) {
    exponents.push_back(head.exponent);
    masses.push_back(head.mass);
    offsets.push_back(head.offset);
  }
  add("result.head_exponents", {group_}, exponents);
  add("result.head_masses", {group_}, masses);
  add("result.head_offsets", {group_}, offsets);
  std::vector<std::uint32_t> keys;
  std::vector<std::uint16_t> counts;
  for (const attention::SampledRow& row : results.rows) {
    keys.push_back(row.key);
    counts.insert(counts.end(), row.counts.begin(), row.counts.begin() + group_);
  }
  add("result.row_keys", {keys.size()}, keys);
  add("result.row_counts", {keys.size(), group_}, counts);
  add("result.output", {group_, dimension_}, results.output);
}

std::vector<Tensor> Writer::tensors() {
  add_query();
  add_cache();
  add_results();
  return std::move(tensors_);
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320U;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t entry = byte;
    for (int bit = 0; bit < 8; ++bit) {
      entry = (entry >> 1) ^ ((entry & 1U) != 0 ? kPolynomial : 0U);
    }
    table[byte] = entry;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

class Crc32 {
 public:
  void update(const void* from, std::size_t count) {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    for (std::size_t i = 0; i < count; ++i) {
      state_ = kCrcTable[(state_ ^ bytes[i]) & 255U] ^ (state_ >> 8);
    }
  }
  void update(const std::string& text) { update(text.data(), text.size()); }
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

}  // namespace

std::string checksum_of(const tensor::Metadata& metadata, std::vector<Tensor> tensors) {
  Crc32 crc;
  for (const auto& [key, value] : metadata) {
    if (key != kChecksumKey) crc.update(fmt::format("{}={}\n", key, value));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  for (const Tensor& tensor : tensors) {
    crc.update(fmt::format("{} {} {}\n", tensor.name, tensor::dtype_name(tensor.dtype),
                           tensor::shape_text(tensor.shape)));
    crc.update(tensor.bytes.data(), tensor.bytes.size());
  }
  return fmt::format("{:08x}", crc.value());
}

void write_vector(const std::string& path, const Vector& vector) {
  Writer writer(vector);
  tensor::Metadata metadata = writer.metadata();
  const std::vector<Tensor> tensors = writer.tensors();
  metadata[kChecksumKey] = checksum_of(metadata, tensors);
  tensor::write_safetensors(path, tensors, metadata);
}

}  // namespace santa::vectors
