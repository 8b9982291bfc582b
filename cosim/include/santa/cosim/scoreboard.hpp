// Compares every event of the monitors and every output in memory with the golden model, and the
// sampler and the outputs with the exact oracle as well.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "santa/cosim/byte_memory.hpp"
#include "santa/cosim/mismatch.hpp"
#include "santa/cosim/oracle_check.hpp"
#include "santa/cosim/pins.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/request_image.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

// Items that were compared, by border.
struct CheckCounts {
  std::uint64_t coefficients = 0;
  std::uint64_t scores = 0;
  std::uint64_t weights = 0;
  std::uint64_t tiles = 0;  // exponent and sum of one tile and head
  std::uint64_t draws = 0;
  std::uint64_t rows = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t outputs = 0;
  std::uint64_t memory_outputs = 0;
  std::uint64_t untouched_bytes = 0;  // of output rows beyond the head dimension
  std::uint64_t spilled_weights = 0;  // in scratch memory
  std::uint64_t spilled_tiles = 0;    // exponent and sum of one tile and head, there
  std::uint64_t oracle_counts = 0;
  std::uint64_t oracle_outputs = 0;

  CheckCounts& operator+=(const CheckCounts& other);
  bool operator==(const CheckCounts& other) const;
};
struct NamedCount {
  const char* name;
  std::uint64_t CheckCounts::*field;
};
const std::vector<NamedCount>& check_count_names();

struct ScoreboardRequest {
  std::uint32_t index = 0;  // in the run
  CosimRequest request;
  Expectation expected;
  const char* expected_from = "golden model";  // whose word `expected` is
  RequestImage image;
  bool runs = true;  // false: its descriptor is refused, nothing may happen
};

// What a request that ends without an error makes the scoreboard compare.
CheckCounts expected_checks(const ScoreboardRequest& request, const UnitParameters& unit);

class Scoreboard {
 public:
  explicit Scoreboard(const UnitParameters& unit) : unit_(unit) {}

  // In the order in which they are queued.
  void submit(std::shared_ptr<const ScoreboardRequest> request);
  // One rising edge.
  void observe(const Monitors& monitors, std::uint64_t cycle);
  // The oldest request has completed: everything about it must have been seen.
  void complete(const ByteMemory& memory, std::uint64_t cycle);
  // Forgets what is under way: after a reset, or a request that ended with an error.
  void forget();
  // Events are not looked at while paused: those of a request that an injected error cuts short.
  void pause(bool paused) { paused_ = paused; }

  // Some request is between its draws and its last row.
  bool drawing() const;
  const std::optional<Mismatch>& first() const { return first_; }
  const CheckCounts& checked() const { return checked_; }
  // What the requests completed so far should have added up to.
  const CheckCounts& expected() const { return expected_; }

 private:
  // A request under way, with how far each monitor has come.
  struct Tracked {
    std::shared_ptr<const ScoreboardRequest> of;
    std::uint32_t coefficients = 0;  // features
    std::uint32_t score_tile = 0, score_key = 0;
    std::uint32_t weight_tile = 0, weight_key = 0;
    std::uint32_t tiles = 0;
    std::uint32_t draws = 0;
    std::size_t rows = 0;
    std::size_t value_row = 0, value_word = 0;
    std::vector<bool> outputs;  // [head][feature] seen
    std::size_t outputs_left = 0;
    std::vector<ObservedHead> heads;
  };

  std::uint32_t value_words(const Tracked& t) const;
  Tracked* next(bool (Scoreboard::*pending)(const Tracked&) const);
  bool coefficients_pending(const Tracked& t) const;
  bool scores_pending(const Tracked& t) const;
  bool weights_pending(const Tracked& t) const;
  bool tiles_pending(const Tracked& t) const;
  bool draws_pending(const Tracked& t) const;
  bool rows_pending(const Tracked& t) const;
  bool values_pending(const Tracked& t) const;
  bool outputs_pending(const Tracked& t) const;

  void see_coefficient(const Monitors& m);
  void see_scores(const Monitors& m);
  void see_weights(const Monitors& m);
  void see_tile(const Monitors& m);
  void see_draw(const Monitors& m);
  void see_row(const Monitors& m);
  void see_value(const Monitors& m);
  void see_output(const Monitors& m);
  void check_finished(const Tracked& t);
  void check_memory(const Tracked& t, const ByteMemory& memory);
  void check_spills(const Tracked& t, const ByteMemory& memory);
  void check_oracle(Tracked& t, const ByteMemory& memory);

  void unexpected(const char* block, const char* event);
  // Compares and reports; true if equal.
  template <typename T>
  bool equal(const Tracked& t, const char* block, const std::string& field, T rtl, T golden);
  // `model`: whose word `golden` is; null: where the expectation is from.
  void report(const Tracked* t, const char* block, const std::string& field, std::string rtl,
              std::string golden, const char* model = nullptr);

  UnitParameters unit_;
  std::deque<Tracked> tracked_;
  CheckCounts checked_;
  CheckCounts expected_;
  std::optional<Mismatch> first_;
  std::uint64_t cycle_ = 0;
  bool paused_ = false;
};

}  // namespace santa::cosim
