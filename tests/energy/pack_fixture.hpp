// The default pack, loaded once a test, and its text for tests that change it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "santa/energy/pack.hpp"

namespace santa::energy {

inline const std::string kDefaultPack =
    std::string(SANTA_SOURCE_DIR) + "/configs/energy/horowitz-45nm.yaml";

class DefaultPack : public ::testing::Test {
 protected:
  const EnergyPack pack_ = EnergyPack::load(kDefaultPack);

  double mid(Operation operation, unsigned width, unsigned second = 0) const {
    return pack_.operation(operation, width, second).value.mid;
  }
};

inline std::string default_pack_text() {
  std::ifstream file(kDefaultPack);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace santa::energy
