#include <cuda_runtime.h>

#include <cstring>
#include <stdexcept>

#include "driver_version.hpp"
#include "santa/gpu/golden.hpp"
#include "santa/gpu/golden_producer.hpp"

namespace santa::gpu {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

// One block of device memory with a copy on the host: operands and results of all requests. Places
// are asked for first, then the block is made, and pointers into it follow from the places.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { cudaFree(device_); }

  // The place of `count` elements.
  template <typename T>
  std::size_t room(std::size_t count) {
    const std::size_t place = host_.size();
    host_.resize(place + (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment);
    return place;
  }
  template <typename T>
  std::size_t put(const T* from, std::size_t count) {
    const std::size_t place = room<T>(count);
    if (count > 0) std::memcpy(host_.data() + place, from, count * sizeof(T));
    return place;
  }
  template <typename T>
  std::size_t put(const std::vector<T>& from) {
    return put(from.data(), from.size());
  }
  void upload() {
    check(cudaMalloc(&device_, host_.size()), "memory of the device");
    check(cudaMemcpy(device_, host_.data(), host_.size(), cudaMemcpyHostToDevice),
          "copy to the device");
  }
  void download() {
    check(cudaMemcpy(host_.data(), device_, host_.size(), cudaMemcpyDeviceToHost),
          "copy from the device");
  }
  template <typename T>
  T* at(std::size_t place) const {
    return reinterpret_cast<T*>(static_cast<char*>(device_) + place);
  }
  template <typename T>
  std::vector<T> take(std::size_t place, std::size_t count) const {
    std::vector<T> out(count);
    if (count > 0) std::memcpy(out.data(), host_.data() + place, count * sizeof(T));
    return out;
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  std::vector<char> host_;
  void* device_ = nullptr;
};

// Where a request's arrays lie in the block.
struct Places {
  std::size_t magnitude, negative, ratio, scale, value_streams, keys, values;
  std::size_t coefficients, accumulators, weights, tile_exponents, tile_sums;
  std::size_t head_exponents, head_masses, head_offsets, row_total, row_keys, row_counts, output;
};

GoldenRequest shape_of(const vectors::Request& request) {
  GoldenRequest shape;
  shape.group = request.group();
  shape.head_dimension = request.head_dimension();
  shape.context = request.context;
  shape.tile_keys = request.cache->tile_keys;
  shape.scores = request.options.scores;
  shape.values = request.options.values;
  if (attention::is_bernoulli(shape.scores)) {
    shape.bernoulli_draws = request.options.bernoulli_draws;
  }
  shape.samples = request.options.samples;
  shape.score_stream = request.request.score_stream;
  return shape;
}

Places place(const vectors::Request& request, const GoldenRequest& shape, Block& block) {
  const attention::QueryOperands& query = request.request.query;
  const attention::KvHead& cache = *request.cache;
  const std::size_t d = shape.head_dimension;
  const std::size_t tile_bytes = d * shape.tile_keys;
  const std::size_t group = shape.group;
  const std::size_t keys = group * shape.context;
  const std::size_t tiles = request.tiles() * group;
  const std::size_t rows = golden_most_rows(shape);
  Places p{};
  p.magnitude = block.put(query.magnitude);
  p.negative = block.put(query.negative);
  p.ratio = block.put(query.ratio);
  p.scale = block.put(query.scale);
  p.value_streams = block.put(request.request.value_streams);
  std::vector<std::int8_t> elements;
  for (std::uint32_t t = 0; t < request.tiles(); ++t) {
    elements.insert(elements.end(), cache.tile(t), cache.tile(t) + tile_bytes);
  }
  p.keys = block.put(elements);
  elements.clear();
  for (std::uint32_t n = 0; n < shape.context; ++n) {
    elements.insert(elements.end(), cache.value_row(n), cache.value_row(n) + d);
  }
  p.values = block.put(elements);
  p.coefficients = block.room<std::int16_t>(group * d);
  p.accumulators = block.room<std::int32_t>(keys);
  p.weights = block.room<std::uint16_t>(keys);
  p.tile_exponents = block.room<std::int32_t>(tiles);
  p.tile_sums = block.room<std::uint32_t>(tiles);
  p.head_exponents = block.room<std::int32_t>(group);
  p.head_masses = block.room<std::uint64_t>(group);
  p.head_offsets = block.room<std::uint64_t>(group);
  p.row_total = block.room<std::uint32_t>(1);
  p.row_keys = block.room<std::uint32_t>(rows);
  p.row_counts = block.room<std::uint16_t>(rows * group);
  p.output = block.room<std::int16_t>(group * d);
  return p;
}

GoldenRequest with_pointers(GoldenRequest r, const Places& p, const Block& block) {
  r.magnitude = block.at<std::uint32_t>(p.magnitude);
  r.negative = block.at<std::uint8_t>(p.negative);
  r.ratio = block.at<arithmetic::GroupRatio>(p.ratio);
  r.scale = block.at<arithmetic::ScaleFactor>(p.scale);
  r.value_streams = block.at<std::uint64_t>(p.value_streams);
  r.keys = block.at<std::int8_t>(p.keys);
  r.values_of_keys = block.at<std::int8_t>(p.values);
  r.coefficients = block.at<std::int16_t>(p.coefficients);
  r.accumulators = block.at<std::int32_t>(p.accumulators);
  r.weights = block.at<std::uint16_t>(p.weights);
  r.tile_exponents = block.at<std::int32_t>(p.tile_exponents);
  r.tile_sums = block.at<std::uint32_t>(p.tile_sums);
  r.head_exponents = block.at<std::int32_t>(p.head_exponents);
  r.head_masses = block.at<std::uint64_t>(p.head_masses);
  r.head_offsets = block.at<std::uint64_t>(p.head_offsets);
  r.row_total = block.at<std::uint32_t>(p.row_total);
  r.row_keys = block.at<std::uint32_t>(p.row_keys);
  r.row_counts = block.at<std::uint16_t>(p.row_counts);
  r.output = block.at<std::int16_t>(p.output);
  return r;
}

vectors::Results results_at(const GoldenRequest& shape, const Places& p, const Block& block) {
  const std::size_t group = shape.group;
  const std::size_t keys = group * shape.context;
  const std::size_t tiles = (shape.context + shape.tile_keys - 1) / shape.tile_keys * group;
  vectors::Results results;
  results.coefficients = block.take<std::int16_t>(p.coefficients, group * shape.head_dimension);
  results.scores = block.take<std::int32_t>(p.accumulators, keys);
  results.weights = block.take<std::uint16_t>(p.weights, keys);
  const auto exponents = block.take<std::int32_t>(p.tile_exponents, tiles);
  const auto sums = block.take<std::uint32_t>(p.tile_sums, tiles);
  for (std::size_t i = 0; i < tiles; ++i) results.tiles.push_back({exponents[i], sums[i]});
  const auto head_exponents = block.take<std::int32_t>(p.head_exponents, group);
  const auto masses = block.take<std::uint64_t>(p.head_masses, group);
  const auto offsets = block.take<std::uint64_t>(p.head_offsets, group);
  for (std::size_t g = 0; g < group; ++g) {
    results.heads.push_back({head_exponents[g], masses[g], offsets[g]});
  }
  const std::uint32_t rows = block.take<std::uint32_t>(p.row_total, 1).front();
  if (rows > golden_most_rows(shape)) throw std::runtime_error("more rows than draws");
  const auto row_keys = block.take<std::uint32_t>(p.row_keys, rows);
  const auto counts = block.take<std::uint16_t>(p.row_counts, rows * group);
  for (std::size_t row = 0; row < rows; ++row) {
    attention::SampledRow sampled;
    sampled.key = row_keys[row];
    for (std::size_t g = 0; g < group; ++g) sampled.counts[g] = counts[row * group + g];
    results.rows.push_back(sampled);
  }
  results.output = block.take<std::int16_t>(p.output, group * shape.head_dimension);
  return results;
}

}  // namespace

std::string golden_obstacle() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) return std::string("no CUDA device: ") + cudaGetErrorString(error);
  if (devices == 0) return "no CUDA device";
  if (golden_supported()) return "";
  return last_error();
}

vectors::Device GoldenCudaProducer::device() const {
  int number = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&number), "device");
  check(cudaGetDeviceProperties(&properties, number), "device");
  const std::string toolkit = "CUDA " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                              std::to_string(__CUDACC_VER_MINOR__) + "." +
                              std::to_string(__CUDACC_VER_BUILD__);
  return {vectors::kCudaProducer, properties.name, driver_version(), toolkit};
}

vectors::Results GoldenCudaProducer::answer(const vectors::Request& request) {
  return answer_all({request}).front();
}

std::vector<vectors::Results> GoldenCudaProducer::answer_all(
    const std::vector<vectors::Request>& requests) {
  const int count = static_cast<int>(requests.size());
  Block block;
  std::vector<GoldenRequest> shapes;
  std::vector<Places> places;
  for (const vectors::Request& request : requests) {
    shapes.push_back(shape_of(request));
    places.push_back(place(request, shapes.back(), block));
  }
  block.upload();
  std::vector<GoldenRequest> whole;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    whole.push_back(with_pointers(shapes[i], places[i], block));
  }
  const std::size_t workspace_bytes = golden_workspace_bytes(whole.data(), count);
  if (workspace_bytes == 0) throw std::runtime_error(last_error());
  Block workspace;
  const std::size_t at = workspace.room<char>(workspace_bytes);
  workspace.upload();
  const Status status =
      golden_decode(whole.data(), count, workspace.at<char>(at), workspace_bytes, nullptr);
  if (status != Status::kOk) throw std::runtime_error(last_error());
  check(cudaDeviceSynchronize(), "golden kernels");
  block.download();
  std::vector<vectors::Results> results;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    results.push_back(results_at(shapes[i], places[i], block));
  }
  return results;
}

}  // namespace santa::gpu
