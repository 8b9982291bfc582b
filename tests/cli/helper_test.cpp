// The command line's own small functions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fp16_attention.hpp"
#include "process_pool.hpp"
#include "program.hpp"
#include "santa/attention/synthetic.hpp"
#include "santa/error.hpp"
#include "santa/reference/attention.hpp"
#include "sha256.hpp"
#include "text.hpp"
#include "worker_processes.hpp"

// Asked for by the SystemC library, which has a main of its own; see sim/cli/main.cpp.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace santa::test {
namespace {

std::string sha256(const std::string& text) {
  cli::Sha256 hash;
  hash.update(text);
  return hash.finish();
}

// FIPS 180-4 examples, and a length around each padding case.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameDigestAsTheWhole) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 37);
  for (const std::size_t length : {55U, 56U, 63U, 64U, 65U, 119U, 120U, 1000U}) {
    const std::string part = text.substr(0, length);
    cli::Sha256 hash;
    for (const char c : part) hash.update(std::string_view(&c, 1));
    EXPECT_EQ(hash.finish(), sha256(part)) << length;
    write_file(folder / "file", part);
    EXPECT_EQ(cli::sha256_of_file(folder / "file"), sha256(part));
  }
  EXPECT_THROW(cli::sha256_of_file(folder / "missing"), InputError);
}

TEST(Text, Numbers) {
  EXPECT_EQ(cli::grouped(0), "0");
  EXPECT_EQ(cli::grouped(999), "999");
  EXPECT_EQ(cli::grouped(1000), "1,000");
  EXPECT_EQ(cli::grouped(18446744073709551615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(cli::quantity(0.0), "0");
  EXPECT_EQ(cli::quantity(0.01234), "0.01234");
  EXPECT_EQ(cli::quantity(999.94), "999.9");
  EXPECT_EQ(cli::quantity(999.96), "1,000");
  EXPECT_EQ(cli::quantity(1234567.4), "1,234,567");
  EXPECT_EQ(cli::quantity(1.5e13), "1.500e+13");
  EXPECT_EQ(cli::quantity(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, WrapsAtTheScreenWidth) {
  const std::string text =
      cli::wrapped("  " + std::string(60, 'a') + " " + std::string(60, 'b'), 4);
  EXPECT_EQ(text, "  " + std::string(60, 'a') + "\n    " + std::string(60, 'b') + "\n");
  EXPECT_EQ(cli::wrapped("short", 4), "short\n");
  EXPECT_EQ(cli::wrapped("", 4), "\n");
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(cli::round_to_half(1.0F), 1.0F);
  EXPECT_EQ(cli::round_to_half(1.0F + 0x1p-11F), 1.0F);             // tie to even
  EXPECT_EQ(cli::round_to_half(1.0F + 0x3p-11F), 1.0F + 0x2p-10F);  // tie to even, upwards
  EXPECT_EQ(cli::round_to_half(1.0F + 0x1.1p-11F), 1.0F + 0x1p-10F);
  EXPECT_EQ(cli::round_to_half(-65504.0F), -65504.0F);
  EXPECT_EQ(cli::round_to_half(65519.0F), 65504.0F);
  EXPECT_TRUE(std::isinf(cli::round_to_half(65520.0F)));
  EXPECT_EQ(cli::round_to_half(0x1p-24F), 0x1p-24F);  // the smallest subnormal
  EXPECT_EQ(cli::round_to_half(0x1p-25F), 0.0F);      // half of it: tie to even
  EXPECT_EQ(cli::round_to_half(0x1.8p-25F), 0x1p-24F);
  EXPECT_EQ(cli::round_to_half(-0x1p-14F), -0x1p-14F);
}

TEST(Half, AttentionIsCloseToTheReference) {
  const attention::LayerTensors layer = attention::make_gaussian({4, 2, 64, 300}, 7, 0);
  for (std::size_t kv = 0; kv < 2; ++kv) {
    const float* queries = layer.query.data() + kv * 2 * 64;
    const float* keys = layer.key.data() + kv * 300 * 64;
    const float* values = layer.value.data() + kv * 300 * 64;
    const std::vector<float> output = cli::attend_fp16(queries, 2, keys, values, 300, 64,
                                                       static_cast<float>(layer.softmax_scale));
    for (std::size_t g = 0; g < 2; ++g) {
      const reference::Attention exact =
          reference::attend(queries + g * 64, keys, values, 300, 64, layer.softmax_scale);
      reference::RelativeError error;
      for (std::size_t i = 0; i < 64; ++i) {
        error.add(exact.output[i], static_cast<double>(output[g * 64 + i]));
      }
      EXPECT_LT(error.value(), 1e-3);
      EXPECT_GT(error.value(), 0.0);
    }
  }
}

// What the system does to a process when memory runs out is no fault of the program.
TEST(Processes, AKilledOneIsExplained) {
  try {
    cli::run_in_processes(
        1, 1,
        [](std::size_t) -> std::vector<double> {
          ::kill(::getpid(), SIGKILL);
          return {};
        },
        [](std::size_t) {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("memory runs out; allowed: fewer --jobs"),
              std::string::npos)
        << error.what();
  }
  cli::ProcessPool pool(1);
  pool.start(7, [] {
    ::kill(::getpid(), SIGKILL);
    return std::string();
  });
  std::optional<cli::WorkOutcome> outcome;
  while (!(outcome = pool.poll())) cli::nap();
  EXPECT_EQ(outcome->id, 7U);
  EXPECT_EQ(outcome->exit_code, 2);
  EXPECT_NE(outcome->text.find("memory runs out; allowed: fewer --jobs"), std::string::npos)
      << outcome->text;
}

}  // namespace
}  // namespace santa::test
