// 64-bit maximal-length LFSR and the derivation of one independent stream per request.
#pragma once

#include <cstdint>

#include "santa/arithmetic/host_device.hpp"

namespace santa::arithmetic {

// Right-shift Galois LFSR with feedback mask 0xD800000000000000, that is the primitive polynomial
// x^64 + x^63 + x^61 + x^60 + 1, period 2^64 - 1. A draw returns the 64 bits of the state and then
// leaps 88 steps, so no bit is used twice; 88 is coprime with the period, whose prime factors are
// 3, 5, 17, 257, 641, 65537 and 6700417.
//
// Why 88 and not 64: with so few taps each bit shown 64 steps on is the parity of four neighbouring
// bits. At a leap of 64 they sit at the same place of the word before, so the leading bits of a
// lane or of a bounded draw fix a leading bit of the next one, and a value drawn after a rejection
// is not uniform. 24 further steps move the four to the middle of another lane, where they do not
// count.
class Lfsr64 {
 public:
  static constexpr std::uint64_t kFeedbackMask = 0xD800000000000000ULL;

  // `state` must not be 0: zero is the one state the register never leaves.
  SANTA_HD constexpr explicit Lfsr64(std::uint64_t state) : state_(state) {}

  SANTA_HD constexpr std::uint64_t state() const { return state_; }

  static constexpr unsigned kStepsPerDraw = 88;

  // All 64 bits of the state, then a leap of kStepsPerDraw steps.
  SANTA_HD constexpr std::uint64_t draw() {
    const std::uint64_t word = state_;
    state_ = leap(leap32(leap32(state_)), kStepsPerDraw - 64);
    return word;
  }

  // One step, the definition that the leap is tested against.
  SANTA_HD static constexpr std::uint64_t step(std::uint64_t state) {
    return (state >> 1) ^ ((state & 1U) != 0 ? kFeedbackMask : 0U);
  }

  // `count` steps at once, 1 to 60. The low bits leave one by one; each feeds the taps 63, 62, 60
  // and 59, and no fed-back bit reaches position 0 within 59 steps, so the low bits are the ones
  // shown.
  SANTA_HD static constexpr std::uint64_t leap(std::uint64_t state, unsigned count) {
    const std::uint64_t out = state & ((std::uint64_t{1} << count) - 1);
    return (state >> count) ^ (out << (64 - count)) ^ (out << (63 - count)) ^
           (out << (61 - count)) ^ (out << (60 - count));
  }
  SANTA_HD static constexpr std::uint64_t leap32(std::uint64_t state) { return leap(state, 32); }

 private:
  std::uint64_t state_;
};

// Hands out a stream's words in 16-bit lanes, low lane first: four features per LFSR word.
class LaneStream {
 public:
  SANTA_HD constexpr explicit LaneStream(std::uint64_t seed) : lfsr_(seed) {}

  SANTA_HD constexpr std::uint32_t next16() {
    if (lanes_left_ == 0) {
      word_ = lfsr_.draw();
      lanes_left_ = 4;
      ++words_drawn_;
    }
    const std::uint32_t lane = static_cast<std::uint32_t>(word_ & 0xFFFFU);
    word_ >>= 16;
    --lanes_left_;
    return lane;
  }

  // LFSR words drawn so far, for cycle and energy counts.
  SANTA_HD constexpr std::uint64_t words_drawn() const { return words_drawn_; }

 private:
  Lfsr64 lfsr_;
  std::uint64_t word_ = 0;
  unsigned lanes_left_ = 0;
  std::uint64_t words_drawn_ = 0;
};

// Uniform on 0..bound-1, exactly, by rejection on the smallest power of two that covers `bound`:
// fewer than two draws on average. `bound` >= 1. `draws`, when given, counts the words used.
SANTA_HD constexpr std::uint64_t draw_below(Lfsr64& lfsr, std::uint64_t bound,
                                            std::uint64_t* draws = nullptr) {
  std::uint64_t mask = bound - 1;
  for (unsigned shift = 1; shift < 64; shift <<= 1) mask |= mask >> shift;
  for (;;) {
    const std::uint64_t value = lfsr.draw() & mask;
    if (draws != nullptr) ++*draws;
    if (value < bound) return value;
  }
}

// What a random stream is used for: the query encoder and the sampler never share one.
enum class StreamPurpose : std::uint64_t { kScores = 1, kValues = 2 };

// Names one stream. `head` is the KV head for kScores and the query head for kValues.
struct StreamId {
  std::uint64_t request = 0;
  std::uint64_t layer = 0;
  std::uint64_t head = 0;
  std::uint64_t step = 0;
  StreamPurpose purpose = StreamPurpose::kValues;
};

// Finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection of 64 bits.
SANTA_HD constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// LFSR state of the stream `id` under the user's `seed` (not 0; the command line refuses 0). The
// host computes it and hands it over in the request descriptor. Fields are mixed one after another,
// so neighbouring seeds, heads or steps give unrelated states. The result is never 0: the one input
// in 2^64 that mixes to 0 gets the golden-ratio constant.
SANTA_HD constexpr std::uint64_t derive_stream(std::uint64_t seed, const StreamId& id) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
  std::uint64_t h = mix64(seed + kGolden);
  const std::uint64_t fields[] = {id.request, id.layer, id.head, id.step,
                                  static_cast<std::uint64_t>(id.purpose)};
  for (const std::uint64_t field : fields) h = mix64((h ^ field) + kGolden);
  return h != 0 ? h : kGolden;
}

}  // namespace santa::arithmetic
