#include "append.hpp"

namespace santa::sim {
namespace {

// Through the buffer in words of the gather.
void count_transposition(const UnitContext& context, std::uint64_t elements) {
  const config::UnitConfig& unit = context.hardware.unit;
  const std::uint64_t buffer_bytes =
      context.config_u64(unit.key_buffer_tiles * unit.tile_keys * unit.max_head_dimension);
  const auto port_bits = static_cast<unsigned>(unit.key_lanes * 8);
  energy::EnergyMeter& meter = context.meter;
  const std::uint64_t words = divide_up(elements, context.config_u64(unit.key_lanes));
  context.count(meter.sram_write(energy::Block::key_fetch, "key_buffer", buffer_bytes, port_bits),
                words);
  context.count(meter.sram_read(energy::Block::key_fetch, "key_buffer", buffer_bytes, port_bits),
                words);
}

}  // namespace

void append_row(const UnitContext& context, const JobState& job, std::uint64_t key_row_bytes,
                std::uint64_t value_row_bytes) {
  if (!job.job->append) return;
  const std::uint64_t last = job.cache().context - 1;
  context.port.write(Stream::kAppendKey, job.addresses.key + last * key_row_bytes, key_row_bytes,
                     nullptr);
  context.port.write(Stream::kAppendValue, job.addresses.value + last * value_row_bytes,
                     value_row_bytes, nullptr);
}

void append_to_tile(const UnitContext& context, const JobState& job) {
  if (!job.job->append) return;
  const attention::KvHead& cache = job.cache();
  const std::uint32_t last = cache.context - 1;
  const std::uint32_t tile = last / cache.tile_keys;
  const std::uint32_t slot = last % cache.tile_keys;
  const config::UnitConfig& unit = context.hardware.unit;
  const std::uint64_t key_stride = row_stride_bytes(job.key_row_bytes(), unit);
  const std::uint64_t value_stride = row_stride_bytes(job.value_row_bytes(), unit);
  const std::uint64_t base = job.tile_address(tile);
  context.port.write(Stream::kAppendValue, job.addresses.value + last * value_stride,
                     job.value_row_bytes(), nullptr);
  if (slot + 1 < cache.tile_keys) {
    context.port.write(Stream::kAppendKey, base + slot * key_stride, job.key_row_bytes(), nullptr);
    return;
  }
  for (std::uint32_t row = 0; row < slot; ++row) {
    context.port.read(Stream::kAppendKey, base + row * key_stride, job.key_row_bytes(), nullptr);
  }
  context.port.write(Stream::kAppendKey, base, cache.head_dimension * job.feature_bytes(), nullptr);
  count_transposition(context, std::uint64_t{cache.head_dimension} * cache.tile_keys);
}

}  // namespace santa::sim
