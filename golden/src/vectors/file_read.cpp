#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "file_check.hpp"
#include "layout.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/vectors/file.hpp"

namespace santa::vectors {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

bool is_power_of_two(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path) {}
  Vector read();

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& found,
                           const std::string& allowed) const {
    throw input_error(config::escaped(file_.path()), key, found, allowed);
  }
  [[noreturn]] void refuse_text(const char* key, const std::string& text,
                                const std::string& allowed) const {
    refuse(std::string("metadata ") + key, "got " + config::in_quotes(text), allowed);
  }

  const std::string& text(const char* key, const std::string& allowed) const;
  const std::string& plain_text(const char* key) const;
  std::uint32_t number(const char* key, std::uint32_t low, std::uint32_t high,
                       bool power_of_two) const;
  template <typename Scheme, std::size_t kCount>
  Scheme scheme(const char* key, const std::array<attention::SchemeName, kCount>& names) const;
  std::string date() const;

  // The tensor's values; its sizes are the file's where `shape` has kAny.
  template <typename T>
  std::vector<T> take(const char* name, Shape shape);
  template <typename T>
  std::optional<std::vector<T>> take_optional(const char* name, const Shape& shape);

  void read_provenance();
  void read_sizes();
  void read_query();
  void read_cache();
  void read_results();
  void check_sum() const;

  static constexpr std::uint64_t kAny = UINT64_MAX;

  tensor::SafetensorsFile file_;
  std::set<std::string> taken_;
  std::vector<tensor::Tensor> tensors_;  // all that were taken, for the sum
  Vector vector_;
  std::uint64_t group_ = 0, dimension_ = 0, context_ = 0;
  std::uint32_t tile_keys_ = 0;
};

const std::string& Reader::text(const char* key, const std::string& allowed) const {
  const auto found = file_.metadata().find(key);
  if (found == file_.metadata().end()) {
    refuse(std::string("metadata ") + key, "is missing", allowed);
  }
  return found->second;
}

const std::string& Reader::plain_text(const char* key) const {
  const std::string allowed = "a text without control characters";
  const std::string& found = text(key, allowed);
  if (found.empty() || !config::is_plain_text(found)) refuse_text(key, found, allowed);
  return found;
}

std::uint32_t Reader::number(const char* key, std::uint32_t low, std::uint32_t high,
                             bool power_of_two) const {
  const std::string allowed =
      fmt::format("{} from {} to {}", power_of_two ? "a power of two" : "an integer", low, high);
  const std::string& found = text(key, allowed);
  std::uint32_t value = 0;
  const char* end = found.data() + found.size();
  const auto [stop, error] = std::from_chars(found.data(), end, value);
  // One spelling a number: digits without a leading zero.
  const bool plain = error == std::errc{} && stop == end && found == std::to_string(value);
  if (!plain || value < low || value > high || (power_of_two && !is_power_of_two(value))) {
    refuse_text(key, found, allowed);
  }
  return value;
}

template <typename Scheme, std::size_t kCount>
Scheme Reader::scheme(const char* key,
                      const std::array<attention::SchemeName, kCount>& names) const {
  std::string allowed;
  for (const attention::SchemeName& name : names) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(name.name);
  }
  const std::string& found = text(key, allowed);
  for (const attention::SchemeName& name : names) {
    if (name.name == found) return static_cast<Scheme>(name.value);
  }
  refuse_text(key, found, allowed);
}

std::string Reader::date() const {
  const std::string allowed = "a date, YYYY-MM-DD";
  const std::string& found = text("date", allowed);
  constexpr const char* kPattern = "0000-00-00";
  bool good = found.size() == std::strlen(kPattern);
  for (std::size_t i = 0; good && i < found.size(); ++i) {
    good = kPattern[i] == '-' ? found[i] == '-' : found[i] >= '0' && found[i] <= '9';
  }
  if (!good) refuse_text("date", found, allowed);
  return found;
}

template <typename T>
std::vector<T> Reader::take(const char* name, Shape shape) {
  const std::string key = fmt::format("tensor \"{}\"", name);
  const tensor::TensorInfo* info = file_.find(name);
  const std::string_view dtype = tensor::dtype_name(dtype_of<T>());
  if (info == nullptr) refuse(key, "is missing", std::string(dtype));
  if (info->dtype != dtype_of<T>()) {
    refuse(key + ": dtype", fmt::format("got {}", tensor::dtype_name(info->dtype)),
           std::string(dtype));
  }
  for (std::size_t axis = 0; axis < shape.size() && axis < info->shape.size(); ++axis) {
    if (shape[axis] == kAny) shape[axis] = info->shape[axis];
  }
  if (info->shape != shape) {
    refuse(key + ": shape", "got " + tensor::shape_text(info->shape),
           tensor::shape_text(shape) + ", as the metadata state");
  }
  tensor::Tensor tensor = file_.read(name);
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  taken_.insert(name);
  tensors_.push_back(std::move(tensor));
  return values;
}

template <typename T>
std::optional<std::vector<T>> Reader::take_optional(const char* name, const Shape& shape) {
  if (file_.find(name) == nullptr) return std::nullopt;
  return take<T>(name, shape);
}

void Reader::read_provenance() {
  Provenance& p = vector_.provenance;
  p.device.producer = plain_text("producer");
  p.device.name = plain_text("device");
  p.device.driver = plain_text("driver");
  p.device.toolkit = plain_text("toolkit");
  p.program = plain_text("program");
  p.commit = plain_text("commit");
  p.date = date();
}

void Reader::read_sizes() {
  Request& r = vector_.request;
  r.workload = plain_text("workload");
  r.options.scores = scheme<ScoreScheme>("scores", attention::kScoreSchemeNames);
  r.options.values = scheme<ValueScheme>("values", attention::kValueSchemeNames);
  r.options.samples =
      number("samples", 1, arithmetic::kMaxSamples, attention::is_sampled(r.options.values));
  if (attention::is_bernoulli(r.options.scores)) {
    r.options.bernoulli_draws = number("bernoulli_draws", 1, arithmetic::kMaxBernoulliDraws, true);
  }
  group_ = number("group", 1, arithmetic::kMaxGroup, false);
  dimension_ = number("head_dimension", 1, arithmetic::kMaxHeadDimension, false);
  context_ = number("context", 0, arithmetic::kMaxContext, false);
  tile_keys_ = number("tile_keys", arithmetic::kMinTileKeys, arithmetic::kMaxTileKeys, true);
  r.context = static_cast<std::uint32_t>(context_);
}

void Reader::read_query() {
  Request& r = vector_.request;
  attention::QueryOperands& query = r.request.query;
  query.group = static_cast<std::uint32_t>(group_);
  query.head_dimension = static_cast<std::uint32_t>(dimension_);
  query.scheme = r.options.scores;
  if (attention::is_bernoulli(query.scheme)) {
    while ((1U << query.draws_log2) < r.options.bernoulli_draws) ++query.draws_log2;
  }
  const bool shared = query.scheme == ScoreScheme::kBernoulliGroup;
  const std::uint64_t rows = shared ? 1 : group_;
  query.magnitude = take<std::uint32_t>("query.magnitude", {rows, dimension_});
  const auto negative = take<std::int8_t>("query.negative", {group_, dimension_});
  query.negative.assign(negative.begin(), negative.end());
  if (shared) {
    const auto exponents = take<std::int8_t>("query.ratio_exponent", {group_, dimension_});
    const auto upper = take<std::uint16_t>("query.ratio_probability", {group_, dimension_});
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      query.ratio.push_back({exponents[i], upper[i]});
    }
  }
  const auto scales = take<std::int8_t>("query.scale", {rows, kScaleFields});
  for (std::size_t i = 0; i < scales.size(); i += kScaleFields) {
    query.scale.push_back({scales[i], scales[i + 1], static_cast<std::uint8_t>(scales[i + 2]),
                           scales[i + 3], static_cast<std::uint8_t>(scales[i + 4])});
  }
  r.request.score_stream = take<std::uint64_t>("score_stream", {1}).front();
  r.request.value_streams = take<std::uint64_t>("value_streams", {group_});
}

void Reader::read_cache() {
  const auto keys = take<std::int8_t>("keys", {context_, dimension_});
  auto cache = std::make_shared<attention::KvHead>();
  cache->context = static_cast<std::uint32_t>(context_);
  cache->head_dimension = static_cast<std::uint32_t>(dimension_);
  cache->tile_keys = tile_keys_;
  cache->keys.resize(std::size_t{cache->tiles()} * dimension_ * tile_keys_);
  for (std::size_t n = 0; n < context_; ++n) {
    std::int8_t* tile = cache->keys.data() + n / tile_keys_ * dimension_ * tile_keys_;
    for (std::size_t i = 0; i < dimension_; ++i) {
      tile[i * tile_keys_ + n % tile_keys_] = keys[n * dimension_ + i];
    }
  }
  cache->values = take<std::int8_t>("values", {context_, dimension_});
  // Real units are folded into the query's operands already.
  cache->key_scale.assign(dimension_, 1.0);
  cache->value_exponent.assign(dimension_, 0);
  vector_.request.cache = std::move(cache);
}

void Reader::read_results() {
  Results& results = vector_.results;
  const std::uint64_t tiles = vector_.request.tiles();
  results.coefficients = take_optional<std::int16_t>("result.coefficients", {group_, dimension_});
  results.scores = take_optional<std::int32_t>("result.scores", {group_, context_});
  results.weights = take_optional<std::uint16_t>("result.weights", {group_, context_});
  const auto exponents = take<std::int32_t>("result.tile_exponents", {tiles, group_});
  const auto sums = take<std::uint32_t>("result.tile_sums", {tiles, group_});
  for (std::size_t i = 0; i < sums.size(); ++i) results.tiles.push_back({exponents[i], sums[i]});
  const auto head_exponents = take<std::int32_t>("result.head_exponents", {group_});
  const auto masses = take<std::uint64_t>("result.head_masses", {group_});
  const auto offsets = take<std::uint64_t>("result.head_offsets", {group_});
  for (std::size_t g = 0; g < group_; ++g) {
    results.heads.push_back({head_exponents[g], masses[g], offsets[g]});
  }
  const auto keys = take<std::uint32_t>("result.row_keys", {kAny});
  const auto counts = take<std::uint16_t>("result.row_counts", {keys.size(), group_});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    attention::SampledRow row;
    row.key = keys[i];
    std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(i * group_), group_,
                row.counts.begin());
    results.rows.push_back(row);
  }
  results.output = take<std::int16_t>("result.output", {group_, dimension_});
  for (const auto& [name, info] : file_.tensors()) {
    if (taken_.count(name) == 0) {
      refuse("tensor " + config::in_quotes(name), "is not known",
             fmt::format("{}", fmt::join(taken_, ", ")));
    }
  }
}

void Reader::check_sum() const {
  const std::string sum = checksum_of(file_.metadata(), tensors_);
  const std::string& found = text(kChecksumKey, sum);
  if (found != sum) refuse_text(kChecksumKey, found, sum + ", the sum of the content");
}

Vector Reader::read() {
  for (const auto& [key, value] :
       {std::pair{"format", kFormat}, std::pair{"format_version", kFormatVersion}}) {
    if (text(key, value) != value) refuse_text(key, text(key, value), value);
  }
  read_provenance();
  read_sizes();
  read_query();
  read_cache();
  read_results();
  check_sum();
  check_values(file_.path(), vector_);
  vector_.path = file_.path();
  return std::move(vector_);
}

}  // namespace

Vector read_vector(const std::string& path) {
  return Reader(path).read();
}

std::vector<std::string> vector_files(const std::string& option, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string allowed = std::string("a folder with vectors, files *") + kExtension;
  std::vector<std::string> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_symlink(unknown) && entry->is_directory(unknown)) {
      throw input_error(option, config::in_quotes(entry->path().string()), "is a link to a folder",
                        allowed);
    }
    if (entry->path().extension() != kExtension) continue;
    if (!entry->is_regular_file(unknown)) {
      throw input_error(option, config::in_quotes(entry->path().string()), "is no file", allowed);
    }
    files.push_back(entry->path().string());
  }
  if (error) throw input_error(option, config::in_quotes(folder), error.message(), allowed);
  if (files.empty()) throw input_error(option, config::in_quotes(folder), "holds none", allowed);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace santa::vectors
