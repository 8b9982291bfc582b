// The pack as rows for `santasim describe energy`.
#include "santa/energy/pack.hpp"

namespace santa::energy {
namespace {

std::string place_of(const Table& table, const Point& point) {
  if (table.axis.empty()) return "";
  std::string place = table.axis + " " + std::to_string(static_cast<std::uint64_t>(point.at));
  if (point.port_bits != 0) place += ", port_bits " + std::to_string(point.port_bits);
  return place;
}

void append(const Table& table, std::vector<ConstantRow>& rows) {
  for (const Point& point : table.points) {
    rows.push_back({table.key, place_of(table, point), point.value, table.unit, table.process,
                    table.supply, table.source, std::string(name_of(table.confidence)),
                    table.interpolation, table.note});
  }
}

}  // namespace

std::vector<ConstantRow> EnergyPack::rows() const {
  std::vector<ConstantRow> rows;
  for (const Table& table : operations_) append(table, rows);
  append(control_, rows);
  append(sram_read_, rows);
  append(sram_write_ratio_, rows);
  append(sram_port_ratio_, rows);
  append(sram_leakage_, rows);
  append(logic_leakage_, rows);
  for (const auto& [kind, costs] : dram_) {
    append(costs.activate, rows);
    append(costs.read, rows);
    append(costs.write, rows);
    append(costs.io, rows);
    append(costs.refresh, rows);
    append(costs.background, rows);
  }
  return rows;
}

}  // namespace santa::energy
