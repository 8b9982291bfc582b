// Energy over time in windows of one width, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "santa/energy/names.hpp"

namespace santa::energy {

// Energies in pJ by Part, in windows from time 0 on. When an event falls beyond the last allowed
// window, neighbours merge and the width doubles, so that there are never more than `max_windows`.
class WindowSeries {
 public:
  using Parts = std::array<double, kPartCount>;

  // `width_ns` above 0 and finite, `max_windows` 2 or more; else throws std::logic_error.
  WindowSeries(double width_ns, std::size_t max_windows);

  // The window of `time_ns` (0 or more). The reference holds until the next call.
  Parts& at(double time_ns);

  // The same energies in windows that cover exactly 0..end_ns, which is not before the last event.
  // An event on the edge that is the end counts in the window before it.
  WindowSeries covering(double end_ns) const;

  double width_ns() const { return width_ns_; }
  const std::vector<Parts>& windows() const { return windows_; }

 private:
  void merge_pairs();

  double width_ns_;
  std::size_t max_windows_;
  std::vector<Parts> windows_;
};

}  // namespace santa::energy
