// Text from files and paths, made fit for a message of one line.
#pragma once

#include <string>
#include <string_view>

namespace santa::tensor {

// `text` with control characters, backslashes and bytes outside ASCII as \n, \t, \\ or \xHH.
// Nothing is cut: meant for paths.
std::string shown(std::string_view text);

// `text` as shown() gives it, between double quotes, cut after 60 characters with "..." behind.
// Meant for names and values that a file states.
std::string in_quotes(std::string_view text);

// "tensor \"layers.0.key\""
std::string tensor_key(std::string_view name);

}  // namespace santa::tensor
