#include "santa/energy/meter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace santa::energy {
namespace {

constexpr double kBitsPerByte = 8.0;

Range value_of(const Table& table) {
  return table.points.front().value;
}

}  // namespace

EnergyMeter::EnergyMeter(const EnergyPack& pack, MeterSettings settings)
    : pack_(pack),
      settings_(std::move(settings)),
      dram_(pack_.dram(settings_.dram_kind)),
      control_(pack_.control_fraction()),
      windows_(settings_.window_ns, settings_.max_windows) {
  add_static(Block::control, Part::logic_leakage, "logic",
             pack_.logic_leakage().value * static_cast<double>(settings_.units));
  add_static(Block::memory, Part::dram_background, settings_.dram_kind,
             value_of(dram_.background) * static_cast<double>(settings_.dram_devices));
}

Handle EnergyMeter::operation(Block block, Operation operation, unsigned width_bits,
                              unsigned second_width_bits) {
  const Cost cost = pack_.operation(operation, width_bits, second_width_bits);
  OperationLine line;
  line.block = block;
  line.part = part_of(operation);
  line.name = std::string(name_of(operation));
  if (second_width_bits != 0 && second_width_bits != width_bits) {
    line.name += " by " + std::to_string(second_width_bits);
  }
  line.width_bits = width_bits;
  line.each_pj = cost.value;
  line.constant = cost.constant;
  line.rule = cost.rule;
  line.confidence = cost.confidence;
  return add_line(std::move(line), Share{Part::control, cost.value * control_.value});
}

Handle EnergyMeter::sram_read(Block block, const std::string& name, std::uint64_t capacity_bytes,
                              unsigned port_bits) {
  return sram_access(block, name, capacity_bytes, port_bits, false);
}

Handle EnergyMeter::sram_write(Block block, const std::string& name, std::uint64_t capacity_bytes,
                               unsigned port_bits) {
  return sram_access(block, name, capacity_bytes, port_bits, true);
}

Handle EnergyMeter::sram_access(Block block, const std::string& name, std::uint64_t capacity_bytes,
                                unsigned port_bits, bool is_write) {
  const Cost cost = is_write ? pack_.sram_write(capacity_bytes, port_bits)
                             : pack_.sram_read(capacity_bytes, port_bits);
  const auto [known, is_new] = scratchpads_.emplace(name, capacity_bytes);
  if (known->second != capacity_bytes) {
    throw std::logic_error("energy meter: scratchpad '" + name + "' with " +
                           std::to_string(capacity_bytes) + " and " +
                           std::to_string(known->second) + " bytes");
  }
  if (is_new) {
    add_static(block, Part::sram_leakage, name,
               pack_.sram_leakage(capacity_bytes).value * static_cast<double>(settings_.units));
  }
  OperationLine line;
  line.block = block;
  line.part = Part::sram;
  line.name = (is_write ? "write " : "read ") + name;
  line.width_bits = port_bits;
  line.each_pj = cost.value;
  line.constant = cost.constant;
  line.rule = cost.rule;
  line.confidence = cost.confidence;
  return add_line(std::move(line), std::nullopt);
}

Handle EnergyMeter::dram_activate() {
  return dram_command("dram_activate", Part::dram_activate, dram_.activate);
}

Handle EnergyMeter::dram_refresh() {
  return dram_command("dram_refresh", Part::dram_refresh, dram_.refresh);
}

Handle EnergyMeter::dram_command(const char* name, Part part, const Table& table) {
  OperationLine line;
  line.block = Block::memory;
  line.part = part;
  line.name = name;
  line.each_pj = value_of(table);
  line.constant = table.key;
  line.rule = "table point";
  line.confidence = table.confidence;
  return add_line(std::move(line), std::nullopt);
}

Handle EnergyMeter::dram_read_byte() {
  return dram_transfer("dram_read_byte", Part::dram_read, dram_.read);
}

Handle EnergyMeter::dram_write_byte() {
  return dram_transfer("dram_write_byte", Part::dram_write, dram_.write);
}

Handle EnergyMeter::dram_transfer(const char* name, Part part, const Table& table) {
  OperationLine line;
  line.block = Block::memory;
  line.part = part;
  line.name = name;
  line.width_bits = static_cast<unsigned>(kBitsPerByte);
  line.each_pj = value_of(table) * kBitsPerByte;
  line.constant = table.key;
  line.rule = "table point x 8 bits";
  line.confidence = table.confidence;
  return add_line(std::move(line), Share{Part::dram_io, value_of(dram_.io) * kBitsPerByte});
}

Handle EnergyMeter::add_line(OperationLine line, const std::optional<Share>& share) {
  const auto known = std::find_if(lines_.begin(), lines_.end(), [&line](const Line& entry) {
    return entry.line.block == line.block && entry.line.name == line.name &&
           entry.line.width_bits == line.width_bits;
  });
  const auto index = static_cast<std::uint32_t>(known - lines_.begin());
  if (known == lines_.end()) {
    lines_.push_back({std::move(line), share});
    pending_.push_back(0);
  }
  return {index};
}

void EnergyMeter::add_static(Block block, Part part, const std::string& name,
                             const Range& milliwatt) {
  if (part != Part::sram_leakage && part != Part::logic_leakage && part != Part::dram_background) {
    throw std::logic_error("energy meter: '" + std::string(name_of(part)) + "' is no static part");
  }
  for (const StaticLine& line : statics_) {
    if (line.part == part && line.name == name) {
      throw std::logic_error("energy meter: static power '" + name + "' was added twice");
    }
  }
  statics_.push_back({block, part, name, milliwatt, {}});
}

void EnergyMeter::open_window(double time_ns) {
  if (!(time_ns >= 0.0) || !std::isfinite(time_ns)) {
    throw std::logic_error("energy meter: the time must be 0 or more");
  }
  book_pending();
  windows_.at(time_ns);  // may widen the windows
  window_start_ns_ = std::floor(time_ns / windows_.width_ns()) * windows_.width_ns();
  window_end_ns_ = window_start_ns_ + windows_.width_ns();
}

// Books what was counted in the open window.
void EnergyMeter::book_pending() {
  if (!(window_end_ns_ > 0.0)) return;
  WindowSeries::Parts& window = windows_.at(window_start_ns_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (pending_[i] == 0) continue;
    Line& entry = lines_[i];
    const auto times = static_cast<double>(pending_[i]);
    entry.line.count += pending_[i];
    pending_[i] = 0;
    book(entry.line.block, entry.line.part, entry.line.each_pj * times, window);
    if (entry.share) {
      book(entry.line.block, entry.share->part, entry.share->each_pj * times, window);
    }
  }
}

void EnergyMeter::book(Block block, Part part, const Range& energy_pj,
                       WindowSeries::Parts& window) {
  total_pj_ += energy_pj;
  parts_pj_[index_of(part)] += energy_pj;
  blocks_pj_[index_of(block)] += energy_pj;
  window[index_of(part)] += energy_pj.mid;
}

EnergyReport EnergyMeter::finish(double end_ns) {
  if (!(end_ns > 0.0) || !std::isfinite(end_ns) || end_ns < last_time_ns_) {
    throw std::logic_error("energy meter: the end must be above 0 and not before the last count");
  }
  book_pending();
  EnergyReport report;
  report.pack_name = pack_.name();
  report.pack_file = pack_.file();
  report.dram_kind = settings_.dram_kind;
  report.dram_devices = settings_.dram_devices;
  report.scope =
      (settings_.units == 1 ? std::string("pJ for one unit: its")
                            : "pJ for " + std::to_string(settings_.units) + " units: their") +
      " operations, registers, control and clock, scratchpads, and " +
      std::to_string(settings_.dram_devices) + " " + settings_.dram_kind +
      " device(s) with their interface; not the host, the memory controller or the "
      "on-chip network";
  report.duration_ns = end_ns;
  report.total_pj = total_pj_;
  report.parts_pj = parts_pj_;
  report.blocks_pj = blocks_pj_;
  report_lines(report);
  report_statics(report);
  report_windows(report);
  report.average_power_mw = report.total_pj * (1.0 / end_ns);
  check_report(report);
  return report;
}

// The line that collects the shares of one block under one part, still without count and energy.
OperationLine EnergyMeter::share_line(const Line& source) const {
  OperationLine line;
  line.block = source.line.block;
  line.part = source.share->part;
  if (line.part == Part::dram_io) {
    line.name = "dram_io_byte";
    line.width_bits = source.line.width_bits;
    line.constant = dram_.io.key;
    line.rule = "table point x 8 bits";
    line.confidence = dram_.io.confidence;
  } else {
    line.name = "control_and_clock";
    line.constant = control_.constant;
    line.rule = "fraction of the energy of the block's operations";
    line.confidence = control_.confidence;
  }
  return line;
}

void EnergyMeter::report_lines(EnergyReport& report) const {
  std::map<std::pair<Block, Part>, OperationLine> shares;
  for (const Line& entry : lines_) {
    OperationLine line = entry.line;
    const auto times = static_cast<double>(line.count);
    line.total_pj = line.each_pj * times;
    report.operations.push_back(std::move(line));
    if (!entry.share) continue;
    const auto [share, is_new] =
        shares.try_emplace({entry.line.block, entry.share->part}, share_line(entry));
    share->second.count += entry.line.count;
    share->second.total_pj += entry.share->each_pj * times;
  }
  for (auto& [key, line] : shares) {
    if (line.count != 0) line.each_pj = line.total_pj * (1.0 / static_cast<double>(line.count));
    report.operations.push_back(std::move(line));
  }
}

void EnergyMeter::report_statics(EnergyReport& report) const {
  for (StaticLine line : statics_) {
    line.total_pj = line.power_mw * report.duration_ns;
    report.parts_pj[index_of(line.part)] += line.total_pj;
    report.blocks_pj[index_of(line.block)] += line.total_pj;
    report.total_pj += line.total_pj;
    report.statics.push_back(std::move(line));
  }
}

void EnergyMeter::report_windows(EnergyReport& report) const {
  const WindowSeries series = windows_.covering(report.duration_ns);
  WindowSeries::Parts static_mw{};
  for (const StaticLine& line : statics_) static_mw[index_of(line.part)] += line.power_mw.mid;
  report.window_ns = series.width_ns();
  for (const WindowSeries::Parts& dynamic_pj : series.windows()) {
    Window window;
    window.start_ns = static_cast<double>(report.windows.size()) * report.window_ns;
    window.duration_ns = std::min(report.window_ns, report.duration_ns - window.start_ns);
    double energy_pj = 0.0;
    for (std::size_t part = 0; part < kPartCount; ++part) {
      window.parts_pj[part] = dynamic_pj[part] + static_mw[part] * window.duration_ns;
      energy_pj += window.parts_pj[part];
    }
    window.power_mw = energy_pj / window.duration_ns;
    report.windows.push_back(window);
  }
}

}  // namespace santa::energy
