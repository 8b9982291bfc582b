#include "santa/cosim/scoreboard.hpp"

#include <fmt/format.h>

#include <utility>

namespace santa::cosim {
namespace {

constexpr const char* kEncoder = "query_encoder";
constexpr const char* kGather = "ternary_gather";
constexpr const char* kWeightUnit = "weight_unit";
constexpr const char* kSampler = "systematic_sampler";
constexpr const char* kValueGather = "value_gather";
constexpr const char* kNormalizer = "normalizer";

}  // namespace

template <typename T>
bool Scoreboard::equal(const Tracked& t, const char* block, const std::string& field, T rtl,
                       T golden) {
  if (rtl == golden) return true;
  report(&t, block, field, std::to_string(rtl), std::to_string(golden));
  return false;
}

void Scoreboard::report(const Tracked* t, const char* block, const std::string& field,
                        std::string rtl, std::string golden, const char* model) {
  if (first_) return;
  Mismatch mismatch;
  mismatch.block = block;
  if (t != nullptr) {
    mismatch.request = t->of->index;
    mismatch.workload = t->of->request.workload;
  } else {
    mismatch.workload = "none";
  }
  mismatch.field = field;
  mismatch.rtl = std::move(rtl);
  mismatch.golden = std::move(golden);
  mismatch.model = model != nullptr ? model : t != nullptr ? t->of->expected_from : "golden model";
  mismatch.cycle = cycle_;
  first_ = std::move(mismatch);
}

void Scoreboard::unexpected(const char* block, const char* event) {
  report(tracked_.empty() ? nullptr : &tracked_.back(), block, event, "one more",
         "no more of them");
}

void Scoreboard::submit(std::shared_ptr<const ScoreboardRequest> request) {
  Tracked t;
  const CosimRequest& r = request->request;
  t.heads.resize(r.group());
  for (ObservedHead& head : t.heads) {
    head.counts.assign(r.context, 0);
    for (std::uint32_t tile = 0; tile < r.tiles(); ++tile) {
      head.weights.emplace_back();
      head.weights.back().reserve(r.valid_keys(tile));
    }
  }
  if (request->runs) {
    t.outputs_left = static_cast<std::size_t>(r.group()) * r.head_dimension();
    t.outputs.assign(t.outputs_left, false);
  }
  t.of = std::move(request);
  tracked_.push_back(std::move(t));
}

void Scoreboard::forget() {
  tracked_.clear();
}

bool Scoreboard::drawing() const {
  for (const Tracked& t : tracked_) {
    if (t.draws > 0 && rows_pending(t)) return true;
  }
  return false;
}

// The row's words up to the last feature.
std::uint32_t Scoreboard::value_words(const Tracked& t) const {
  return divide_up(t.of->request.head_dimension(), unit_.port_bytes);
}

bool Scoreboard::coefficients_pending(const Tracked& t) const {
  return t.of->runs && t.coefficients < t.of->request.head_dimension();
}
bool Scoreboard::scores_pending(const Tracked& t) const {
  return t.of->runs && t.score_tile < t.of->request.tiles();
}
bool Scoreboard::weights_pending(const Tracked& t) const {
  return t.of->runs && t.weight_tile < t.of->request.tiles();
}
bool Scoreboard::tiles_pending(const Tracked& t) const {
  return t.of->runs && t.tiles < t.of->request.tiles();
}
bool Scoreboard::draws_pending(const Tracked& t) const {
  return t.of->runs && t.draws < t.of->expected.offsets.size();
}
bool Scoreboard::rows_pending(const Tracked& t) const {
  return t.of->runs && t.rows < t.of->expected.result.rows.size();
}
bool Scoreboard::values_pending(const Tracked& t) const {
  return t.of->runs && t.value_row < t.of->expected.result.rows.size();
}
bool Scoreboard::outputs_pending(const Tracked& t) const {
  return t.outputs_left > 0;
}

// The request that a monitor is at: requests follow one another on each of them.
Scoreboard::Tracked* Scoreboard::next(bool (Scoreboard::*pending)(const Tracked&) const) {
  for (Tracked& t : tracked_) {
    if ((this->*pending)(t)) return &t;
  }
  return nullptr;
}

void Scoreboard::observe(const Monitors& m, std::uint64_t cycle) {
  cycle_ = cycle;
  if (paused_) return;
  if (m.coefficient_valid) see_coefficient(m);
  if (m.score_valid) see_scores(m);
  if (m.weight_valid) see_weights(m);
  if (m.tile_valid) see_tile(m);
  if (m.draw_valid) see_draw(m);
  if (m.row_valid) see_row(m);
  if (m.value_valid) see_value(m);
  if (m.output_valid) see_output(m);
}

void Scoreboard::see_coefficient(const Monitors& m) {
  Tracked* t = next(&Scoreboard::coefficients_pending);
  if (t == nullptr) return unexpected(kEncoder, "features");
  const CosimRequest& r = t->of->request;
  const std::uint32_t feature = t->coefficients++;
  equal(*t, kEncoder, "index of a feature", std::uint32_t{m.coefficient_feature}, feature);
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const std::size_t at = static_cast<std::size_t>(g) * r.head_dimension() + feature;
    ++checked_.coefficients;
    if (m.coefficient[g] == t->of->expected.result.query.coefficients[at]) continue;
    equal(*t, kEncoder, fmt::format("coefficient of feature {}, head {}", feature, g),
          int{m.coefficient[g]}, int{t->of->expected.result.query.coefficients[at]});
  }
}

// Tiles are read whole; what lies beyond the last key is not looked at.
void Scoreboard::see_scores(const Monitors& m) {
  Tracked* t = next(&Scoreboard::scores_pending);
  if (t == nullptr) return unexpected(kGather, "scores");
  const CosimRequest& r = t->of->request;
  const std::uint32_t valid = r.valid_keys(t->score_tile);
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const std::size_t row = t->of->expected.index(r, t->score_tile, g);
    for (std::uint32_t lane = 0; lane < unit_.weight_lanes && t->score_key + lane < valid; ++lane) {
      const std::int32_t rtl = m.score[static_cast<std::size_t>(g) * unit_.weight_lanes + lane];
      const std::int32_t golden = t->of->expected.accumulators[row + t->score_key + lane];
      ++checked_.scores;
      if (rtl == golden) continue;
      const std::uint32_t key = t->score_tile * unit_.tile_keys + t->score_key + lane;
      equal(*t, kGather, fmt::format("score of key {}, head {}", key, g), rtl, golden);
    }
  }
  t->score_key += unit_.weight_lanes;
  if (t->score_key >= unit_.tile_keys) {
    t->score_key = 0;
    ++t->score_tile;
  }
}

void Scoreboard::see_weights(const Monitors& m) {
  Tracked* t = next(&Scoreboard::weights_pending);
  if (t == nullptr) return unexpected(kWeightUnit, "weights");
  const CosimRequest& r = t->of->request;
  const std::uint32_t valid = r.valid_keys(t->weight_tile);
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const std::size_t row = t->of->expected.index(r, t->weight_tile, g);
    for (std::uint32_t lane = 0; lane < unit_.weight_lanes && t->weight_key + lane < valid;
         ++lane) {
      const std::uint16_t rtl = m.weight[static_cast<std::size_t>(g) * unit_.weight_lanes + lane];
      const std::uint16_t golden = t->of->expected.weights[row + t->weight_key + lane];
      ++checked_.weights;
      t->heads[g].weights[t->weight_tile].push_back(rtl);
      if (rtl == golden) continue;
      const std::uint32_t key = t->weight_tile * unit_.tile_keys + t->weight_key + lane;
      equal(*t, kWeightUnit, fmt::format("weight of key {}, head {}", key, g), unsigned{rtl},
            unsigned{golden});
    }
  }
  t->weight_key += unit_.weight_lanes;
  if (t->weight_key >= unit_.tile_keys) {
    t->weight_key = 0;
    ++t->weight_tile;
  }
}

void Scoreboard::see_tile(const Monitors& m) {
  Tracked* t = next(&Scoreboard::tiles_pending);
  if (t == nullptr) return unexpected(kWeightUnit, "tiles");
  const std::uint32_t tile = t->tiles++;
  const std::uint32_t group = t->of->request.group();
  for (std::uint32_t g = 0; g < group; ++g) {
    const attention::TileStatistics& golden =
        t->of->expected.result.tiles[static_cast<std::size_t>(tile) * group + g];
    ++checked_.tiles;
    t->heads[g].exponents.push_back(m.tile_exponent[g]);
    equal(*t, kWeightUnit, fmt::format("exponent of tile {}, head {}", tile, g), m.tile_exponent[g],
          golden.exponent);
    equal(*t, kWeightUnit, fmt::format("sum of tile {}, head {}", tile, g), m.tile_sum[g],
          golden.sum);
  }
}

void Scoreboard::see_draw(const Monitors& m) {
  Tracked* t = next(&Scoreboard::draws_pending);
  if (t == nullptr) return unexpected(kSampler, "draws");
  const std::uint32_t head = t->draws++;
  const attention::HeadStatistics& golden = t->of->expected.result.heads[head];
  ++checked_.draws;
  t->heads[head].mass = m.draw_mass;
  t->heads[head].offset = m.draw_offset;
  equal(*t, kSampler, "head of a draw", std::uint32_t{m.draw_head}, head);
  equal(*t, kSampler, fmt::format("exponent M of head {}", head), m.draw_exponent, golden.exponent);
  equal(*t, kSampler, fmt::format("mass Z of head {}", head), m.draw_mass, golden.mass);
  equal(*t, kSampler, fmt::format("offset U of head {}", head), m.draw_offset,
        t->of->expected.offsets[head]);
}

void Scoreboard::see_row(const Monitors& m) {
  Tracked* t = next(&Scoreboard::rows_pending);
  if (t == nullptr) return unexpected(kSampler, "rows");
  const std::size_t row = t->rows++;
  const attention::SampledRow& golden = t->of->expected.result.rows[row];
  ++checked_.rows;
  equal(*t, kSampler, fmt::format("key of row {}", row), m.row_key, golden.key);
  for (std::uint32_t g = 0; g < t->of->request.group(); ++g) {
    equal(*t, kSampler, fmt::format("count of key {}, head {}", golden.key, g),
          unsigned{m.row_counts[g]}, unsigned{golden.counts[g]});
    if (m.row_key < t->heads[g].counts.size()) {
      t->heads[g].counts[m.row_key] += m.row_counts[g];
    }
  }
}

void Scoreboard::see_value(const Monitors& m) {
  Tracked* t = next(&Scoreboard::values_pending);
  if (t == nullptr) return unexpected(kValueGather, "words of value rows");
  const std::uint32_t key = t->of->expected.result.rows[t->value_row].key;
  const std::uint32_t stride = row_stride(unit_, t->of->request.head_dimension());
  const std::uint8_t* golden = t->of->image.find(RegionKind::kValues)->bytes.data() +
                               static_cast<std::size_t>(key) * stride +
                               t->value_word * unit_.port_bytes;
  for (std::uint32_t b = 0; b < unit_.port_bytes; ++b) {
    ++checked_.value_bytes;
    if (m.value[b] == golden[b]) continue;
    equal(*t, kValueGather,
          fmt::format("byte {} of the row of key {}", t->value_word * unit_.port_bytes + b, key),
          int{static_cast<std::int8_t>(m.value[b])}, int{static_cast<std::int8_t>(golden[b])});
  }
  if (++t->value_word == value_words(*t)) {
    t->value_word = 0;
    ++t->value_row;
  }
}

void Scoreboard::see_output(const Monitors& m) {
  Tracked* t = next(&Scoreboard::outputs_pending);
  if (t == nullptr) return unexpected(kNormalizer, "outputs");
  const CosimRequest& r = t->of->request;
  const std::uint32_t d = r.head_dimension();
  if (m.output_head >= r.group() || m.output_feature >= d) {
    report(t, kNormalizer, "place of an output",
           fmt::format("head {}, feature {}", m.output_head, m.output_feature),
           fmt::format("{} heads of {} features", r.group(), d));
    return;
  }
  for (std::uint32_t lane = 0; lane < unit_.normalizer_lanes; ++lane) {
    const std::uint32_t feature = m.output_feature + lane;
    if (feature >= d) break;
    const std::size_t at = static_cast<std::size_t>(m.output_head) * d + feature;
    const auto field = [&] {
      return fmt::format("output of head {}, feature {}", m.output_head, feature);
    };
    if (t->outputs[at]) report(t, kNormalizer, field(), "a second time", "once");
    if (!t->outputs[at]) --t->outputs_left;
    t->outputs[at] = true;
    ++checked_.outputs;
    if (m.output[lane] == t->of->expected.result.output[at]) continue;
    equal(*t, kNormalizer, field(), int{m.output[lane]}, int{t->of->expected.result.output[at]});
  }
}

}  // namespace santa::cosim
