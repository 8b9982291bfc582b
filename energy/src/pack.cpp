// Prices out of a loaded pack.
#include "santa/energy/pack.hpp"

#include <algorithm>
#include <cmath>

#include "interpolation.hpp"

namespace santa::energy {
namespace {

constexpr unsigned kMaxOperandBits = 1024;
constexpr unsigned kMinPortBits = 8;
constexpr unsigned kMaxPortBits = 65536;
constexpr double kSmallestOfFirst =
    1.0 / 16.0;  // capacities beyond the table that are still priced
constexpr double kLargestOfLast = 8.0;

bool has_two_operands(Operation operation) {
  return operation == Operation::multiply_int || operation == Operation::divide_int;
}

bool has_one_format(Operation operation) {
  const Part part = part_of(operation);
  return operation == Operation::add_fp16 || operation == Operation::add_fp32 ||
         operation == Operation::multiply_fp16 || operation == Operation::multiply_fp32 ||
         operation == Operation::divide_fp32 || part == Part::exponentials;
}

// A value that was not printed is at best derived, and a guess where it leaves the table.
Confidence lowered(Confidence confidence, Region region) {
  if (region == Region::kAtPoint) return confidence;
  return std::max(confidence,
                  region == Region::kBetween ? Confidence::derived : Confidence::estimate);
}

std::string rule_text(Region region, const std::string& between, const std::string& beyond) {
  if (region == Region::kAtPoint) return "table point";
  return region == Region::kBetween ? between : beyond;
}

// The pack's points over the product of the two operand widths.
std::vector<Point> over_products(std::vector<Point> points) {
  for (Point& point : points) point.at *= point.at;
  return points;
}

Cost single_value(const Table& table) {
  return {table.points.front().value, table.key, "table point", table.confidence};
}

// Access energy relative to the narrowest port, for one capacity.
Interpolated port_ratio(const std::vector<Point>& grid, double capacity_bytes, double port_bits) {
  std::map<unsigned, std::vector<Point>> columns;
  for (const Point& point : grid) columns[point.port_bits].push_back(point);
  std::vector<Point> over_width;
  Region capacity_region = Region::kAtPoint;
  for (const auto& [bits, column] : columns) {
    const Interpolated at_capacity = interpolate_log_clamped(column, capacity_bytes);
    capacity_region = std::max(capacity_region, at_capacity.region);
    over_width.push_back({static_cast<double>(bits), 0, at_capacity.value});
  }
  Interpolated result = interpolate_log(over_width, port_bits);
  // The narrowest port has ratio 1 at every capacity, so nothing was interpolated there.
  if (port_bits == over_width.front().at) return {result.value, Region::kAtPoint};
  result.region = std::max(result.region, capacity_region);
  return result;
}

}  // namespace

Cost EnergyPack::operation(Operation operation, unsigned width_bits,
                           unsigned second_width_bits) const {
  const Table& table = operations_[index_of(operation)];
  const auto check = [&](unsigned width) {
    if (width == 0 || width > kMaxOperandBits) {
      throw refuse(table.key, "width of " + std::to_string(width) + " bits", "1 to 1024 bits");
    }
  };
  check(width_bits);
  const unsigned second = second_width_bits == 0 ? width_bits : second_width_bits;
  check(second);
  if (has_two_operands(operation)) {
    const Interpolated result = interpolate_linear(
        over_products(table.points), static_cast<double>(width_bits) * static_cast<double>(second));
    return {result.value, table.key,
            rule_text(result.region, "linear in the product of the widths",
                      "proportional to the product of the widths"),
            lowered(table.confidence, result.region)};
  }
  if (second != width_bits) {
    throw refuse(table.key, "a second width of " + std::to_string(second) + " bits",
                 "a second width for multiply_int and divide_int only");
  }
  const Interpolated result = interpolate_linear(table.points, width_bits);
  if (has_one_format(operation) && result.region != Region::kAtPoint) {
    throw refuse(table.key, "width of " + std::to_string(width_bits) + " bits",
                 "the width in the pack only");
  }
  return {result.value, table.key,
          rule_text(result.region, "linear in width", "proportional to width"),
          lowered(table.confidence, result.region)};
}

Cost EnergyPack::sram_read(std::uint64_t capacity_bytes, unsigned port_bits) const {
  return sram_access(capacity_bytes, port_bits, sram_read_.key, false);
}

Cost EnergyPack::sram_write(std::uint64_t capacity_bytes, unsigned port_bits) const {
  return sram_access(capacity_bytes, port_bits, sram_write_ratio_.key, true);
}

Cost EnergyPack::sram_access(std::uint64_t capacity_bytes, unsigned port_bits,
                             const std::string& key, bool is_write) const {
  if (port_bits < kMinPortBits || port_bits > kMaxPortBits) {
    throw refuse(key, "port of " + std::to_string(port_bits) + " bits", "8 to 65536 bits");
  }
  unsigned widest = 1;  // a divisor below
  for (const Point& point : sram_port_ratio_.points) widest = std::max(widest, point.port_bits);
  const unsigned banks = (port_bits + widest - 1) / widest;
  const double bank_port_bits = static_cast<double>(port_bits) / banks;
  const double smallest = smallest_scratchpad_bytes();
  const double largest = sram_read_.points.back().at * kLargestOfLast;
  // A bank that would be larger is several, of which an access opens one; none is smaller.
  const double wanted_bytes = static_cast<double>(capacity_bytes) / banks;
  const double deep_banks = std::ceil(wanted_bytes / largest);
  const double bank_bytes = std::max(smallest, wanted_bytes / std::max(1.0, deep_banks));
  const Interpolated read = interpolate_log(sram_read_.points, bank_bytes);
  const Interpolated ratio = port_ratio(sram_port_ratio_.points, bank_bytes, bank_port_bits);
  Cost cost;
  cost.constant = key;
  cost.value = read.value * ratio.value * static_cast<double>(banks);
  cost.rule = "capacity: " + rule_text(read.region, "log-log", "log-log, beyond the points") +
              "; port: " + rule_text(ratio.region, "log-log", "log-log, beyond the points");
  if (banks > 1) cost.rule += "; " + std::to_string(banks) + " banks side by side";
  if (deep_banks > 1) {
    cost.rule += "; one of " + std::to_string(static_cast<unsigned>(deep_banks)) + " banks";
  }
  if (wanted_bytes < smallest) cost.rule += "; priced as the smallest scratchpad";
  cost.confidence = std::max(lowered(sram_read_.confidence, read.region),
                             lowered(sram_read_.confidence, ratio.region));
  if (is_write) {
    const Interpolated write = interpolate_log_clamped(sram_write_ratio_.points, bank_bytes);
    cost.value = cost.value * write.value;
    cost.rule +=
        "; write ratio: " + rule_text(write.region, "log-log", "constant beyond the points");
    cost.confidence =
        std::max(cost.confidence, lowered(sram_write_ratio_.confidence, write.region));
  }
  return cost;
}

double EnergyPack::smallest_scratchpad_bytes() const {
  return std::ceil(sram_read_.points.front().at * kSmallestOfFirst);
}

Cost EnergyPack::sram_leakage(std::uint64_t capacity_bytes) const {
  const double capacity =
      std::max(smallest_scratchpad_bytes(), static_cast<double>(capacity_bytes));
  const Interpolated result = interpolate_log(sram_leakage_.points, capacity);
  return {result.value, sram_leakage_.key,
          "capacity: " + rule_text(result.region, "log-log", "log-log, beyond the points"),
          lowered(sram_leakage_.confidence, result.region)};
}

const DramCosts& EnergyPack::dram(const std::string& kind) const {
  const auto it = dram_.find(kind);
  if (it != dram_.end()) return it->second;
  std::string allowed = "one of";
  for (const auto& [name, costs] : dram_) allowed += " " + name;
  throw refuse("dram", "got '" + kind + "'", allowed);
}

std::vector<std::string> EnergyPack::dram_kinds() const {
  std::vector<std::string> kinds;
  for (const auto& [name, costs] : dram_) kinds.push_back(name);
  return kinds;
}

Cost EnergyPack::control_fraction() const {
  return single_value(control_);
}

Cost EnergyPack::logic_leakage() const {
  return single_value(logic_leakage_);
}

InputError EnergyPack::refuse(const std::string& key, const std::string& found,
                              const std::string& allowed) const {
  return input_error(file_, key, found, allowed);
}

}  // namespace santa::energy
