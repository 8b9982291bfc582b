// Sums of what several units count.
#include "santa/sim/simulation.hpp"

namespace santa::sim {

Traffic& Traffic::operator+=(const Traffic& other) {
  query_bytes += other.query_bytes;
  key_bytes += other.key_bytes;
  value_bytes += other.value_bytes;
  stash_bytes += other.stash_bytes;
  output_bytes += other.output_bytes;
  append_bytes += other.append_bytes;
  return *this;
}

OperationTotals& OperationTotals::operator+=(const OperationTotals& other) {
  algorithm.score_adds += other.algorithm.score_adds;
  algorithm.score_multiplies += other.algorithm.score_multiplies;
  algorithm.value_adds += other.algorithm.value_adds;
  algorithm.value_multiplies += other.algorithm.value_multiplies;
  algorithm.key_elements_read += other.algorithm.key_elements_read;
  algorithm.value_elements_read += other.algorithm.value_elements_read;
  algorithm.scores_written += other.algorithm.scores_written;
  algorithm.outputs_written += other.algorithm.outputs_written;
  gather_adds += other.gather_adds;
  value_adds_executed += other.value_adds_executed;
  multiplies += other.multiplies;
  divides += other.divides;
  exponentials += other.exponentials;
  random_words += other.random_words;
  return *this;
}

SampleTotals& SampleTotals::operator+=(const SampleTotals& other) {
  drawn += other.drawn;
  unique_rows += other.unique_rows;
  row_reads += other.row_reads;
  features_needed += other.features_needed;
  features_total += other.features_total;
  tiles_scanned += other.tiles_scanned;
  tiles_total += other.tiles_total;
  return *this;
}

}  // namespace santa::sim
