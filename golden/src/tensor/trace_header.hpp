// The metadata of a trace and the shapes that they demand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/trace.hpp"

namespace santa::tensor {

// "layers.0.key"
std::string layer_key(std::uint32_t layer, const std::string& role);

// Reads the header of a trace and checks every tensor of its layers against it. Throws InputError.
TraceHeader parse_trace_header(const SafetensorsFile& file);

// For each axis of the default order of `role` (query, key or value), the axis of the stored
// tensor. Throws InputError.
std::vector<std::size_t> stored_axes(const SafetensorsFile& file, const std::string& role);

}  // namespace santa::tensor
