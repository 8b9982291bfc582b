#include "cosim_trace.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "workload.hpp"

namespace santa::cli {
namespace {

// The cache, or its first whole tiles up to kTraceContext.
std::shared_ptr<const attention::KvHead> first_keys(const attention::KvHead& cache) {
  auto first = std::make_shared<attention::KvHead>(cache);
  if (first->context > kTraceContext) {
    first->context = kTraceContext;
    const std::size_t elements = std::size_t{kTraceContext} * cache.head_dimension;
    first->keys.resize(elements);
    first->values.resize(elements);
  }
  return first;
}

}  // namespace

std::vector<cosim::CosimRequest> trace_requests(const std::string& trace,
                                                const config::HardwareConfig& hardware,
                                                const std::function<void(double)>& progress) {
  RunOptions run;
  run.input.kind = InputKind::kTrace;
  run.input.trace = trace;
  const Input input = open_input(run.input);
  const auto refuse = [&](const char* key, std::uint32_t needed, std::int64_t limit) {
    if (needed <= limit) return;
    throw input_error(config::escaped(trace), key, fmt::format("got {}", needed),
                      fmt::format("at most {} on {}", limit, hardware.name));
  };
  // Before the references are computed; each request is looked at again.
  refuse("query heads of a group", input.summary.shape.group(), hardware.unit.group_heads);
  refuse("head dimension", input.summary.shape.head_dimension, hardware.unit.max_head_dimension);
  const Workload workload = prepare_workload(input, run, cache_format(hardware), false, progress);
  std::vector<cosim::CosimRequest> requests;
  for (const sim::Job& job : workload.jobs) {
    refuse("query heads of a group", job.request.query.group, hardware.unit.group_heads);
    refuse("head dimension", job.cache->head_dimension, hardware.unit.max_head_dimension);
    cosim::CosimRequest request;
    request.workload = fmt::format("layer {}, KV head {}", job.layer, job.kv_head);
    request.cache = first_keys(*job.cache);
    request.context = request.cache->context;
    request.request = job.request;
    request.options = run.decode;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace santa::cli
