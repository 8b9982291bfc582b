// What a configuration key means, for documentation and `santasim describe config`.
#pragma once

#include <string>

namespace santa::config {

struct KeyDescription {
  std::string key;       // dotted: "unit.tile_keys"
  std::string type;      // "text", "number", "integer", "power of two", "choice"
  std::string allowed;   // "16 to 1024", or the names of a choice
  std::string unit;      // "keys", "MHz", "KiB", ...; empty where there is none
  std::string sentence;  // one sentence
};

}  // namespace santa::config
