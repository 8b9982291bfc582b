#include "sweep/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "sweep/random_draw.hpp"

namespace santa::cli {
namespace {

using config::Node;

constexpr std::size_t kMostPoints = 1000000;

// Called with a map, a key in it, and the key's whole name ("memory.latency_ns").
using Leaf = std::function<void(const Node&, const std::string&, const std::string&)>;

class SpecReader {
 public:
  explicit SpecReader(const Node& root) : root_(root), known_(read_command(root)) {}

  SweepSpec read() {
    SweepSpec spec;
    spec.name = root_.text("name");
    spec.command = known_.command();
    Settings fixed;
    if (root_.has("fixed")) fixed = read_scalars(root_.child("fixed"), "fixed");
    spec.points = {fixed};
    const bool any = root_.has("list") || root_.has("grid") || root_.has("random");
    if (!any) throw root_.error("grid", "missing", "at least one of list, grid, random");
    if (root_.has("list")) read_list(spec.points);
    if (root_.has("grid")) read_grid(spec.points);
    if (root_.has("random")) read_random(spec.points);
    root_.finish();
    for (const auto& [key, section] : used_) spec.keys.push_back(key);
    return spec;
  }

 private:
  static SimulationCommand read_command(const Node& root) {
    constexpr auto kRun = SimulationCommand::kRun;
    constexpr auto kModel = SimulationCommand::kModel;
    if (!root.has("command")) return kRun;
    return root.choice<SimulationCommand>("command", {{"run", kRun}, {"model", kModel}});
  }

  void visit(const Node& map, const std::string& prefix, const std::string& section,
             const Leaf& leaf) {
    for (const std::string& key : map.keys()) {
      const std::string name = prefix + key;
      if (known_.is_section(name)) {
        visit(map.child(key), name + ".", section, leaf);
        continue;
      }
      known_.require(map, key, name);
      claim(map, key, name, section);
      leaf(map, key, name);
    }
  }

  // Every key belongs to one section: two would contradict each other.
  void claim(const Node& map, const std::string& key, const std::string& name,
             const std::string& section) {
    const auto entry = std::find_if(used_.begin(), used_.end(),
                                    [&](const auto& used) { return used.first == name; });
    if (entry == used_.end()) {
      used_.emplace_back(name, section);
    } else if (entry->second != section) {
      throw map.error(key, fmt::format("is in the section {}, too", entry->second),
                      "one section for each key");
    }
  }

  Settings read_scalars(const Node& map, const std::string& section) {
    Settings settings;
    visit(map, "", section,
          [&](const Node& inner, const std::string& key, const std::string& name) {
            settings.push_back({name, inner.text(key)});
          });
    return settings;
  }

  // Each of `points` once with each of `choices`.
  void cross(std::vector<Settings>& points, const std::vector<Settings>& choices) const {
    if (points.size() > kMostPoints / choices.size()) {
      throw input_error(root_.place(), "",
                        fmt::format("{} times {} points", points.size(), choices.size()),
                        fmt::format("{} points", kMostPoints));
    }
    std::vector<Settings> product;
    product.reserve(points.size() * choices.size());
    for (const Settings& point : points) {
      for (const Settings& choice : choices) {
        product.push_back(point);
        product.back().insert(product.back().end(), choice.begin(), choice.end());
      }
    }
    points = std::move(product);
  }

  void read_list(std::vector<Settings>& points) {
    std::vector<Settings> choices;
    for (const Node& entry : root_.list("list", 1)) {
      choices.push_back(read_scalars(entry, "list"));
      if (choices.back().empty()) {
        throw input_error(entry.place(), entry.name(), "is empty", "at least one key");
      }
    }
    cross(points, choices);
  }

  void read_grid(std::vector<Settings>& points) {
    bool any = false;
    visit(root_.child("grid"), "", "grid",
          [&](const Node& map, const std::string& key, const std::string& name) {
            any = true;
            std::vector<Settings> choices;
            for (const Node& value : map.list(key, 1)) {
              choices.push_back({{name, value.as_text()}});
            }
            cross(points, choices);
          });
    if (!any) throw root_.error("grid", "is empty", "at least one key, with a list of values");
  }

  void read_random(std::vector<Settings>& points) {
    const Node random = root_.child("random");
    const auto count = static_cast<std::size_t>(
        random.integer("points", 1, static_cast<std::int64_t>(kMostPoints)));
    std::mt19937_64 generator(static_cast<std::uint64_t>(
        random.integer("seed", 0, std::numeric_limits<std::int64_t>::max())));
    std::vector<std::pair<std::string, RandomKey>> keys;
    visit(random.child("keys"), "", "random",
          [&](const Node& map, const std::string& key, const std::string& name) {
            keys.emplace_back(name, RandomKey(map.child(key)));
          });
    if (keys.empty()) throw random.error("keys", "is empty", "at least one key");
    std::vector<Settings> choices(count);
    for (Settings& choice : choices) {
      for (const auto& [name, key] : keys) choice.push_back({name, key.draw(generator)});
    }
    cross(points, choices);
  }

  Node root_;
  const SweepKeys known_;
  std::vector<std::pair<std::string, std::string>> used_;  // key and section
};

}  // namespace

SweepSpec load_sweep_spec(const std::string& path) {
  return SpecReader(config::load_yaml_file(path)).read();
}

SweepSpec parse_sweep_spec(const std::string& text, const std::string& file_name) {
  return SpecReader(config::load_yaml_text(text, file_name)).read();
}

}  // namespace santa::cli
