// The search for configuration files by name.
#include "santa/config/preset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect_refused.hpp"
#include "santa/config/message_text.hpp"

namespace santa::config {
namespace {

namespace fs = std::filesystem;

const std::string kSourceConfigs = std::string(SANTA_SOURCE_DIR) + "/configs";

// A folder of the user's own, named by the environment variable.
class UserPresets : public testing::Test {
 protected:
  UserPresets()
      : directory_(testing::TempDir() + "santa_presets_" +
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(directory_ + "/hardware");
    setenv("SANTASIM_CONFIG_DIR", directory_.c_str(), 1);
  }
  ~UserPresets() override {
    unsetenv("SANTASIM_CONFIG_DIR");
    fs::remove_all(directory_);
  }

  std::string directory_;
};

TEST(Preset, NamesAndPaths) {
  EXPECT_TRUE(is_preset_name("qwen2.5-coder-1.5b"));
  EXPECT_FALSE(is_preset_name("./edge"));
  EXPECT_FALSE(is_preset_name("edge.yaml"));
  EXPECT_FALSE(is_preset_name("edge.yml"));
  EXPECT_EQ(find_config("hardware", "absent/edge.yaml"), "absent/edge.yaml");
}

TEST(Preset, FindsShippedFiles) {
  EXPECT_EQ(find_config("hardware", "tiny-test"), kSourceConfigs + "/hardware/tiny-test.yaml");
  EXPECT_EQ(find_config("models", "llama-3.1-8b"), kSourceConfigs + "/models/llama-3.1-8b.yaml");
}

TEST(Preset, UnknownNamesListWhatThereIs) {
  const std::string all = joined(preset_names("hardware"));
  EXPECT_EQ(refusal_of([] { find_config("hardware", "edge-lpddr4"); }),
            "hardware: unknown preset \"edge-lpddr4\", did you mean \"edge-lpddr5\"?; allowed: " +
                all + ", or a path with '/' or ending in .yaml");
  EXPECT_EQ(
      refusal_of([] { find_config("hardware", ""); }),
      "hardware: unknown preset \"\"; allowed: " + all + ", or a path with '/' or ending in .yaml");
  EXPECT_EQ(refusal_of([] { find_config("nothing", "x\n"); }),
            "nothing: unknown preset \"x\\n\"; allowed: none, or a path with '/' or ending in "
            ".yaml");
}

TEST_F(UserPresets, ComeFirstAndAddToTheShippedOnes) {
  for (const std::string name : {"mine", "tiny-test"}) {
    std::ofstream(directory_ + "/hardware/" + name + ".yaml") << "a: 1\n";
  }
  EXPECT_EQ(find_config("hardware", "mine"), directory_ + "/hardware/mine.yaml");
  EXPECT_EQ(find_config("hardware", "tiny-test"), directory_ + "/hardware/tiny-test.yaml");
  EXPECT_EQ(find_config("hardware", "edge-lpddr5"), kSourceConfigs + "/hardware/edge-lpddr5.yaml");
  EXPECT_THAT(preset_names("hardware"),
              testing::IsSupersetOf({"edge-lpddr5", "mine", "tiny-test"}));
}

TEST_F(UserPresets, AreRefusedIfTheFolderIsAbsent) {
  fs::remove_all(directory_);
  const std::string message = refusal_of([] { find_config("hardware", "tiny-test"); });
  EXPECT_EQ(message, "$SANTASIM_CONFIG_DIR: got " + in_quotes(directory_) +
                         "; allowed: a folder with configuration files");
}

}  // namespace
}  // namespace santa::config
