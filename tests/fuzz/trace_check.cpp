#include "trace_check.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "santa/error.hpp"
#include "santa/tensor/npy.hpp"
#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/trace.hpp"

namespace santa::tensor {
namespace {

// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : descriptor_(::memfd_create("input", 0)) {
    if (descriptor_ < 0 ||
        ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("no file in memory");
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

bool is_whole(const Tensor& tensor) {
  return tensor.bytes.size() == tensor.elements() * element_size(tensor.dtype) &&
         tensor.to_floats().size() == tensor.elements();
}

template <typename Read>
void check(Read read, std::string& violation) {
  try {
    if (!read()) violation = "a tensor without the bytes of its shape";
  } catch (const InputError& error) {
    const std::string message = error.what();
    const bool plain =
        std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!plain || message.empty()) violation = "not one plain line: " + message;
  }
}

}  // namespace

std::string check_trace_input(const std::string& bytes) {
  const MemoryFile memory(bytes);
  const std::string path = memory.path();
  std::string violation;
  const auto read_all = [&] {
    const SafetensorsFile file(path);
    bool whole = true;
    for (const auto& entry : file.tensors()) whole = whole && is_whole(file.read(entry.first));
    return whole;
  };
  const auto read_trace = [&] {
    const Trace trace = load_trace(path);
    bool whole = !trace.layers.empty() && trace.group() >= 1;
    for (const TraceLayer& layer : trace.layers) {
      whole = whole && is_whole(layer.query) && is_whole(layer.key) && is_whole(layer.value);
      const std::size_t size = std::size_t{layer.keys()} * trace.head_dimension;
      whole = whole && key_head(layer, trace.kv_heads - 1).size() == size &&
              value_head(layer, 0).size() == size;
    }
    return whole;
  };
  check(read_all, violation);
  check(read_trace, violation);
  check([&] { return is_whole(read_npy(path)); }, violation);
  return violation;
}

}  // namespace santa::tensor
