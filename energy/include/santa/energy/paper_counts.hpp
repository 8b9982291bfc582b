// Closed-form operation and access counts of the paper (arXiv 2605.01910), tables 8 and 10, for
// tests to hold against what the units count. Independent of everything else on purpose.
//
// All counts are per head and in scalar elements. A decode step is n_q = 1, where table 10 becomes
// table 8. Softmax, selection and sampling are not in the tables.
#pragma once

#include <cstdint>

namespace santa::energy::paper {

struct Counts {
  std::uint64_t adds = 0;
  std::uint64_t multiplies = 0;  // or divides
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
};
constexpr bool operator==(const Counts& a, const Counts& b) {
  return a.adds == b.adds && a.multiplies == b.multiplies && a.reads == b.reads &&
         a.writes == b.writes;
}

// Score stage Q K^T with multiplies, the same for dense, top-k and sampled values: n_q queries, n_k
// keys, head dimension d_k. Each query and key vector is read once.
constexpr Counts score_stage(std::uint64_t n_q, std::uint64_t n_k, std::uint64_t d_k) {
  return {n_q * n_k * d_k, n_q * n_k * d_k, (n_q + n_k) * d_k, n_q * n_k};
}

// Value stage, dense: every row of V weighted and added, for every query.
constexpr Counts dense_values(std::uint64_t n_q, std::uint64_t n_k, std::uint64_t d_k) {
  return {n_q * n_k * d_k, n_q * n_k * d_k, n_q * n_k * d_k, n_q * d_k};
}

// Value stage, top-k: the same over `k` rows a query.
constexpr Counts topk_values(std::uint64_t n_q, std::uint64_t k, std::uint64_t d_k) {
  return {n_q * k * d_k, n_q * k * d_k, n_q * k * d_k, n_q * d_k};
}

// Value stage, sampled: `samples` rows added a query, with repetition; one normalising divide an
// output element, which is a bit shift where `samples` is a power of two.
constexpr Counts sampled_values(std::uint64_t n_q, std::uint64_t samples, std::uint64_t d_k) {
  return {n_q * samples * d_k, n_q * d_k, n_q * samples * d_k, n_q * d_k};
}

}  // namespace santa::energy::paper
