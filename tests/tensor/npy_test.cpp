#include "santa/tensor/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "santa/error.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

// Version 1.0, or a later one with four bytes of length.
std::string npy_bytes(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  const auto size = static_cast<std::uint32_t>(header.size());
  char length[4];
  std::memcpy(length, &size, 4);
  bytes.append(length, version == 1 ? 2 : 4);
  return bytes + header + data;
}

std::string dictionary(const std::string& descr, const std::string& fortran,
                       const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

class NpyTest : public testing::Test {
 protected:
  Tensor read(const std::string& bytes) { return read_npy(folder_.write("f", bytes)); }
  std::string refused(const std::string& bytes) {
    const std::string path = folder_.write("f", bytes);
    return message_of([&] { read_npy(path); }, folder_);
  }
  std::string refused_header(const std::string& header) { return refused(npy_bytes(header, "")); }

  TemporaryFolder folder_;
};

TEST_F(NpyTest, TypesAndVersions) {
  const std::string one("\x00\x00\x80\x3f", 4);
  for (const char version : {'\1', '\2', '\3'}) {
    const Tensor tensor =
        read(npy_bytes(dictionary("<f4", "False", "(1, 1)") + "   \n", one, version));
    EXPECT_EQ(tensor.to_floats(), std::vector<float>{1.0F});
    EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{1, 1}));
  }
  EXPECT_EQ(read(npy_bytes(dictionary("<f2", "False", "()"), std::string("\0\x3c", 2))).to_floats(),
            std::vector<float>{1.0F});
  EXPECT_EQ(read(npy_bytes(dictionary("|i1", "True", "(3,)"), "\x01\x80\xff")).to_floats(),
            (std::vector<float>{1.0F, -128.0F, -1.0F}));
  EXPECT_EQ(read(npy_bytes(dictionary("<f4", "False", "(0, 9)"), "")).elements(), 0U);
  // Keys in any order, either kind of quotes, no comma at the end.
  EXPECT_EQ(read(npy_bytes(R"({"shape":(1,),"descr":"|i1","fortran_order":False})", "\x05")).at(0),
            5.0F);
}

// Element [i][j][k] = 20 i + 5 j + k, stored with i the fastest.
TEST_F(NpyTest, FortranOrder) {
  std::string data;
  for (int k = 0; k < 5; ++k) {
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 3; ++i) data += static_cast<char>(20 * i + 5 * j + k);
    }
  }
  const Tensor tensor = read(npy_bytes(dictionary("|i1", "True", "(3, 4, 5)"), data));
  EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{3, 4, 5}));
  for (std::uint64_t i = 0; i < 60; ++i) EXPECT_EQ(tensor.at(i), static_cast<float>(i));
}

TEST_F(NpyTest, FilesThatAreNoArrays) {
  EXPECT_EQ(message_of([&] { read_npy(folder_.path("none")); }, folder_),
            "none: cannot open: No such file or directory; allowed: a readable regular file");
  EXPECT_EQ(message_of([&] { read_npy(folder_.path("")); }, folder_),
            ": is a folder; allowed: a regular file");
  EXPECT_EQ(refused(""), "f: 0 bytes; allowed: a .npy file, of 10 bytes or more");
  EXPECT_EQ(refused("PK\x03\x04 archive"),
            "f: starts with \"PK\\x03\\x04 a\"; allowed: \"\\x93NUMPY\", a .npy file");
  EXPECT_EQ(refused(npy_bytes("", "", 4)), "f: format version: got 4.0; allowed: 1.0, 2.0, 3.0");
  EXPECT_EQ(refused(std::string("\x93NUMPY\x02\0\0\0", 10)), "f: 10 bytes; allowed: 12 or more");
  EXPECT_EQ(refused(std::string("\x93NUMPY\x01\0\xff\xff{}", 12)),
            "f: header length: got 65535; allowed: 0..2");
}

TEST_F(NpyTest, Headers) {
  EXPECT_EQ(refused_header(dictionary(">f4", "False", "(1,)")),
            "f: descr: got \">f4\"; allowed: '<f4', '<f2', '|i1'");
  EXPECT_EQ(refused_header("{'descr': [('a', '<f4')]}"),
            "f: descr: got a structured type; allowed: '<f4', '<f2', '|i1'");
  EXPECT_EQ(refused_header(dictionary("<f4", "None", "(1,)")),
            "f: header: \"None, 'shape': (\" at its byte 34; allowed: True or False");
  EXPECT_EQ(refused_header(dictionary("<f4", "False", "(1)")),
            "f: header: \", }\" at its byte 53; allowed: a comma behind a single extent");
  EXPECT_EQ(refused_header(dictionary("<f4", "False", "(-1,)")),
            "f: header: \"-1,), }\" at its byte 51; allowed: an integer");
  EXPECT_EQ(refused_header(dictionary("<f4", "False", "(18446744073709551616,)")),
            "f: shape: an integer beyond 2^64 - 1; allowed: 0 to 2^64 - 1");
  EXPECT_EQ(refused_header("{'descr': '|i1', 'shape': ()}"),
            "f: header: fortran_order is missing; allowed: descr, fortran_order, shape");
  EXPECT_EQ(refused_header("{'descr': '|i1', 'descr': '|i1'}"),
            "f: descr: is there twice; allowed: once");
  EXPECT_EQ(refused_header("{'a\n': 1}"),
            "f: header: unknown key \"a\\n\"; allowed: descr, fortran_order, shape");
  EXPECT_EQ(refused_header("{'descr"),
            "f: header: \"'descr\" at its byte 1; allowed: a string that ends");
  EXPECT_EQ(refused_header(dictionary("|i1", "False", "()") + "x"),
            "f: header: \"x\" at its byte 55; allowed: blanks behind the dictionary");
  EXPECT_EQ(refused_header(""), "f: header: its end at its byte 0; allowed: {");
}

TEST_F(NpyTest, Sizes) {
  EXPECT_EQ(refused(npy_bytes(dictionary("<f4", "False", "(2,)"), "1234567")),
            "f: 7 bytes behind the header; allowed: 8, for F32 of shape [2]");
  EXPECT_EQ(refused(npy_bytes(dictionary("<f4", "False", "(2,)"), "123456789")),
            "f: 9 bytes behind the header; allowed: 8, for F32 of shape [2]");
  EXPECT_EQ(refused(npy_bytes(dictionary("<f4", "False", "(4611686018427387904,)"), "")),
            "f: shape: got [4611686018427387904]; allowed: a size below 2^64 bytes");
  EXPECT_EQ(refused(npy_bytes(dictionary("|i1", "False", "(9223372036854775807,)"), "")),
            "f: 0 bytes behind the header; allowed: 9223372036854775807, for I8 of shape "
            "[9223372036854775807]");
}

TEST_F(NpyTest, TruncatedAtEveryByte) {
  const std::string bytes = npy_bytes(dictionary("<f4", "False", "(1, 1)"), "1234");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refused(bytes.substr(0, size)), "") << size;
  }
}

TEST_F(NpyTest, Mutations) {
  const std::string bytes = npy_bytes(dictionary("<f4", "False", "(1, 1)"), "1234");
  std::mt19937 random(2);
  const std::string alphabet("{}()',: 0123456789TrueFalse<f2|i\0\xff\n", 35);
  for (int round = 0; round < 3000; ++round) {
    std::string mutant = bytes;
    for (int change = 0; change < 2; ++change) {
      mutant[random() % mutant.size()] = alphabet[random() % alphabet.size()];
    }
    const std::string path = folder_.write("f", mutant);
    try {
      const Tensor tensor = read_npy(path);
      EXPECT_EQ(tensor.bytes.size(), tensor.elements() * element_size(tensor.dtype));
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace santa::tensor
