// Reads a pack file. Everything in it is used or refused (santa/config/yaml_reader.hpp).
#include <algorithm>
#include <set>
#include <utility>

#include "santa/config/yaml_reader.hpp"
#include "santa/energy/pack.hpp"

namespace santa::energy {
namespace {

using config::Node;

constexpr double kMaxValue = 1e9;
constexpr double kSmallestPositive = 1e-12;  // where log-log interpolation needs a logarithm
constexpr std::int64_t kMaxWidthBits = 1024;
constexpr std::int64_t kMaxCapacityBytes = std::int64_t{1} << 40;

enum class Axis { kNone, kWidth, kCapacity, kCapacityAndPort };

struct TableRules {
  const char* unit;
  Axis axis;
  double min_value;
  const char* interpolation;
};

constexpr const char* kLinear = "linear in width between points, proportional to width beyond";
constexpr const char* kProduct =
    "linear in the product of the operand widths between points, proportional to it beyond";
constexpr const char* kFixed = "none: one format";
constexpr const char* kNone = "none";

TableRules rules_of(Operation operation) {
  const char* interpolation = kLinear;
  switch (operation) {
    case Operation::multiply_int:
    case Operation::divide_int:
      interpolation = kProduct;
      break;
    case Operation::add_fp16:
    case Operation::add_fp32:
    case Operation::multiply_fp16:
    case Operation::multiply_fp32:
    case Operation::exp_fp32:
    case Operation::divide_fp32:
      interpolation = kFixed;
      break;
    default:
      break;
  }
  return {"pJ", Axis::kWidth, 0.0, interpolation};
}

constexpr TableRules kControlRules = {"fraction of logic energy", Axis::kNone, 0.0, kNone};
constexpr TableRules kSramReadRules = {
    "pJ per access", Axis::kCapacity, kSmallestPositive,
    "log-log in capacity between points, slope of the last segment beyond"};
constexpr TableRules kSramWriteRules = {"write energy over read energy", Axis::kCapacity,
                                        kSmallestPositive,
                                        "log-log in capacity between points, constant beyond"};
constexpr TableRules kSramPortRules = {"access energy over that of the narrowest port",
                                       Axis::kCapacityAndPort, kSmallestPositive,
                                       "log-log in capacity, constant beyond; log-log in port "
                                       "width, slope of the first segment below, "
                                       "banks side by side above"};
constexpr TableRules kSramLeakageRules = {
    "mW", Axis::kCapacity, kSmallestPositive,
    "log-log in capacity between points, slope of the last segment beyond"};
constexpr TableRules kLogicLeakageRules = {"mW", Axis::kNone, 0.0, kNone};
constexpr TableRules kActivateRules = {"pJ per activate", Axis::kNone, 0.0, kNone};
constexpr TableRules kRefreshRules = {"pJ per refresh", Axis::kNone, 0.0, kNone};
constexpr TableRules kPerBitRules = {"pJ per bit", Axis::kNone, 0.0, kNone};
constexpr TableRules kBackgroundRules = {"mW per device", Axis::kNone, 0.0, kNone};

Range read_range(const Node& node, double min_value) {
  Range range;
  range.low = node.number("low", min_value, kMaxValue);
  range.mid = node.number("mid", min_value, kMaxValue);
  range.high = node.number("high", min_value, kMaxValue);
  if (range.low > range.mid) {
    throw node.error("low", "got " + node.text("low"), "at most mid, " + node.text("mid"));
  }
  if (range.high < range.mid) {
    throw node.error("high", "got " + node.text("high"), "at least mid, " + node.text("mid"));
  }
  return range;
}

bool comes_after(const Point& a, const Point& b) {
  return a.at != b.at ? a.at > b.at : a.port_bits > b.port_bits;
}

}  // namespace

class PackLoader {
 public:
  static EnergyPack load(const Node& root) {
    PackLoader loader(root);
    EnergyPack pack = loader.read();
    loader.require_cited_sources();
    root.finish();
    return pack;
  }

 private:
  explicit PackLoader(const Node& root) : root_(root), sources_(root.child("sources")) {
    for (const std::string& id : sources_.keys()) citations_[id] = sources_.text(id);
  }

  EnergyPack read() {
    EnergyPack pack;
    pack.name_ = root_.text("pack");
    pack.title_ = root_.text("title");
    const Node operations = root_.child("operations");
    for (std::size_t i = 0; i < kOperationCount; ++i) {
      const auto operation = static_cast<Operation>(i);
      pack.operations_.push_back(
          read_table(operations, std::string(name_of(operation)), rules_of(operation)));
    }
    pack.control_ = read_table(root_.child("overheads"), "control_and_clock", kControlRules);
    read_sram(root_.child("sram"), pack);
    pack.logic_leakage_ = read_table(root_.child("static"), "logic_leakage", kLogicLeakageRules);
    read_dram(root_.child("dram"), pack);
    return pack;
  }

  void read_sram(const Node& sram, EnergyPack& pack) {
    pack.sram_read_ = read_table(sram, "read", kSramReadRules);
    pack.sram_write_ratio_ = read_table(sram, "write_ratio", kSramWriteRules);
    pack.sram_port_ratio_ = read_table(sram, "port_ratio", kSramPortRules);
    pack.sram_leakage_ = read_table(sram, "leakage", kSramLeakageRules);
    require_port_grid(sram, pack.sram_port_ratio_.points);
    // The table of reads and the narrowest port must speak of the same access, or every energy is
    // off by the ratio of the two: 5 pJ for 32 bits and 10 pJ for 64 bits are one memory.
    const Node read = sram.child("read");
    const auto bits = read.integer("bits_per_access", 1, kMaxWidthBits);
    const unsigned narrowest = pack.sram_port_ratio_.points.front().port_bits;
    if (bits != static_cast<std::int64_t>(narrowest)) {
      throw read.error("bits_per_access", "got " + std::to_string(bits),
                       "the narrowest port of sram.port_ratio, " + std::to_string(narrowest));
    }
  }

  // Every capacity lists the same ports, the narrowest with ratio 1.
  static void require_port_grid(const Node& sram, const std::vector<Point>& points) {
    std::vector<unsigned> ports;
    for (const Point& point : points) {
      if (point.at == points.front().at) ports.push_back(point.port_bits);
    }
    bool regular = points.size() % ports.size() == 0;
    for (std::size_t i = 0; regular && i < points.size(); ++i) {
      regular = points[i].port_bits == ports[i % ports.size()] &&
                points[i].at == points[i - i % ports.size()].at;
    }
    if (!regular || ports.size() < 2) {
      throw sram.child("port_ratio")
          .error("points", "got capacities with different ports or one port only",
                 "the same two or more values of port_bits at every capacity");
    }
    for (std::size_t i = 0; i < points.size(); i += ports.size()) {
      if (points[i].value.low != 1.0 || points[i].value.high != 1.0) {
        throw sram.child("port_ratio")
            .list("points")[i]
            .error("mid", "got a ratio other than 1 at the narrowest port",
                   "low, mid and high of 1");
      }
    }
  }

  void read_dram(const Node& dram, EnergyPack& pack) {
    if (dram.keys().empty()) throw root_.error("dram", "got no kind of DRAM", "one or more kinds");
    for (const std::string& kind : dram.keys()) {
      const Node node = dram.child(kind);
      DramCosts costs;
      costs.activated_bytes =
          static_cast<std::uint64_t>(node.integer("activated_bytes", 0, kMaxCapacityBytes));
      costs.activate = read_table(node, "activate", kActivateRules);
      costs.read = read_table(node, "read", kPerBitRules);
      costs.write = read_table(node, "write", kPerBitRules);
      costs.io = read_table(node, "io", kPerBitRules);
      costs.refresh = read_table(node, "refresh", kRefreshRules);
      costs.background = read_table(node, "background", kBackgroundRules);
      pack.dram_.emplace(kind, std::move(costs));
    }
  }

  Table read_table(const Node& parent, const std::string& key, const TableRules& rules) {
    const Node node = parent.child(key);
    Table table;
    table.key = node.name();
    table.unit = node.text("unit");
    if (table.unit != rules.unit) {
      throw node.error("unit", "got '" + table.unit + "'", std::string("'") + rules.unit + "'");
    }
    table.process = node.text("process");
    table.supply = node.text("supply");
    table.source = cite(node);
    table.confidence = node.choice<Confidence>("confidence", {{"primary", Confidence::primary},
                                                              {"derived", Confidence::derived},
                                                              {"estimate", Confidence::estimate}});
    table.note = node.text("note");
    table.interpolation = rules.interpolation;
    if (rules.axis == Axis::kNone) {
      table.points.push_back({0.0, 0, read_range(node, rules.min_value)});
    } else {
      table.axis = rules.axis == Axis::kWidth ? "width_bits" : "capacity_bytes";
      read_points(node, rules, table);
    }
    return table;
  }

  static void read_points(const Node& node, const TableRules& rules, Table& table) {
    const std::int64_t max_at = rules.axis == Axis::kWidth ? kMaxWidthBits : kMaxCapacityBytes;
    for (const Node& entry : node.list("points", 1)) {
      Point point;
      point.at = static_cast<double>(entry.integer(table.axis, 1, max_at));
      if (rules.axis == Axis::kCapacityAndPort) {
        point.port_bits = static_cast<unsigned>(entry.integer("port_bits", 1, kMaxWidthBits));
      }
      point.value = read_range(entry, rules.min_value);
      if (!table.points.empty() && !comes_after(point, table.points.back())) {
        throw entry.error(table.axis, "got " + entry.text(table.axis),
                          "entries in ascending order");
      }
      table.points.push_back(point);
    }
  }

  std::string cite(const Node& node) {
    const std::string id = node.text("source");
    const auto citation = citations_.find(id);
    if (citation == citations_.end()) {
      std::string allowed = "one of the keys of 'sources':";
      for (const auto& [known, text] : citations_) allowed += " " + known;
      throw node.error("source", "got '" + id + "'", allowed);
    }
    cited_.insert(id);
    return citation->second;
  }

  void require_cited_sources() const {
    for (const auto& [id, text] : citations_) {
      if (cited_.count(id) == 0) {
        throw sources_.error(id, "got a source that no constant cites", "only sources in use");
      }
    }
  }

  Node root_;
  Node sources_;
  std::map<std::string, std::string> citations_;
  std::set<std::string> cited_;
};

EnergyPack EnergyPack::load(const std::string& path) {
  EnergyPack pack = PackLoader::load(config::load_yaml_file(path));
  pack.file_ = path;
  return pack;
}

EnergyPack EnergyPack::parse(const std::string& yaml, const std::string& file_name) {
  EnergyPack pack = PackLoader::load(config::load_yaml_text(yaml, file_name));
  pack.file_ = file_name;
  return pack;
}

}  // namespace santa::energy
