// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <string>

#include "santa/tensor/safetensors.hpp"

namespace santa::tensor {

struct SafetensorsHeader {
  Metadata metadata;
  TensorDirectory tensors;
};

// Parses and checks a header. `data_size` is the number of bytes behind it in the file. Throws
// InputError with `path` as its place.
SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text,
                                           std::uint64_t data_size);

}  // namespace santa::tensor
