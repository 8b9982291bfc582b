// results.csv and results.jsonl of a sweep.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sweep/point.hpp"
#include "sweep/spec.hpp"
#include "sweep/store.hpp"

namespace santa::cli {

// One row of the results: a point that is done, or why it is not.
struct SweepRow {
  const SweepPoint* point = nullptr;
  std::string failure;  // empty for a point that is done
};

// Writes both files, one row a point in the order of `rows`; the same results give the same bytes.
// Reports are read one at a time. Throws InputError.
void write_sweep_tables(const SweepStore& store, const SweepSpec& spec,
                        const std::vector<SweepRow>& rows);

// A field of a CSV file (RFC 4180), quoted where it must be.
std::string csv_field(const std::string& text);

}  // namespace santa::cli
