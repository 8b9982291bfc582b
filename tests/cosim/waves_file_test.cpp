#include "santa/cosim/waves_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "santa/error.hpp"

namespace santa::cosim {
namespace {

namespace fs = std::filesystem;

std::string big_endian(std::uint64_t value) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

// A header with its times and one more block, as long as they say.
std::string two_blocks(std::uint64_t end_time = 70) {
  std::string text(1, '\0');
  text += big_endian(8 + 16 + 5) + big_endian(0) + big_endian(end_time) + "names";
  return text + '\4' + big_endian(8 + 3) + "abc";
}

class WavesFileTest : public testing::Test {
 protected:
  WavesFileTest() {
    std::string name = (fs::temp_directory_path() / "waves-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~WavesFileTest() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  bool is_whole(const std::string& text) const {
    write(folder_ / "f", text);
    return is_whole_fst((folder_ / "f").string());
  }

  fs::path folder_;
};

TEST_F(WavesFileTest, EveryCutIsSeen) {
  const std::string text = two_blocks();
  EXPECT_TRUE(is_whole(text));
  const std::size_t header = text.find('\4');
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_EQ(is_whole(text.substr(0, bytes)), bytes == header) << bytes;
  }
  EXPECT_FALSE(is_whole(text + '\0'));
  EXPECT_FALSE(is_whole(two_blocks(0)));  // never closed
  EXPECT_FALSE(is_whole_fst((folder_ / "none").string()));
}

TEST_F(WavesFileTest, AppearsWhenItIsWhole) {
  const std::string path = (folder_ / "w.fst").string();
  {
    WavesFile file("--waves", path);
    write(file.partial(), two_blocks());
    EXPECT_FALSE(fs::exists(path));
    file.commit();
  }
  EXPECT_TRUE(is_whole_fst(path));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(WavesFileTest, LeavesNothingOfWhatIsNotWhole) {
  const std::string path = (folder_ / "w.fst").string();
  {
    WavesFile file("--waves", path);
    write(file.partial(), two_blocks().substr(0, 40));
    write(file.partial() + ".hier", "x");
    EXPECT_THROW(file.commit(), InputError);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(WavesFileTest, PlacesThatCannotBeAreNamed) {
  for (const char* path : {"/dev/null/w.fst", "/no/such/folder/w.fst"}) {
    try {
      WavesFile file("--waves", path);
      FAIL() << path;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
}

// What a write into a mapped file of a full disk is.
TEST_F(WavesFileTest, SignalsLeaveNothing) {
  for (const int signal : {SIGBUS, SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = ::fork();
    if (child == 0) {
      WavesFile file("--waves", (folder_ / "w.fst").string());
      write(file.partial() + ".hier", "x");
      static_cast<void>(::raise(signal));
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (signal == SIGBUS) {
      EXPECT_EQ(WEXITSTATUS(status), 2);
    } else {
      EXPECT_EQ(WTERMSIG(status), signal);
    }
    EXPECT_TRUE(fs::is_empty(folder_)) << signal;
  }
}

}  // namespace
}  // namespace santa::cosim
