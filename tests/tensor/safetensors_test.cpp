#include "santa/tensor/safetensors.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

#include "santa/error.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

class SafetensorsTest : public testing::Test {
 protected:
  // The message for a file "f" of these bytes.
  std::string refused(const std::string& bytes) {
    const std::string path = folder_.write("f", bytes);
    return message_of([&] { SafetensorsFile file(path); }, folder_);
  }
  std::string refused(const std::string& header, const std::string& data) {
    return refused(safetensors_bytes(header, data));
  }
  // With one tensor "t" whose entry is `entry`.
  std::string refused_entry(const std::string& entry, const std::string& data) {
    return refused(R"({"t":)" + entry + "}", data);
  }

  TemporaryFolder folder_;
};

TEST_F(SafetensorsTest, ReadsEveryTypeAndMetadata) {
  const std::string header =
      R"({"__metadata__":{"a":"b","":"\u00e9"},"i":{"dtype":"I8","shape":[3],"data_offsets":[4,7]},)"
      R"( "f":{"shape":[1,1],"data_offsets":[0,4],"dtype":"F32"},)"
      R"("none":{"dtype":"BF16","shape":[0,7],"data_offsets":[4,4]},)"
      R"("h":{"dtype":"F16","shape":[],"data_offsets":[7,9]}}  )";
  const std::string data("\x00\x00\x80\x3f\x01\xff\x7f\x00\x3c", 9);
  const SafetensorsFile file(folder_.write("f", safetensors_bytes(header, data)));
  EXPECT_EQ(file.metadata(), (Metadata{{"a", "b"}, {"", "\xc3\xa9"}}));
  EXPECT_EQ(file.tensors().size(), 4U);
  EXPECT_EQ(file.read("f").to_floats(), std::vector<float>{1.0F});
  EXPECT_EQ(file.read("i").to_floats(), (std::vector<float>{1.0F, -1.0F, 127.0F}));
  EXPECT_EQ(file.read("h").to_floats(), std::vector<float>{1.0F});
  EXPECT_TRUE(file.read("none").to_floats().empty());
  EXPECT_EQ(file.find("x"), nullptr);
  EXPECT_EQ(message_of([&] { file.read("x"); }, folder_), "f: tensor \"x\": is missing");
}

TEST_F(SafetensorsTest, OtherThanRegularFiles) {
  EXPECT_EQ(message_of([&] { SafetensorsFile file(folder_.path("no\tne")); }, folder_),
            "no\\tne: cannot open: No such file or directory; allowed: a readable regular file");
  ASSERT_EQ(::mkdir(folder_.path("folder").c_str(), 0700), 0);
  EXPECT_EQ(message_of([&] { SafetensorsFile file(folder_.path("folder")); }, folder_),
            "folder: is a folder; allowed: a regular file");
  ASSERT_EQ(::mkfifo(folder_.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(message_of([&] { SafetensorsFile file(folder_.path("fifo")); }, folder_),
            "fifo: is a FIFO; allowed: a regular file");
  EXPECT_EQ(message_of([&] { SafetensorsFile file("/dev/zero"); }, folder_),
            "/dev/zero: is a device; allowed: a regular file");
  EXPECT_EQ(message_of([&] { SafetensorsFile file(std::string("a\0b", 3)); }, folder_),
            "a\\x00b: the name holds a zero byte; allowed: the name of a file");
}

TEST_F(SafetensorsTest, Lengths) {
  EXPECT_EQ(refused(""), "f: 0 bytes; allowed: a safetensors file, of 10 bytes or more");
  EXPECT_EQ(refused(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            "f: header length: got 18446744073709551615; allowed: 2..2, the bytes behind it in the "
            "file");
  EXPECT_EQ(refused(std::string("\0\0\0\0\0\0\0\0{}", 10)),
            "f: header length: got 0; allowed: 2..2, the bytes behind it in the file");
  // 200 MB of nothing, which take no room on the disk.
  const std::string path = folder_.write("f", std::string("\0\xe1\xf5\x0b\0\0\0\0{}", 10));
  ASSERT_EQ(::truncate(path.c_str(), 300'000'000), 0);
  EXPECT_EQ(message_of([&] { SafetensorsFile file(path); }, folder_),
            "f: header length: got 200663296; allowed: 2..100000000");
}

TEST_F(SafetensorsTest, HeadersThatAreNotAnObjectOfObjects) {
  EXPECT_EQ(refused("[1]", ""),
            "f: header: got \"[1]\" at its start; allowed: a JSON object that starts with {");
  EXPECT_EQ(refused("\xef\xbb\xbf{}", ""),
            "f: header: got \"\\xef\\xbb\\xbf{}\" at its start; allowed: a JSON object that starts "
            "with {");
  EXPECT_EQ(refused(std::string("{}\0x", 4), ""),
            "f: header: a zero byte at its byte 2; allowed: a JSON object");
  EXPECT_EQ(refused("{} x", ""),
            "f: header: is not JSON from its byte 4 on; allowed: a JSON object");
  EXPECT_EQ(refused(R"({"t":)", ""),
            "f: header: is not JSON from its byte 6 on; allowed: a JSON object");
  EXPECT_EQ(refused("{\"\xff\":{}}", ""),
            "f: header: is not JSON from its byte 3 on; allowed: a JSON object");
  EXPECT_EQ(refused_entry("null", ""), "f: tensor \"t\": got null; allowed: an object");
  EXPECT_EQ(refused_entry("[]", ""), "f: tensor \"t\": got a list; allowed: an object");
  EXPECT_EQ(refused_entry("1", ""), "f: tensor \"t\": got 1; allowed: an object");
  EXPECT_EQ(refused(R"({"__metadata__":"x"})", ""),
            "f: __metadata__: got \"x\"; allowed: an object of strings");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":1}})", ""),
            "f: __metadata__: \"a\": got 1; allowed: a string");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":{}}})", ""),
            "f: __metadata__: \"a\": got an object; allowed: a string");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":"","a":""}})", ""),
            "f: __metadata__: \"a\": is there twice; allowed: once");
  EXPECT_EQ(refused(R"({"__metadata__":{},"__metadata__":{}})", ""),
            "f: __metadata__: is there twice; allowed: once");
  // Deep nesting ends at the first level that has no place.
  EXPECT_EQ(refused(R"({"t":{"shape":)" + std::string(100000, '['), ""),
            "f: tensor \"t\": shape: got a list; allowed: up to 32 integers from 0 to 2^64 - 1");
}

TEST_F(SafetensorsTest, Entries) {
  const std::string good = R"({"dtype":"I8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(refused(R"({"t":)" + good + R"(,"t":)" + good + "}", "x"),
            "f: tensor \"t\": is there twice; allowed: once");
  EXPECT_EQ(refused_entry(R"({"dtype":"F64","shape":[1],"data_offsets":[0,8]})", "12345678"),
            "f: tensor \"t\": dtype: got \"F64\"; allowed: F32, F16, BF16, I8, "
            "I16, U16, I32, U32, U64");
  EXPECT_EQ(refused_entry(R"({"dtype":1})", ""),
            "f: tensor \"t\": dtype: got 1; allowed: F32, F16, BF16, I8, "
            "I16, U16, I32, U32, U64");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","dtype":"I8"})", ""),
            "f: tensor \"t\": dtype: is there twice; allowed: once");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","shape":[1]})", "x"),
            "f: tensor \"t\": data_offsets is missing; allowed: dtype, shape, data_offsets");
  EXPECT_EQ(refused_entry(R"({"color":"red"})", ""),
            "f: tensor \"t\": unknown key \"color\"; allowed: dtype, shape, data_offsets");
  EXPECT_EQ(refused_entry(R"({"shape":[-1]})", ""),
            "f: tensor \"t\": shape: got -1; allowed: up to 32 integers from 0 to 2^64 - 1");
  EXPECT_EQ(refused_entry(R"({"shape":[1.5]})", ""),
            "f: tensor \"t\": shape: got 1.5; allowed: up to 32 integers from 0 to 2^64 - 1");
  EXPECT_EQ(
      refused_entry(R"({"shape":[18446744073709551616]})", ""),
      "f: tensor \"t\": shape: got 18446744073709551616; allowed: up to 32 integers from 0 to "
      "2^64 - 1");
  EXPECT_EQ(refused_entry(R"({"shape":["1"]})", ""),
            "f: tensor \"t\": shape: got \"1\"; allowed: up to 32 integers from 0 to 2^64 - 1");
  EXPECT_EQ(refused_entry(R"({"shape":"1"})", ""),
            "f: tensor \"t\": shape: got \"1\"; allowed: a list of integers from 0");
  EXPECT_EQ(refused_entry(R"({"data_offsets":[0]})", ""),
            "f: tensor \"t\": data_offsets: got 1 integers; allowed: two integers from 0 to 2^64 - "
            "1");
  EXPECT_EQ(refused_entry(R"({"data_offsets":[0,1,2]})", ""),
            "f: tensor \"t\": data_offsets: got more than two integers; allowed: two integers from "
            "0 to 2^64 - 1");
  std::string many = "1";
  for (int i = 0; i < 32; ++i) many += ",1";
  EXPECT_EQ(refused_entry(R"({"shape":[)" + many + "]}", ""),
            "f: tensor \"t\": shape: got more than 32 axes; allowed: up to 32 integers from 0 to "
            "2^64 - 1");
}

TEST_F(SafetensorsTest, SizesAndLayout) {
  EXPECT_EQ(
      refused_entry(R"({"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]})", ""),
      "f: tensor \"t\": shape: got [4611686018427387904]; allowed: a size below 2^64 bytes");
  EXPECT_EQ(
      refused_entry(R"({"dtype":"I8","shape":[4294967296,4294967295],"data_offsets":[0,1]})", "x"),
      "f: tensor \"t\": data_offsets: got [0, 1]; allowed: 18446744069414584320 bytes, for I8 of "
      "shape [4294967296, 4294967295]");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","shape":[1],"data_offsets":[1,0]})", "x"),
            "f: tensor \"t\": data_offsets: got [1, 0]; allowed: begin <= end");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","shape":[2],"data_offsets":[0,2]})", "x"),
            "f: tensor \"t\": data_offsets: got [0, 2]; allowed: 0..1, the bytes behind the "
            "header");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","shape":[1],"data_offsets":[1,2]})", "xy"),
            "f: tensor \"t\": data_offsets: got [1, 2], a gap of unused bytes before; allowed: a "
            "begin at 0");
  EXPECT_EQ(refused_entry(R"({"dtype":"I8","shape":[1],"data_offsets":[0,1]})", "xy"),
            "f: 2 bytes behind the header; allowed: 1, where the last tensor ends");
  EXPECT_EQ(refused(R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},)"
                    R"("b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
                    "xyz"),
            "f: tensor \"b\": data_offsets: got [1, 3], an overlap with the tensor before; "
            "allowed: a begin at 2");
}

TEST_F(SafetensorsTest, NamesInMessagesAreEscapedAndCut) {
  EXPECT_EQ(refused(R"({"a\u001b[31m\n":1})", ""),
            "f: tensor \"a\\x1b[31m\\n\": got 1; allowed: an object");
  EXPECT_EQ(refused("{\"" + std::string(100000, 'n') + "\":1}", ""),
            "f: tensor \"" + std::string(60, 'n') + "...\": got 1; allowed: an object");
}

std::string small_file(const TemporaryFolder& folder) {
  const std::string path = folder.path("small");
  write_safetensors(path, {f32_tensor("a", {2}, {1, 2}), i8_tensor("b", {3}, {1, 2, 3})},
                    {{"key", "value"}});
  return read_file(path);
}

TEST_F(SafetensorsTest, TruncatedAtEveryByte) {
  const std::string bytes = small_file(folder_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refused(bytes.substr(0, size)), "") << size;
  }
}

TEST_F(SafetensorsTest, FileThatShrinksAfterItWasOpened) {
  const std::string path = folder_.write("f", small_file(folder_));
  const SafetensorsFile file(path);
  ASSERT_EQ(::truncate(path.c_str(), 20), 0);
  EXPECT_EQ(message_of([&] { file.read("b"); }, folder_).substr(0, 14), "f: has no byte");
}

// A file that states more than there is memory for, and has that size, is refused too.
TEST_F(SafetensorsTest, SparseFileBeyondMemory) {
#ifdef SANTA_SANITIZE
  GTEST_SKIP() << "the sanitizer ends the program at such an allocation";
#endif
  const std::string header =
      R"({"t":{"dtype":"I8","shape":[8000000000000],"data_offsets":[0,8000000000000]}})";
  const std::string path = folder_.write("f", safetensors_bytes(header, ""));
  if (::truncate(path.c_str(), static_cast<off_t>(8 + header.size() + 8000000000000)) != 0) {
    GTEST_SKIP() << "the file system has no files of 8 TB";
  }
  const SafetensorsFile file(path);
  EXPECT_EQ(message_of([&] { file.read("t"); }, folder_),
            "f: tensor \"t\": 8000000000000 bytes; allowed: what the memory of this machine "
            "holds");
}

TEST_F(SafetensorsTest, MutatedHeaders) {
  const std::string bytes = small_file(folder_);
  const std::size_t header_end = bytes.size() - 11;
  std::mt19937 random(1);
  const std::string alphabet("{}[]\",:0123456789-.eE\\ tfn\0\xff", 28);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string mutant = bytes;
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      const std::size_t at = random() % header_end;
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          mutant[at] = c;
          break;
        case 1:
          mutant.insert(at, 1, c);
          break;
        default:
          mutant.erase(at, 1);
      }
    }
    const std::string path = folder_.write("f", mutant);
    try {
      const SafetensorsFile file(path);
      for (const auto& [name, info] : file.tensors()) {
        EXPECT_EQ(file.read(name).bytes.size(), info.end - info.begin);
      }
      ++accepted;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 2000);
}

}  // namespace
}  // namespace santa::tensor
