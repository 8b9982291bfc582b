// Checks of the requests, parts of the workspace, launches.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

#include "golden_kernels.cuh"
#include "refusal.hpp"
#include "santa/arithmetic/limits.hpp"

namespace santa::gpu {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

constexpr std::size_t kAlignment = 256;
constexpr int kMostRequests = 65535;  // of a grid's z

// A field of one request in a message: "requests[3].group".
std::string field(int number, const char* name) {
  return "requests[" + std::to_string(number) + "]." + name;
}

void check_power(const std::string& name, std::uint32_t value, std::uint32_t low,
                 std::uint32_t high) {
  if (value < low || value > high || (value & (value - 1)) != 0) {
    refuse(Status::kInvalidArgument, "%s is %u, allowed are powers of two from %u to %u",
           name.c_str(), value, low, high);
  }
}

template <typename Scheme>
void check_scheme(const std::string& name, Scheme scheme, std::size_t count) {
  check_range(name.c_str(), static_cast<int>(scheme), 0, static_cast<int>(count) - 1);
}

void check_shape(const GoldenRequest& r, int number) {
  const auto range = [&](const char* name, std::uint32_t value, long long low, long long high) {
    check_range(field(number, name).c_str(), value, low, high);
  };
  range("group", r.group, 1, arithmetic::kMaxGroup);
  range("head_dimension", r.head_dimension, 1, arithmetic::kMaxHeadDimension);
  range("context", r.context, 0, arithmetic::kMaxContext);
  check_power(field(number, "tile_keys"), r.tile_keys, arithmetic::kMinTileKeys,
              arithmetic::kMaxTileKeys);
  check_scheme(field(number, "scores"), r.scores, attention::kScoreSchemeNames.size());
  check_scheme(field(number, "values"), r.values, attention::kValueSchemeNames.size());
  check_power(field(number, "bernoulli_draws"), r.bernoulli_draws, 1,
              attention::is_bernoulli(r.scores) ? arithmetic::kMaxBernoulliDraws : 1);
  if (attention::is_sampled(r.values)) {
    check_power(field(number, "samples"), r.samples, 1, arithmetic::kMaxSamples);
  } else if (r.values == ValueScheme::kTopK) {
    range("samples", r.samples, 1, arithmetic::kMaxSamples);
  }
}

void check_pointers(const GoldenRequest& r, int number) {
  const auto pointer = [&](const char* name, const auto* value, bool needed = true) {
    if (needed) check_pointer(field(number, name).c_str(), value, alignof(decltype(*value)));
  };
  const bool keys = r.context > 0;
  pointer("magnitude", r.magnitude);
  pointer("negative", r.negative);
  pointer("ratio", r.ratio, r.scores == ScoreScheme::kBernoulliGroup);
  pointer("scale", r.scale);
  pointer("value_streams", r.value_streams, attention::is_sampled(r.values));
  pointer("keys", r.keys, keys);
  pointer("values_of_keys", r.values_of_keys, keys);
  pointer("coefficients", r.coefficients);
  pointer("accumulators", r.accumulators, keys);
  pointer("weights", r.weights, keys);
  pointer("tile_exponents", r.tile_exponents, keys);
  pointer("tile_sums", r.tile_sums, keys);
  pointer("head_exponents", r.head_exponents);
  pointer("head_masses", r.head_masses);
  pointer("head_offsets", r.head_offsets);
  pointer("row_total", r.row_total);
  pointer("row_keys", r.row_keys, golden_most_rows(r) > 0);
  pointer("row_counts", r.row_counts, golden_most_rows(r) > 0);
  pointer("output", r.output);
  if (attention::is_bernoulli(r.scores) && r.score_stream == 0) {
    refuse(Status::kInvalidArgument, "%s is 0, allowed is any state but 0 for Bernoulli scores",
           field(number, "score_stream").c_str());
  }
}

// Hands out parts of the workspace; from a null base it only measures.
class Parts {
 public:
  explicit Parts(void* base) : base_(static_cast<char*>(base)) {}
  template <typename T>
  T* take(std::size_t count) {
    char* part = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(part);
  }
  std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t used_ = 0;
};

GoldenState state_of(const GoldenRequest& r, Parts& parts) {
  const std::size_t group = r.group;
  const bool sampled = attention::is_sampled(r.values);
  GoldenState state;
  state.request = r;
  if (sampled) state.samples_log2 = golden::log2_of(r.samples);
  state.encoder_words = parts.take<std::uint64_t>(golden::encoder_word_count(r));
  state.cumulative = parts.take<std::uint32_t>(group * r.context);
  state.prefix_mass = parts.take<std::uint64_t>(group * (golden::tiles_of(r) + 1));
  state.thresholds = parts.take<std::uint64_t>(sampled ? group * r.samples : 0);
  state.counts = parts.take<std::uint32_t>(group * r.context);
  state.selected_mass = parts.take<std::uint64_t>(group);
  state.value_sums = parts.take<unsigned long long>(group * r.head_dimension);
  return state;
}

struct Plan {
  std::vector<GoldenState> states;
  std::size_t bytes = 0;
  unsigned group = 0;    // the widest
  unsigned context = 0;  // the longest
  unsigned tiles = 0;    // the most
};

Plan plan_of(const GoldenRequest* requests, int count, void* workspace) {
  if (requests == nullptr) refuse(Status::kInvalidArgument, "%s is null", "requests");
  check_range("count", count, 1, kMostRequests);
  Plan plan;
  Parts parts(workspace);
  parts.take<GoldenState>(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    check_shape(requests[i], i);
    plan.states.push_back(state_of(requests[i], parts));
    plan.group = std::max(plan.group, requests[i].group);
    plan.context = std::max(plan.context, requests[i].context);
    plan.tiles = std::max(plan.tiles, golden::tiles_of(requests[i]));
  }
  plan.bytes = parts.used();
  return plan;
}

void check_device() {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, golden::encode), "golden kernels on this device");
}

void launch(const Plan& plan, const GoldenState* states, cudaStream_t stream) {
  using golden::kKeyThreads;
  using golden::kThreads;
  const auto requests = static_cast<unsigned>(plan.states.size());
  const dim3 a_request(1, 1, requests);
  const dim3 a_head(1, plan.group, requests);
  const dim3 a_tile(plan.tiles, plan.group, requests);
  const dim3 a_key((plan.context + kKeyThreads - 1) / kKeyThreads, plan.group, requests);
  golden::encode<<<a_request, kThreads, 0, stream>>>(states);
  if (plan.context > 0) {
    golden::score<<<a_key, kKeyThreads, 0, stream>>>(states);
    golden::weigh<<<a_tile, kKeyThreads, 0, stream>>>(states);
  }
  golden::combine<<<a_head, kThreads, 0, stream>>>(states);
  golden::sample<<<a_head, kThreads, 0, stream>>>(states);
  golden::select<<<a_head, kThreads, 0, stream>>>(states);
  if (plan.context > 0) golden::gather<<<a_tile, kKeyThreads, 0, stream>>>(states);
  golden::finish<<<a_head, kThreads, 0, stream>>>(states);
  golden::collect<<<a_request, kThreads, 0, stream>>>(states);
  check_cuda(cudaGetLastError(), "launch");
}

}  // namespace

std::uint32_t golden_most_rows(const GoldenRequest& request) {
  if (request.values == ValueScheme::kDense) return 0;
  const std::uint64_t draws = std::uint64_t{request.group} * request.samples;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(draws, request.context));
}

bool golden_supported() {
  try {
    check_device();
    return true;
  } catch (const Refused&) {
    return false;
  }
}

std::size_t golden_workspace_bytes(const GoldenRequest* requests, int count) {
  try {
    return plan_of(requests, count, nullptr).bytes;
  } catch (const Refused&) {
    return 0;
  }
}

Status golden_decode(const GoldenRequest* requests, int count, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream) {
  try {
    const Plan plan = plan_of(requests, count, workspace);
    for (int i = 0; i < count; ++i) check_pointers(requests[i], i);
    check_pointer("workspace", workspace, kAlignment);
    if (workspace_bytes < plan.bytes) {
      refuse(Status::kWorkspaceTooSmall, "workspace_bytes is %zu, needed are %zu", workspace_bytes,
             plan.bytes);
    }
    check_device();
    check_cuda(cudaMemsetAsync(workspace, 0, plan.bytes, stream), "workspace");
    check_cuda(
        cudaMemcpyAsync(workspace, plan.states.data(), plan.states.size() * sizeof(GoldenState),
                        cudaMemcpyHostToDevice, stream),
        "requests");
    launch(plan, static_cast<const GoldenState*>(workspace), stream);
    return Status::kOk;
  } catch (const Refused& refused) {
    return refused.status;
  }
}

}  // namespace santa::gpu
