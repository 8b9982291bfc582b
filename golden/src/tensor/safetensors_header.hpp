// The JSON header of a safetensors file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"

namespace santa::tensor {

struct SafetensorsHeader {
  Metadata metadata;
  std::map<std::string, SafetensorsFile::Entry> entries;
};

// Reads and checks the header text against the `data_bytes` that follow it in the file. Throws
// InputError with `place` as the file.
SafetensorsHeader parse_safetensors_header(const std::string& place,
                                           const std::vector<std::byte>& text,
                                           std::uint64_t data_bytes);

}  // namespace santa::tensor
