// Values that a vector's file may hold: what the models can take.
#pragma once

#include <string>

#include "santa/vectors/vector.hpp"

namespace santa::vectors {

// Throws InputError with `path` as its place. The shapes are right already.
void check_values(const std::string& path, const Vector& vector);

}  // namespace santa::vectors
