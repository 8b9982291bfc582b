// Checks of the arguments, shares of the blocks, workspace and launch.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "kernel_table.hpp"
#include "parameters.cuh"
#include "refusal.hpp"
#include "tile_decode.hpp"

namespace santa::gpu {
namespace {

void check_stride(const char* name, std::int64_t elements, int element_size) {
  if (elements < 0 || elements * element_size % 16 != 0) {
    refuse(Status::kInvalidArgument, "%s is %lld elements, allowed are multiples of %d, at least 0",
           name, static_cast<long long>(elements), 16 / element_size);
  }
}

int size_of(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16 ? 2 : 1;
}

KernelEntry kernel_of_shape(const DecodeArguments& a, int slots, bool several_pairs) {
  switch (a.head_dimension) {
    case 64:
      return kernel_of<64>(a.cache_type, a.key_layout, slots, several_pairs);
    case 96:
      return kernel_of<96>(a.cache_type, a.key_layout, slots, several_pairs);
    case 128:
      return kernel_of<128>(a.cache_type, a.key_layout, slots, several_pairs);
    case 192:
      return kernel_of<192>(a.cache_type, a.key_layout, slots, several_pairs);
    case 256:
      return kernel_of<256>(a.cache_type, a.key_layout, slots, several_pairs);
    default:
      refuse(Status::kUnsupported, "head_dimension is %d, allowed are 64, 96, 128, 192 and 256",
             a.head_dimension);
  }
}

void check_shape(const DecodeArguments& a) {
  check_range("requests", a.requests, 1, 65535);
  check_range("kv_heads", a.kv_heads, 1, 65535);
  check_range("query_heads", a.query_heads, 1, 65535);
  if (a.query_heads % a.kv_heads != 0) {
    refuse(Status::kInvalidArgument, "query_heads is %d, allowed are multiples of kv_heads, %d",
           a.query_heads, a.kv_heads);
  }
  if (a.query_heads / a.kv_heads > 16) {
    refuse(Status::kUnsupported, "query_heads / kv_heads is %d, allowed are 1 to 16",
           a.query_heads / a.kv_heads);
  }
  check_range("samples", a.samples, 1, 1 << 20);
  check_range("maximum_length", a.maximum_length, 1, 1 << 22);
  if (a.query_type != ElementType::kBf16 && a.query_type != ElementType::kFp16) {
    refuse(Status::kUnsupported, "query_type is %d, allowed are kBf16 and kFp16",
           static_cast<int>(a.query_type));
  }
  if (size_of(a.cache_type) == 2 && a.cache_type != a.query_type) {
    refuse(Status::kUnsupported,
           "query_type and cache_type differ, allowed with 8-bit caches only");
  }
  check_range("seed_stride", a.seed_stride, 0, 1);
  if (a.scores != ScoreScheme::kExact) {
    if (a.key_layout != KeyLayout::kFeatureMajor) {
      refuse(Status::kUnsupported, "scores by Bernoulli draws need key_layout kFeatureMajor");
    }
    check_range("bernoulli_draws", a.bernoulli_draws, 1, 64);
  }
}

void check_exact(const char* name, std::int64_t value, std::int64_t allowed) {
  if (value != allowed) {
    refuse(Status::kInvalidArgument, "%s is %lld, allowed is %lld", name,
           static_cast<long long>(value), static_cast<long long>(allowed));
  }
}

void check_view(const char* name, const CacheView& view, int element_size, KeyLayout layout) {
  const std::string text = name;
  const std::string token_stride = text + ".token_stride",
                    feature_stride = text + ".feature_stride";
  check_pointer(name, view.data, 16);
  check_stride((text + ".block_stride").c_str(), view.block_stride, element_size);
  check_stride((text + ".head_stride").c_str(), view.head_stride, element_size);
  if (layout == KeyLayout::kFeatureMajor) {
    check_exact(token_stride.c_str(), view.token_stride, 1);
    check_stride(feature_stride.c_str(), view.feature_stride, element_size);
    return;
  }
  check_exact(feature_stride.c_str(), view.feature_stride, 1);
  check_stride(token_stride.c_str(), view.token_stride, element_size);
  if (view.token_stride * element_size >= std::int64_t{1} << 32) {
    refuse(Status::kInvalidArgument, "%s is %lld elements, allowed are less than %lld",
           token_stride.c_str(), static_cast<long long>(view.token_stride),
           (1LL << 32) / element_size);
  }
}

void check_pointers(const DecodeArguments& a) {
  check_pointer("queries", a.queries, 16);
  check_stride("query_request_stride", a.query_request_stride, 2);
  check_stride("query_head_stride", a.query_head_stride, 2);
  check_view("keys", a.keys, size_of(a.cache_type), a.key_layout);
  check_view("values", a.values, size_of(a.cache_type), KeyLayout::kTokenMajor);
  if (a.block_table != nullptr &&
      (a.block_tokens < 16 || (a.block_tokens & (a.block_tokens - 1)) != 0)) {
    refuse(Status::kInvalidArgument, "block_tokens is %d, allowed are powers of two from 16",
           a.block_tokens);
  }
  check_pointer("lengths", a.lengths, 4);
  check_pointer("seed", a.seed, 8);
  check_pointer("offset", a.offset, 8);
  check_pointer("output", a.output, 2);
}

void check_workspace(const DecodeArguments& a, std::size_t bytes) {
  check_pointer("workspace", a.workspace, 256);
  if (a.workspace_bytes < bytes) {
    refuse(Status::kWorkspaceTooSmall, "workspace_bytes is %zu, needed are %zu", a.workspace_bytes,
           bytes);
  }
}

struct Plan {
  Parameters parameters;
  KernelEntry kernel;
  int slots = 0;
  int blocks = 0;
  std::size_t shared_bytes = 0;
  std::size_t kept_bytes = 0;  // of the workspace, from its begin: what launches leave for the next
  std::size_t workspace_bytes = 0;
};

// Whether a team gets at least four pairs, and few teams are without one at the end.
bool keeps_teams_busy(int pairs, int teams) {
  const int rounds = (pairs + teams - 1) / teams;
  return rounds >= 4 && static_cast<std::int64_t>(rounds) * teams * 10 <= std::int64_t{11} * pairs;
}

// Sizes of the parts of the workspace, in order; each at a multiple of 256 bytes.
struct Layout {
  std::size_t used = 0;
  std::size_t add(std::size_t bytes) {
    const std::size_t at = used;
    used += (bytes + 255) / 256 * 256;
    return at;
  }
};

Plan plan_of(const DecodeArguments& a) {
  check_shape(a);
  Plan plan;
  Parameters& p = plan.parameters;
  p.arguments = a;
  p.group = a.query_heads / a.kv_heads;
  plan.slots = p.group <= 4 ? 4 : p.group <= 8 ? 8 : 16;

  int device = 0, processors = 0, shared_limit = 0, major = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device");
  check_cuda(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "device");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "device");
  if (major < 8) {
    refuse(Status::kUnsupported, "compute capability %d.x, allowed are 8.0 and later", major);
  }

  p.splits = std::clamp(processors / a.kv_heads, 1, kMaximumSplits);
  const int pairs = a.kv_heads * a.requests;
  p.teams =
      p.splits > 1 ? std::min(processors / p.splits, a.kv_heads) : std::min(processors, pairs);
  plan.kernel = kernel_of_shape(a, plan.slots, pairs >= 2 * p.teams);
  const int step_tokens = p.splits * plan.kernel.step_tokens;
  const int steps = (a.maximum_length + step_tokens - 1) / step_tokens;
  p.part_floats = plan.kernel.run_floats + steps * plan.kernel.step_scores;
  const auto shared_bytes = [&](int parts, int buffers) {
    return plan.kernel.shared_bytes + parts * buffers * p.part_floats * sizeof(float);
  };
  // See BlockShape: several requests' scores only where most of the memory is left for loads.
  constexpr std::size_t kRoomy = 136 * 1024;
  while (2 * p.parts <= plan.kernel.parts && p.splits % (2 * p.parts) == 0 && p.splits <= 32 &&
         shared_bytes(2 * p.parts, kMaximumBuffers) <= kRoomy &&
         keeps_teams_busy(pairs, 2 * p.parts * p.teams)) {
    p.parts *= 2;
  }
  p.teams *= p.parts;
  p.rounds = (pairs + p.teams - 1) / p.teams;
  p.next_request = p.teams / a.kv_heads;
  p.next_kv_head = p.teams % a.kv_heads;
  while ((1 << p.block_tokens_log2) < a.block_tokens) ++p.block_tokens_log2;
  p.feature_bytes = a.keys.feature_stride * size_of(a.cache_type);
  p.outputs_per_share = (p.group * a.head_dimension + p.splits - 1) / p.splits;

  const int blocks = p.splits / p.parts * p.teams;
  plan.blocks = blocks;
  p.handover_floats = p.parts * p.part_floats;
  const bool in_shared = shared_bytes(p.parts, 1) <= static_cast<std::size_t>(shared_limit);
  p.buffers = in_shared ? 1 : 2;
  while (in_shared && p.buffers < std::min(kMaximumBuffers, p.rounds) &&
         shared_bytes(p.parts, p.buffers + 1) <= kRoomy) {
    ++p.buffers;
  }
  plan.shared_bytes = in_shared ? shared_bytes(p.parts, p.buffers) : plan.kernel.shared_bytes;

  Layout layout;
  auto* base = static_cast<char*>(a.workspace);
  const auto place = [&](std::size_t bytes) { return base + layout.add(bytes); };
  // The places of exchanged words do not depend on the batch: a word that an earlier launch left
  // must not be taken for another.
  const std::size_t most_teams =
      p.splits > 1 ? std::min(processors / p.splits, a.kv_heads) : processors;
  const std::size_t team_parts =
      most_teams * (plan.slots == 4 ? kMaximumParts : 1) * kExchanges * p.splits;
  p.processors = processors;
  p.epochs = reinterpret_cast<std::uint32_t*>(
      place(static_cast<std::size_t>(processors) * sizeof(std::uint32_t)));
  p.masses = reinterpret_cast<ulonglong2*>(place(team_parts * plan.slots * sizeof(ulonglong2)));
  p.rehearsal_bytes = plan.slots * sizeof(ulonglong2) +
                      static_cast<std::size_t>(p.group) * a.head_dimension * sizeof(std::uint64_t) +
                      (plan.kernel.run_floats + plan.kernel.step_scores) * sizeof(float);
  p.rehearsals = place(processors * p.rehearsal_bytes);
  p.partials = reinterpret_cast<std::uint64_t*>(
      place(team_parts * p.splits * p.outputs_per_share * sizeof(std::uint64_t)));
  plan.kept_bytes = layout.used;
  if (a.scheme == ValueScheme::kIndependent) {
    p.sorted = reinterpret_cast<float*>(
        place(static_cast<std::size_t>(blocks) * 2 * plan.slots * a.samples * sizeof(float)));
  }
  if (!in_shared) {
    p.scores =
        reinterpret_cast<float*>(place(blocks * p.buffers * p.handover_floats * sizeof(float)));
  }
  plan.workspace_bytes = layout.used;
  return plan;
}

// Of a tile scheme; returns where its part of the workspace begins.
std::size_t check_tiles(const DecodeArguments& a) {
  const Plan plan = plan_of(a);
  if (a.key_layout != KeyLayout::kTokenMajor) {
    refuse(Status::kUnsupported,
           "key_layout is kFeatureMajor, allowed with schemes in tiles is kTokenMajor");
  }
  if (a.tile_tokens < kMinimumTileTokens || a.tile_tokens > kMaximumTileTokens ||
      a.tile_tokens % kTileTokensStep != 0) {
    refuse(Status::kInvalidArgument, "tile_tokens is %d, allowed are multiples of %d, %d to %d",
           a.tile_tokens, kTileTokensStep, kMinimumTileTokens, kMaximumTileTokens);
  }
  return plan.kept_bytes;
}

}  // namespace

std::size_t decode_workspace_bytes(const DecodeArguments& arguments) {
  try {
    if (in_tiles(arguments.scheme)) {
      return tile_workspace_bytes(arguments, check_tiles(arguments));
    }
    return plan_of(arguments).workspace_bytes;
  } catch (const Refused&) {
    return 0;
  }
}

Status decode(const DecodeArguments& arguments, cudaStream_t stream) {
  try {
    if (in_tiles(arguments.scheme)) {
      const std::size_t kept = check_tiles(arguments);
      check_pointers(arguments);
      check_workspace(arguments, tile_workspace_bytes(arguments, kept));
      check_cuda(launch_tiles(arguments, kept, stream), "launch");
      return Status::kOk;
    }
    Plan plan = plan_of(arguments);
    check_pointers(arguments);
    check_workspace(arguments, plan.workspace_bytes);
    check_cuda(
        cudaFuncSetAttribute(plan.kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(plan.shared_bytes)),
        "cudaFuncSetAttribute");
    void* kernel_arguments[] = {&plan.parameters};
    check_cuda(cudaLaunchCooperativeKernel(
                   plan.kernel.function, dim3(static_cast<unsigned>(plan.blocks)),
                   dim3(kBlockThreads), kernel_arguments, plan.shared_bytes, stream),
               "launch");
    return Status::kOk;
  } catch (const Refused& refused) {
    return refused.status;
  }
}

}  // namespace santa::gpu
