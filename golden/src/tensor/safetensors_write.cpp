#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <system_error>

#include "message.hpp"
#include "santa/error.hpp"
#include "santa/tensor/safetensors.hpp"

namespace santa::tensor {
namespace {

// A file that appears under its name with commit() only; without it, nothing is left.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path) : path_(path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      throw input_error(shown(path), "", "is there and is not a regular file",
                        "a new name or a regular file");
    }
    // The process id keeps programs apart, the attempts keep threads and leftovers apart.
    constexpr int kAttempts = 1000;
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      temporary_ = fmt::format("{}.{}-{}.partial", path, ::getpid(), attempt);
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail("create");
  }

  ~PendingFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(const void* from, std::size_t count) {
    const auto* next = static_cast<const char*>(from);
    while (count > 0) {
      constexpr std::size_t kChunk = std::size_t{1} << 30;
      const ssize_t done = ::write(descriptor_, next, std::min(count, kChunk));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("write");
      next += done;
      count -= static_cast<std::size_t>(done);
    }
  }

  void commit() {
    // A full disk may show here only.
    if (::fsync(descriptor_) != 0) fail("write");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("write");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to");
    temporary_.clear();
    flush_folder();
  }

 private:
  [[noreturn]] void fail(const std::string& action) const {
    const std::string reason = std::generic_category().message(errno);
    throw input_error(shown(path_), "", "cannot " + action + ": " + reason + "; nothing was left",
                      "");
  }

  // So that the new name outlives a power cut. The file is complete either way, and some file
  // systems refuse this, so failure is none of the caller's.
  void flush_folder() const {
    const std::string parent = std::filesystem::path(path_).parent_path().string();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

std::vector<const Tensor*> in_file_order(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> order;
  std::set<std::string_view> names;
  for (const Tensor& tensor : tensors) {
    const std::string key = tensor_key(tensor.name);
    std::uint64_t size = element_size(tensor.dtype);
    bool overflow = tensor.shape.size() > kMaxAxes;
    for (const std::uint64_t extent : tensor.shape) {
      overflow = overflow || __builtin_mul_overflow(size, extent, &size);
    }
    if (overflow || size != tensor.bytes.size()) {
      throw std::invalid_argument(fmt::format("{}: {} bytes do not fit {} of shape {}", key,
                                              tensor.bytes.size(), dtype_name(tensor.dtype),
                                              shape_text(tensor.shape)));
    }
    if (!names.insert(tensor.name).second || tensor.name == "__metadata__") {
      throw std::invalid_argument(key + ": the name is taken");
    }
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    const std::size_t wide_a = element_size(a->dtype);
    const std::size_t wide_b = element_size(b->dtype);
    return wide_a != wide_b ? wide_a > wide_b : a->name < b->name;
  });
  return order;
}

std::string header_text(const std::vector<const Tensor*>& order, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json& entries = header["__metadata__"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : metadata) entries[key] = value;
  }
  std::uint64_t begin = 0;
  for (const Tensor* tensor : order) {
    const std::uint64_t end = begin + tensor->bytes.size();
    nlohmann::ordered_json& entry = header[tensor->name];
    entry["dtype"] = dtype_name(tensor->dtype);
    entry["shape"] = tensor->shape;
    entry["data_offsets"] = {begin, end};
    begin = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error& error) {
    throw std::invalid_argument(std::string("a name or a metadata text is not UTF-8: ") +
                                error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    throw std::invalid_argument(fmt::format("a header of {} bytes", text.size()));
  }
  return text;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<Tensor>& tensors,
                       const Metadata& metadata) {
  const std::vector<const Tensor*> order = in_file_order(tensors);
  const std::string header = header_text(order, metadata);
  const std::uint64_t header_size = header.size();
  PendingFile file(path);
  file.write(&header_size, sizeof(header_size));
  file.write(header.data(), header.size());
  for (const Tensor* tensor : order) file.write(tensor->bytes.data(), tensor->bytes.size());
  file.commit();
}

}  // namespace santa::tensor
