// Timing of a DRAM channel as its scheduler uses it: whole cycles between two commands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "santa/config/dram.hpp"

namespace santa::sim {

enum DramDirection : std::uint8_t { kDramRead, kDramWrite };

struct DramTiming {
  // Idle bus between read and write data.
  static constexpr std::uint64_t kTurnaround = 2;

  explicit DramTiming(const config::DramConfig& dram)
      : burst(u64(dram.burst_cycles)),
        data{u64(dram.cl_cycles), u64(dram.cwl_cycles)},
        trcd{u64(dram.trcd_read_cycles), u64(dram.trcd_write_cycles)},
        trp(u64(dram.trp_cycles)),
        tras(u64(dram.tras_cycles)),
        trc(u64(dram.trc_cycles)),
        tccd_s(u64(dram.tccd_s_cycles)),
        tccd_l(u64(dram.tccd_l_cycles)),
        trrd_s(u64(dram.trrd_s_cycles)),
        trrd_l(u64(dram.trrd_l_cycles)),
        tfaw(u64(dram.tfaw_cycles)),
        to_precharge{u64(dram.trtp_cycles), data[kDramWrite] + burst + u64(dram.twr_cycles)},
        read_to_write(std::max(data[kDramRead] + burst + kTurnaround, data[kDramWrite] + 1) -
                      data[kDramWrite]),
        write_to_read_s(data[kDramWrite] + burst + u64(dram.twtr_s_cycles)),
        write_to_read_l(data[kDramWrite] + burst + u64(dram.twtr_l_cycles)),
        trefi(u64(dram.trefi_cycles)),
        trfc(u64(dram.trfc_cycles)) {}

  std::uint64_t burst;
  std::array<std::uint64_t, 2> data;  // command to first data, by DramDirection, as trcd
  std::array<std::uint64_t, 2> trcd;
  std::uint64_t trp;
  std::uint64_t tras;
  std::uint64_t trc;
  std::uint64_t tccd_s;
  std::uint64_t tccd_l;
  std::uint64_t trrd_s;
  std::uint64_t trrd_l;
  std::uint64_t tfaw;
  std::array<std::uint64_t, 2> to_precharge;  // from the command, by DramDirection
  std::uint64_t read_to_write;
  std::uint64_t write_to_read_s;
  std::uint64_t write_to_read_l;
  std::uint64_t trefi;  // 0: never
  std::uint64_t trfc;

 private:
  static std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }
};

}  // namespace santa::sim
