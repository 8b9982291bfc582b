// Recorded vectors as files (docs/vectors.md).
#pragma once

#include <string>
#include <vector>

#include "santa/vectors/vector.hpp"

namespace santa::vectors {

inline constexpr const char* kFormat = "santasim-vector";
inline constexpr const char* kFormatVersion = "1";
inline constexpr const char* kExtension = ".safetensors";

// The file appears complete or not at all. Throws InputError if it cannot be written, and
// std::invalid_argument if the parts of the vector do not fit each other.
void write_vector(const std::string& path, const Vector& vector);

// Checks everything: format and version, the sum over the content, every shape and every value that
// the models could not take. Throws InputError that names the file, the key, the value and what is
// allowed.
Vector read_vector(const std::string& path);

// Vectors in a folder and its folders, sorted by path. Throws InputError if there is none.
//   option  names the folder in messages
std::vector<std::string> vector_files(const std::string& option, const std::string& folder);

}  // namespace santa::vectors
