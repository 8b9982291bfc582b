// The shape of a language model's attention. Every key is required; describe_model_keys() documents
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/config/key_description.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {

struct ModelShape {
  std::string name;
  std::string source;
  std::string licence;
  std::int64_t layers = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dimension = 0;
  std::int64_t max_context = 0;
  // Empty for the usual rule, 1 / sqrt(head_dimension).
  std::optional<double> stated_softmax_scale;

  // Query heads that share one KV head. Exact: kv_heads divides query_heads.
  std::int64_t group() const { return query_heads / kv_heads; }
  // Factor on the score before the softmax.
  double softmax_scale() const;
  // As HardwareConfig::canonical_text().
  std::string canonical_text() const;
};

// Reads a preset ("llama-3.1-8b", see find_config) or a file. Throws InputError.
ModelShape load_model_shape(const std::string& name_or_path,
                            const std::vector<Override>& overrides = {});

// The same from an opened document.
ModelShape read_model_shape(const Node& root);

// One entry a key, in the order of canonical_text().
std::vector<KeyDescription> describe_model_keys();

// Throws InputError if the unit has too few head lanes or too short a head dimension for the model.
void require_fit(const HardwareConfig& hardware, const ModelShape& model);

}  // namespace santa::config
