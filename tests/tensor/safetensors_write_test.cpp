#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <stdexcept>

#include "santa/error.hpp"
#include "santa/tensor/safetensors.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

TEST(WriteSafetensors, RoundTripOfEveryTypeAndShape) {
  const TemporaryFolder folder;
  const std::vector<Tensor> tensors = {
      i8_tensor("odd \"name\"\n", {3}, {-128, 0, 127}),
      f32_tensor("f", {2, 1}, {1.5F, -0.0F}),
      Tensor{"h", DType::kF16, {}, {1, 2}},
      Tensor{"b", DType::kBF16, {1, 2}, {3, 4, 5, 6}},
      Tensor{"none", DType::kF32, {0, 1000}, {}},
  };
  const Metadata metadata = {{"a", "line\nbreak"}, {"b", "\xc3\xa9"}};
  write_safetensors(folder.path("f"), tensors, metadata);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
  const SafetensorsFile file(folder.path("f"));
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.tensors().size(), tensors.size());
  for (const Tensor& tensor : tensors) {
    const Tensor read = file.read(tensor.name);
    EXPECT_EQ(read.name, tensor.name);
    EXPECT_EQ(read.dtype, tensor.dtype);
    EXPECT_EQ(read.shape, tensor.shape);
    EXPECT_EQ(read.bytes, tensor.bytes);
    EXPECT_EQ(file.find(tensor.name)->begin % element_size(tensor.dtype), 0U);
  }
  // Once more over the old file, in another order: the same bytes.
  const std::string bytes = read_file(folder.path("f"));
  write_safetensors(folder.path("f"), {tensors.rbegin(), tensors.rend()}, metadata);
  EXPECT_EQ(read_file(folder.path("f")), bytes);
  EXPECT_EQ(bytes[0] % 8, 0) << "the data are aligned";
}

TEST(WriteSafetensors, NothingAtAll) {
  const TemporaryFolder folder;
  write_safetensors(folder.path("f"), {}, {});
  const SafetensorsFile file(folder.path("f"));
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_TRUE(file.metadata().empty());
}

TEST(WriteSafetensors, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    return message_of([&] { write_safetensors(path, {}, {}); }, folder);
  };
  EXPECT_EQ(refused(folder.path("no/f")),
            "no/f: cannot create: No such file or directory; nothing was left");
  ASSERT_EQ(::mkdir(folder.path("folder").c_str(), 0700), 0);
  EXPECT_EQ(refused(folder.path("folder")),
            "folder: is there and is not a regular file; allowed: a new name or a regular file");
  EXPECT_EQ(refused("/dev/full"),
            "/dev/full: is there and is not a regular file; allowed: a new name or a regular file");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"folder"});
}

// The limit of the file size stands for a disk that is full in the middle of the data.
TEST(WriteSafetensors, FullDiskLeavesTheOldFileAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Tensor large{"t", DType::kI8, {100000}, std::vector<std::uint8_t>(100000)};
  const std::string message = message_of([&] { write_safetensors(path, {large}, {}); }, folder);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, "f: cannot write: File too large; nothing was left");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
  EXPECT_EQ(read_file(path), "old");
}

TEST(WriteSafetensors, ArgumentsThatDoNotFit) {
  const TemporaryFolder folder;
  const auto write = [&](const std::vector<Tensor>& tensors, const Metadata& metadata) {
    write_safetensors(folder.path("f"), tensors, metadata);
  };
  const Tensor good = f32_tensor("a", {1}, {1.0F});
  EXPECT_THROW(write({good, good}, {}), std::invalid_argument);
  EXPECT_THROW(write({f32_tensor("a", {2}, {1.0F})}, {}), std::invalid_argument);
  EXPECT_THROW(write({f32_tensor("a", {1ULL << 62}, {})}, {}), std::invalid_argument);
  EXPECT_THROW(write({f32_tensor("__metadata__", {1}, {1.0F})}, {}), std::invalid_argument);
  EXPECT_THROW(write({good}, {{"a", "\xff"}}), std::invalid_argument);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace santa::tensor
