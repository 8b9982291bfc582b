#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "options.hpp"
#include "santa/attention/scheme.hpp"
#include "santa/config/message_text.hpp"
#include "table_header.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kLabelWidth = 24;
constexpr std::size_t kColumnWidth = 19;
constexpr double kPercent = 100.0;
// Parts of the energy below this share of every unit's total are shown as one sum.
constexpr double kShownShare = 0.01;

using Cell = std::function<std::string(std::size_t)>;  // by unit

class TableText {
 public:
  explicit TableText(std::size_t units) : units_(units) {}

  void row(const std::string& label, const Cell& cell) {
    std::string line = fmt::format("{:<{}}", label, kLabelWidth);
    for (std::size_t u = 0; u < units_; ++u) line += fmt::format("{:>{}}", cell(u), kColumnWidth);
    text_ += line + "\n";
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::size_t units_;
  std::string text_;
};

std::string percent(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", kPercent * part / whole) : "-";
}

std::string optional_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.5f}", *value) : "-";
}

std::string column_name(const sim::UnitReport& unit) {
  switch (unit.kind) {
    case sim::UnitKind::kSampled:
      return fmt::format("{} S={}", attention::to_string(unit.options.values),
                         unit.options.samples);
    case sim::UnitKind::kDenseInt8:
      return "dense int8";
    case sim::UnitKind::kDenseFp16:
      return "dense fp16";
    case sim::UnitKind::kTopK:
      break;
  }
  return fmt::format("top-k k={}", unit.options.samples);
}

void add_energy(TableText& table, const RunResult& run) {
  const auto& units = run.units;
  const auto total = [&](double energy::Range::*end) {
    return [&units, end](std::size_t u) { return quantity(units[u].energy.total_pj.*end); };
  };
  table.row("energy, pJ", total(&energy::Range::mid));
  table.row("  low estimate", total(&energy::Range::low));
  table.row("  high estimate", total(&energy::Range::high));
  const auto part = [&](std::size_t u, std::size_t p) { return units[u].energy.parts_pj[p].mid; };
  std::vector<std::size_t> shown;
  std::vector<std::size_t> rest;
  for (std::size_t p = 0; p < energy::kPartCount; ++p) {
    const auto id = static_cast<energy::Part>(p);
    bool show = id == energy::Part::sram_leakage || id == energy::Part::logic_leakage;
    for (std::size_t u = 0; u < units.size(); ++u) {
      show = show || part(u, p) > kShownShare * units[u].energy.total_pj.mid;
    }
    (show ? shown : rest).push_back(p);
  }
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    return part(run.main_unit, a) > part(run.main_unit, b);
  });
  for (const std::size_t p : shown) {
    table.row("  " + std::string(energy::kPartNames[p]),
              [&](std::size_t u) { return quantity(part(u, p)); });
  }
  table.row(fmt::format("  {} smaller parts", rest.size()), [&](std::size_t u) {
    double sum = 0.0;
    for (const std::size_t p : rest) sum += part(u, p);
    return quantity(sum);
  });
}

void add_traffic(TableText& table, const std::vector<sim::UnitReport>& units) {
  const auto stream = [&](const char* label, std::uint64_t sim::Traffic::*bytes) {
    table.row(label, [&](std::size_t u) { return grouped(units[u].traffic.*bytes); });
  };
  table.row("memory traffic, bytes",
            [&](std::size_t u) { return grouped(units[u].traffic.total_bytes()); });
  stream("  query", &sim::Traffic::query_bytes);
  stream("  key", &sim::Traffic::key_bytes);
  stream("  value", &sim::Traffic::value_bytes);
  stream("  stash", &sim::Traffic::stash_bytes);
  stream("  output", &sim::Traffic::output_bytes);
  // A dense unit reads every row, and chooses none.
  const auto chooses = [](const sim::UnitReport& unit) {
    return unit.kind == sim::UnitKind::kSampled || unit.kind == sim::UnitKind::kTopK;
  };
  if (std::any_of(units.begin(), units.end(), chooses)) {
    table.row("value rows, different", [&](std::size_t u) {
      return chooses(units[u]) ? grouped(units[u].samples.unique_rows) : "-";
    });
  }
  table.row("value rows, reads",
            [&](std::size_t u) { return grouped(units[u].samples.row_reads); });
  table.row("key features fetched", [&](std::size_t u) {
    return percent(static_cast<double>(units[u].samples.features_needed),
                   static_cast<double>(units[u].samples.features_total));
  });
}

void add_limits(TableText& table, const std::vector<sim::UnitReport>& units) {
  const auto busiest = [&](std::size_t u) {
    const auto& blocks = units[u].blocks;
    return std::max_element(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
      return a.busy_cycles < b.busy_cycles;
    });
  };
  table.row("memory bandwidth used",
            [&](std::size_t u) { return percent(units[u].memory.busy_fraction, 1.0); });
  if (units.front().memory.dram) {
    table.row("memory limited by", [&](std::size_t u) {
      const sim::DramSums& sums = units[u].memory.dram->sums;
      return std::string(sim::kDramLimitNames[sim::index_of(sim::binding_limit(sums))]);
    });
  }
  table.row("busiest block", [&](std::size_t u) {
    return units[u].blocks.empty() ? std::string("-") : busiest(u)->block;
  });
  table.row("  busy", [&](std::size_t u) {
    if (units[u].blocks.empty()) return std::string("-");
    return percent(static_cast<double>(busiest(u)->busy_cycles),
                   static_cast<double>(units[u].latency_cycles));
  });
}

void add_ratios(TableText& table, const RunResult& run) {
  const auto dense = run.find(sim::UnitKind::kDenseInt8);
  if (!dense || run.units.size() == 1) return;
  const auto ratio = [&](const char* label, double (*value)(const sim::UnitReport&)) {
    table.row(label, [&run, dense, value](std::size_t u) {
      const double reference = value(run.units[*dense]);
      return reference > 0.0 ? fmt::format("{:.3f}", value(run.units[u]) / reference) : "-";
    });
  };
  table.line("relative to dense int8");
  ratio("  latency", [](const sim::UnitReport& r) { return r.latency_ns; });
  ratio("  energy", [](const sim::UnitReport& r) { return r.energy.total_pj.mid; });
  ratio("  traffic",
        [](const sim::UnitReport& r) { return static_cast<double>(r.traffic.total_bytes()); });
}

void add_accuracy(TableText& table, const RunResult& run) {
  table.row("output error, rel. L2",
            [&](std::size_t u) { return optional_text(run.accuracy[u].relative_l2); });
  table.row("  worst query head",
            [&](std::size_t u) { return optional_text(run.accuracy[u].worst_head_relative_l2); });
}

}  // namespace

std::string make_table(const RunResult& run) {
  TableText table(run.units.size());
  table.row("", [&](std::size_t u) { return column_name(run.units[u]); });
  table.row("latency, cycles", [&](std::size_t u) { return grouped(run.units[u].latency_cycles); });
  table.row("latency, ns", [&](std::size_t u) { return quantity(run.units[u].latency_ns); });
  add_energy(table, run);
  add_traffic(table, run.units);
  add_limits(table, run.units);
  add_accuracy(table, run);
  add_ratios(table, run);
  return make_table_header(run) + "\n" + table.text();
}

}  // namespace santa::cli
