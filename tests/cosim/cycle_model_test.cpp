// The cycle model in its child process, and requests as files.
#include "santa/cosim/cycle_model.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "santa/config/hardware.hpp"
#include "santa/config/preset.hpp"
#include "santa/cosim/export.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/runner.hpp"

// libsystemc expects it; GoogleTest's main runs instead.
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace santa::cosim {
namespace {

const config::HardwareConfig& tiny() {
  static const config::HardwareConfig hardware = config::load_hardware("tiny-test");
  return hardware;
}

const energy::EnergyPack& pack() {
  static const energy::EnergyPack loaded =
      energy::EnergyPack::load(config::find_config("energy", tiny().energy_pack));
  return loaded;
}

TEST(CycleModel, AgreesWithTheGoldenModelOnEveryRequest) {
  const UnitParameters unit = parameters_of(tiny());
  Random random(3);
  for (int i = 0; i < 12; ++i) {
    const CosimRequest request = random_request(unit, 2048, random);
    const Expectation expected = expect(request);
    const CycleModelResult model = run_cycle_model(tiny(), pack(), request);
    EXPECT_EQ(model.output, expected.result.output) << i;
    ASSERT_EQ(model.rows.size(), expected.result.rows.size()) << i;
    for (std::size_t row = 0; row < model.rows.size(); ++row) {
      EXPECT_EQ(model.rows[row].key, expected.result.rows[row].key);
      EXPECT_EQ(model.rows[row].counts, expected.result.rows[row].counts);
    }
    EXPECT_GT(model.latency_cycles, 0U);
  }
}

TEST(CycleModel, SaysWhyTheChildFailed) {
  attention::DecodeOptions options;
  const CosimRequest request = gaussian_request({20, 8, 8}, options, 16, 1);  // 8 heads: 4 fit
  try {
    run_cycle_model(tiny(), pack(), request);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("unit.group_heads"), std::string::npos)
        << error.what();
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Export, HoldsTheRequestAndItsBorders) {
  const UnitParameters unit = parameters_of(tiny());
  attention::DecodeOptions options;
  options.samples = 4;
  ScoreboardRequest request;
  request.request = gaussian_request({17, 3, 2}, options, unit.tile_keys, 1);
  request.expected = expect(request.request);
  Random noise(1);
  request.image = make_image(request.request, unit,
                             {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000}, 9, 0, noise);
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "cosim_export_test";
  export_request(request, folder.string(), "one");
  EXPECT_EQ(text_of(folder / "one" / "memory.hex").rfind("// descriptor\n@1000\n11 00 00 00 03", 0),
            0U);
  const std::string rows = text_of(folder / "one" / "rows.txt");
  EXPECT_EQ(static_cast<std::size_t>(std::count(rows.begin(), rows.end(), '\n')),
            request.expected.result.rows.size() + 1);
  EXPECT_NE(text_of(folder / "one" / "request.txt").find("output 0x7000 64\n"), std::string::npos);
  const auto low = static_cast<std::uint16_t>(request.expected.result.output[0]) & 0xFF;
  char first[8];
  std::snprintf(first, sizeof first, "%02x", static_cast<unsigned>(low));
  EXPECT_EQ(text_of(folder / "one" / "output.hex").substr(6, 2), first);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(export_request(request, "/dev/null", "one"), InputError);
}

}  // namespace
}  // namespace santa::cosim
