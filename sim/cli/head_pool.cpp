#include "head_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "santa/error.hpp"

namespace santa::cli {

HeadSource::HeadSource(const InputLayer& layer, std::uint32_t kv_head, const CacheFormat& format)
    : whole_(make_cache(layer, kv_head, format)) {
  const attention::LayerTensors& tensors = layer.tensors;
  group_ = tensors.shape.group();
  softmax_scale_ = tensors.softmax_scale;
  const auto first =
      tensors.query.begin() + static_cast<std::ptrdiff_t>(kv_head * group_ * whole_.head_dimension);
  query_.assign(first, first + static_cast<std::ptrdiff_t>(group_ * whole_.head_dimension));
  if (whole_.context < whole_.tile_keys) {
    throw input_error("--trace", "",
                      fmt::format("layer {} has {} tokens", layer.index, whole_.context),
                      fmt::format("at least {}, a tile of this unit", whole_.tile_keys));
  }
  stride_ = std::min(kWindowStride, whole_.tile_keys);
  windows_ = (whole_.context - whole_.tile_keys) / stride_ + 1;
  const std::size_t tile = static_cast<std::size_t>(whole_.head_dimension) * whole_.tile_keys;
  window_keys_.resize(windows_ * tile);
  for (std::uint32_t w = 0; w < windows_; ++w) {
    copy_keys(w * stride_, whole_.tile_keys, window_keys_.data() + w * tile);
  }
}

void HeadSource::copy_keys(std::uint32_t first, std::uint32_t count, std::int8_t* tile) const {
  const std::uint32_t width = whole_.tile_keys;
  for (std::uint32_t done = 0; done < count;) {
    const std::uint32_t token = first + done;
    const std::uint32_t run = std::min(count - done, width - token % width);
    for (std::uint32_t i = 0; i < whole_.head_dimension; ++i) {
      const std::int8_t* from =
          whole_.tile(token / width) + static_cast<std::size_t>(i) * width + token % width;
      std::copy(from, from + run, tile + static_cast<std::size_t>(i) * width + done);
    }
    done += run;
  }
}

attention::KvHead::Page HeadSource::window(std::uint32_t index) const {
  const std::size_t tile = static_cast<std::size_t>(whole_.head_dimension) * whole_.tile_keys;
  return {window_keys_.data() + index * tile, whole_.value_row(index * stride_)};
}

attention::KvHead::Page HeadSource::last(std::uint32_t tokens) {
  std::vector<std::int8_t>& keys = last_keys_[tokens];
  if (keys.empty()) {
    keys.assign(static_cast<std::size_t>(whole_.head_dimension) * whole_.tile_keys, 0);
    copy_keys(whole_.context - tokens, tokens, keys.data());
  }
  return {keys.data(), whole_.value_row(whole_.context - tokens)};
}

attention::KvHead HeadSource::draw(std::uint32_t context, arithmetic::Lfsr64& random) {
  attention::KvHead cache;
  cache.context = context;
  cache.head_dimension = whole_.head_dimension;
  cache.tile_keys = whole_.tile_keys;
  cache.key_bits = whole_.key_bits;
  cache.value_bits = whole_.value_bits;
  cache.key_scale = whole_.key_scale;
  cache.value_exponent = whole_.value_exponent;
  const std::uint32_t tiles = cache.tiles();
  const std::uint32_t windows_a_tile = cache.tile_keys / stride_;
  for (std::uint32_t t = 0; t + 1 < tiles; ++t) {
    if (context == whole_.context) {
      cache.pages.push_back(window(t * windows_a_tile));
    } else if (t == 0) {
      cache.pages.push_back(window(0));
    } else {
      cache.pages.push_back(
          window(static_cast<std::uint32_t>(arithmetic::draw_below(random, windows_))));
    }
  }
  cache.pages.push_back(last(cache.tile_valid_keys(tiles - 1)));
  return cache;
}

HeadPool::HeadPool(const Input& input, std::uint32_t head_dimension, std::uint32_t group,
                   const CacheFormat& format)
    : group_(group) {
  const attention::LayerShape& shape = input.summary.shape;
  const auto refuse = [&](const char* what, std::uint32_t found, std::uint32_t needed) {
    throw input_error("--trace", "", fmt::format("{} has {} {}", input.summary.source, found, what),
                      fmt::format("{} as the model has; or --synthetic gaussian", needed));
  };
  if (shape.head_dimension != head_dimension) {
    refuse("features a head", shape.head_dimension, head_dimension);
  }
  if (shape.group() < group) refuse("query heads a KV head", shape.group(), group);
  for (const auto& make_layer : input.layers) {
    const InputLayer layer = make_layer();
    for (std::uint32_t h = 0; h < shape.kv_heads; ++h) sources_.emplace_back(layer, h, format);
  }
}

HeadPool::Draw HeadPool::draw(std::uint32_t context, std::uint64_t random_state) {
  arithmetic::Lfsr64 random(random_state);
  HeadSource& source = sources_[arithmetic::draw_below(random, sources_.size())];
  const auto first = static_cast<std::uint32_t>(arithmetic::draw_below(random, source.group()));
  Draw draw;
  for (std::uint32_t g = 0; g < group_; ++g) {
    const float* query = source.query(first + g);
    draw.query.insert(draw.query.end(), query, query + source.whole().head_dimension);
  }
  draw.softmax_scale = source.softmax_scale();
  draw.cache = source.draw(context, random);
  return draw;
}

}  // namespace santa::cli
