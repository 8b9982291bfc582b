#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "santa/vectors/vector.hpp"

namespace santa::vectors {
namespace {

// Looks on only while nothing has differed.
class Comparison {
 public:
  template <typename T, typename Field>
  void value(const T& recorded, const T& computed, Field field) {
    if (first_ || recorded == computed) return;
    first_ = Difference{field(), fmt::format("{}", recorded), fmt::format("{}", computed)};
  }
  // Arrays by head and then by `inner`: "output of head 2, feature 5".
  template <typename T>
  void by_head(const char* what, const char* inner, std::size_t inner_count,
               const std::vector<T>& recorded, const std::vector<T>& computed) {
    value(recorded.size(), computed.size(), [&] { return fmt::format("number of {}s", what); });
    for (std::size_t i = 0; i < recorded.size() && !first_; ++i) {
      value(recorded[i], computed[i], [&] {
        return fmt::format("{} of head {}, {} {}", what, i / inner_count, inner, i % inner_count);
      });
    }
  }
  bool found() const { return first_.has_value(); }
  std::optional<Difference> take() { return std::move(first_); }

 private:
  std::optional<Difference> first_;
};

void compare_tiles(Comparison& comparison, std::size_t group, const Results& recorded,
                   const Results& computed) {
  comparison.value(recorded.tiles.size(), computed.tiles.size(),
                   [] { return std::string("number of tile statistics"); });
  for (std::size_t i = 0; i < recorded.tiles.size() && !comparison.found(); ++i) {
    const auto field = [&](const char* what) {
      return [=] { return fmt::format("{} of tile {}, head {}", what, i / group, i % group); };
    };
    comparison.value(recorded.tiles[i].exponent, computed.tiles[i].exponent, field("exponent"));
    comparison.value(recorded.tiles[i].sum, computed.tiles[i].sum, field("sum"));
  }
}

void compare_heads(Comparison& comparison, const Results& recorded, const Results& computed) {
  comparison.value(recorded.heads.size(), computed.heads.size(),
                   [] { return std::string("number of heads"); });
  for (std::size_t g = 0; g < recorded.heads.size() && !comparison.found(); ++g) {
    const auto field = [&](const char* what) {
      return [=] { return fmt::format("{} of head {}", what, g); };
    };
    comparison.value(recorded.heads[g].exponent, computed.heads[g].exponent, field("exponent M"));
    comparison.value(recorded.heads[g].mass, computed.heads[g].mass, field("mass Z"));
    comparison.value(recorded.heads[g].offset, computed.heads[g].offset, field("offset U"));
  }
}

void compare_rows(Comparison& comparison, std::size_t group, const Results& recorded,
                  const Results& computed) {
  const std::size_t common = std::min(recorded.rows.size(), computed.rows.size());
  for (std::size_t i = 0; i < common && !comparison.found(); ++i) {
    const attention::SampledRow& a = recorded.rows[i];
    const attention::SampledRow& b = computed.rows[i];
    comparison.value(a.key, b.key, [&] { return fmt::format("key of row {}", i); });
    for (std::size_t g = 0; g < group; ++g) {
      comparison.value(a.counts[g], b.counts[g],
                       [&] { return fmt::format("count of key {}, head {}", a.key, g); });
    }
  }
  comparison.value(recorded.rows.size(), computed.rows.size(),
                   [] { return std::string("number of rows"); });
}

}  // namespace

std::optional<Difference> first_difference(const Request& request, const Results& recorded,
                                           const Results& computed) {
  const std::size_t d = request.head_dimension();
  const std::size_t context = request.context;
  Comparison comparison;
  if (recorded.coefficients) {
    comparison.by_head("coefficient", "feature", d, *recorded.coefficients, *computed.coefficients);
  }
  if (recorded.scores) {
    comparison.by_head("score", "key", context, *recorded.scores, *computed.scores);
  }
  if (recorded.weights) {
    comparison.by_head("weight", "key", context, *recorded.weights, *computed.weights);
  }
  compare_tiles(comparison, request.group(), recorded, computed);
  compare_heads(comparison, recorded, computed);
  compare_rows(comparison, request.group(), recorded, computed);
  comparison.by_head("output", "feature", d, recorded.output, computed.output);
  return comparison.take();
}

std::uint64_t compared_values(const Results& recorded, std::uint32_t group) {
  std::uint64_t count = 2 * recorded.tiles.size() + 3 * recorded.heads.size() +
                        (1 + std::uint64_t{group}) * recorded.rows.size() + recorded.output.size();
  if (recorded.coefficients) count += recorded.coefficients->size();
  if (recorded.scores) count += recorded.scores->size();
  if (recorded.weights) count += recorded.weights->size();
  return count;
}

}  // namespace santa::vectors
