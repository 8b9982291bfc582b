// Heads of a recorded trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/attention/head.hpp"
#include "santa/tensor/trace.hpp"

namespace santa::paper {

inline constexpr std::uint32_t kTraceTileKeys = 128;

// One KV head of a layer with the queries of its group.
attention::Head trace_head(const tensor::Trace& trace, const tensor::TraceLayer& layer,
                           std::uint32_t kv_head);

// The last `context` tokens of a head alone, the queries as they are.
attention::Head last_tokens(const attention::Head& head, std::uint32_t context);

struct TraceHead {
  std::uint32_t layer = 0;
  std::uint32_t kv_head = 0;
  attention::Head head;
};
// Every KV head of every layer. Throws InputError.
std::vector<TraceHead> trace_heads(const std::string& path);

}  // namespace santa::paper
