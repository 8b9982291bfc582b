// Energy as the units draw it.
#include <gtest/gtest.h>

#include "workload.hpp"

namespace santa::sim {
namespace {

using energy::Part;

double part_pj(const UnitReport& report, Part part) {
  return report.energy.parts_pj[energy::index_of(part)].mid;
}

TEST(UnitEnergy, SampledUnitHasNoMultiplierAndNoDivider) {
  in_child("parts", [] {
    const Shape shape{{8, 2, 64, 1000}, {}};
    const auto reports = simulate_preset(
        "edge-lpddr5", {}, shape,
        {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kDenseFp16, UnitKind::kTopK});
    check_equal(part_pj(reports[0], Part::multipliers), 0.0, "multipliers");
    check_equal(part_pj(reports[0], Part::dividers), 0.0, "dividers");
    check_equal(part_pj(reports[0], Part::exponentials), 0.0, "exponentials");
    for (std::size_t i = 1; i < reports.size(); ++i) {
      check(part_pj(reports[i], Part::multipliers) > 0.0, "multipliers of a baseline");
    }
    for (const UnitReport& report : reports) {
      for (const Part part :
           {Part::adders, Part::registers, Part::sram, Part::sram_leakage, Part::dram_activate,
            Part::dram_read, Part::dram_write, Part::dram_io}) {
        check(part_pj(report, part) > 0.0,
              to_string(report.kind) + " " + std::string(name_of(part)));
      }
      const auto& total = report.energy.total_pj;
      check(total.low <= total.mid && total.mid <= total.high, "range");
    }
  });
}

// Bytes and activates of the memory model, priced by hand.
TEST(UnitEnergy, DramEnergyIsBytesAndActivates) {
  in_child("dram", [] {
    const Shape shape{{4, 1, 128, 2048}, {}};
    const auto report = simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}).front();
    const energy::DramCosts& costs = default_pack().dram("lpddr5-6400");
    const double read_bits =
        8.0 * static_cast<double>(report.traffic.total_bytes() - report.traffic.output_bytes);
    const double write_bits = 8.0 * static_cast<double>(report.traffic.output_bytes);
    const auto mid = [](const energy::Table& table) { return table.points.front().value.mid; };
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
    check(near(part_pj(report, Part::dram_activate),
               static_cast<double>(report.memory.activates) * mid(costs.activate)),
          "activates");
    check(near(part_pj(report, Part::dram_read), read_bits * mid(costs.read)), "reads");
    check(near(part_pj(report, Part::dram_write), write_bits * mid(costs.write)), "writes");
    check(near(part_pj(report, Part::dram_io), (read_bits + write_bits) * mid(costs.io)), "io");
  });
}

// Additions of the ternary gather: every signed digit of every coefficient adds one key, and each
// addition is priced as the pack says.
TEST(UnitEnergy, GatherAdditionsAreDigitsTimesKeys) {
  in_child("gather", [] {
    const Shape shape{{4, 1, 128, 512}, {}};
    const auto report = simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}).front();
    const Workload workload = make_workload(shape, 128, 11);
    const attention::EncodedQuery query =
        attention::encode_query(workload.jobs[0].request.query, 1);
    std::uint64_t digits = 0;
    for (const std::int16_t c : query.coefficients) digits += arithmetic::digit_count(c);
    check_equal(report.operations.gather_adds, digits * 512, "additions");
    bool found = false;
    for (const energy::OperationLine& line : report.energy.operations) {
      if (line.block == energy::Block::ternary_gather && line.name == "add_int") {
        found = true;
        check_equal(line.count, digits * 512, "energy line");
        check_equal(line.each_pj.mid, 0.1, "int32 addition");
      }
    }
    check(found, "an energy line for the gather's additions");
  });
}

}  // namespace
}  // namespace santa::sim
