#include "santa/config/model_shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "key_binder.hpp"
#include "santa/config/preset.hpp"

namespace santa::config {
namespace {

constexpr const char* kScaleRule = "inverse_sqrt_head_dimension";

template <typename Shape, typename Visitor>
void visit_model_keys(Shape& shape, Visitor& v) {
  v.text("name", shape.name, "Name of the model.");
  v.text("source", shape.source, "Where the shape comes from.");
  v.text("licence", shape.licence, "Licence of the model's weights.");
  v.integer("layers", shape.layers, 1, 1024, "layers", "Decoder layers.");
  v.integer("query_heads", shape.query_heads, 1, 1024, "heads",
            "Query heads of a layer; a multiple of kv_heads.");
  v.integer("kv_heads", shape.kv_heads, 1, 1024, "heads", "Key and value heads of a layer.");
  v.integer("head_dimension", shape.head_dimension, 16, 1024, "features",
            "Features of a query, key or value vector of one head.");
  v.integer("max_context", shape.max_context, 1, 1048576, "tokens",
            "Longest context the model is published for.");
  v.number_or_word("softmax_scale", kScaleRule, shape.stated_softmax_scale, 1e-6, 1e6, "",
                   "Factor on scores before the softmax.");
}

}  // namespace

double ModelShape::softmax_scale() const {
  return stated_softmax_scale.value_or(1.0 / std::sqrt(static_cast<double>(head_dimension)));
}

std::string ModelShape::canonical_text() const {
  KeyWriter writer;
  visit_model_keys(*this, writer);
  return writer.result();
}

ModelShape read_model_shape(const Node& root) {
  ModelShape shape;
  KeyReader reader(root);
  visit_model_keys(shape, reader);
  root.finish();
  if (shape.query_heads % shape.kv_heads != 0) {
    throw root.error("query_heads", fmt::format("got {}", shape.query_heads),
                     fmt::format("a multiple of kv_heads, which is {}", shape.kv_heads));
  }
  return shape;
}

ModelShape load_model_shape(const std::string& name_or_path,
                            const std::vector<Override>& overrides) {
  Node root = load_yaml_file(find_config("models", name_or_path));
  root.set_overrides(overrides);
  return read_model_shape(root);
}

std::vector<KeyDescription> describe_model_keys() {
  const ModelShape shape;
  KeyDescriber describer;
  visit_model_keys(shape, describer);
  return describer.result();
}

void require_fit(const HardwareConfig& hardware, const ModelShape& model) {
  const std::string place = "model " + in_quotes(model.name);
  const std::string unit = "on hardware " + in_quotes(hardware.name);
  if (model.group() > hardware.unit.group_heads) {
    throw input_error(
        place, "query_heads / kv_heads", fmt::format("got {}", model.group()),
        fmt::format("at most unit.group_heads {}, which is {}", unit, hardware.unit.group_heads));
  }
  if (model.head_dimension > hardware.unit.max_head_dimension) {
    throw input_error(place, "head_dimension", fmt::format("got {}", model.head_dimension),
                      fmt::format("at most unit.max_head_dimension {}, which is {}", unit,
                                  hardware.unit.max_head_dimension));
  }
}

}  // namespace santa::config
