// Figure 4 from recorded measurements: the files of gpu/bench, tab-separated or JSON.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/paper/part.hpp"

namespace santa::paper {
namespace {

namespace fs = std::filesystem;

struct Time {
  std::string what;
  std::string type = "bf16";  // of the cache
  std::uint64_t requests = 0;
  std::uint64_t length = 0;   // tokens
  std::uint64_t samples = 0;  // 0: no draws
  double median_us = 0.0;
  double p5_us = 0.0;
  double p95_us = 0.0;
  std::uint64_t runs = 40;

  void check(const std::string& place) const {
    if (median_us > 0.0 && p5_us <= median_us && p95_us >= median_us && runs >= 2) return;
    throw input_error(place, "median_us", "is not between p5_us and p95_us", "times above 0");
  }
};

struct Measurements {
  std::string device;
  std::vector<Time> times;
};

constexpr const char* kColumns[] = {"what",      "requests", "length", "samples",
                                    "median_us", "p5_us",    "p95_us"};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

template <typename Number>
Number parse(const std::string& place, const std::string& column, const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || rest != end) {
    throw input_error(place, column, "got " + config::in_quotes(text), "a number");
  }
  return number;
}

Measurements read_tsv(const fs::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw input_error(config::escaped(path.string()), "", "cannot be read", "a readable file");
  }
  Measurements measurements;
  std::map<std::string, std::size_t> columns;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string place = fmt::format("{}:{}", config::escaped(path.string()), ++number);
    const std::vector<std::string> fields = split(line);
    if (fields.empty()) continue;
    if (line.rfind("# device\t", 0) == 0) measurements.device = config::escaped(fields[1]);
    if (line[0] == '#' || line.find("not run") != std::string::npos) continue;
    if (fields[0] == "what") {
      columns.clear();
      for (std::size_t f = 0; f < fields.size(); ++f) columns[fields[f]] = f;
      for (const char* column : kColumns) {
        if (columns.count(column) == 0) {
          throw input_error(place, column, "is missing", "every column that gpu/bench writes");
        }
      }
      continue;
    }
    const auto field = [&](const char* column) -> const std::string& {
      const auto at = columns.find(column);
      if (at == columns.end() || at->second >= fields.size()) {
        throw input_error(place, column, "is missing", "a value for every column");
      }
      return fields[at->second];
    };
    const auto integer = [&](const char* column) {
      return parse<std::uint64_t>(place, column, field(column));
    };
    const auto decimal = [&](const char* column) {
      return parse<double>(place, column, field(column));
    };
    Time time;
    time.what = config::escaped(field("what"));
    time.requests = integer("requests");
    time.length = integer("length");
    time.samples = integer("samples");
    time.median_us = decimal("median_us");
    time.p5_us = decimal("p5_us");
    time.p95_us = decimal("p95_us");
    time.check(place);
    measurements.times.push_back(time);
  }
  return measurements;
}

// A JSON object of a file, whose members are read by their kind; one that is missing or of another
// kind is refused by its place in the file ("rows[3].length").
class Members {
 public:
  Members(const nlohmann::json& object, std::string file, std::string name)
      : object_(object), file_(std::move(file)), name_(std::move(name)) {
    if (!object_.is_object()) throw input_error(file_, name_, "is no object", kFile);
  }

  bool has(const char* key) const { return object_.contains(key); }
  Members object(const char* key) const { return {at(key), file_, full(key)}; }
  std::string text(const char* key) const {
    if (!at(key).is_string()) refuse(key, "a text");
    return at(key).get<std::string>();
  }
  std::string text(const char* key, const char* otherwise) const {
    return has(key) ? text(key) : otherwise;
  }
  double number(const char* key) const {
    if (!at(key).is_number()) refuse(key, "a number");
    return at(key).get<double>();
  }
  std::uint64_t count(const char* key) const {
    if (!at(key).is_number_unsigned()) refuse(key, "an integer from 0");
    return at(key).get<std::uint64_t>();
  }
  std::vector<Members> list(const char* key) const {
    if (!at(key).is_array()) refuse(key, "a list");
    std::vector<Members> members;
    for (const nlohmann::json& element : at(key)) {
      members.emplace_back(element, file_, fmt::format("{}[{}]", full(key), members.size()));
    }
    return members;
  }

 private:
  static constexpr const char* kFile = "a file that gpu/bench wrote";

  const nlohmann::json& at(const char* key) const {
    const auto member = object_.find(key);
    if (member == object_.end()) throw input_error(file_, full(key), "is missing", kFile);
    return *member;
  }
  std::string full(const char* key) const { return name_ + (name_.empty() ? "" : ".") + key; }
  [[noreturn]] void refuse(const char* key, const char* allowed) const {
    const nlohmann::json& value = at(key);
    throw input_error(
        file_, full(key),
        "got " + (value.is_structured() ? "a list or an object" : config::escaped(value.dump())),
        allowed);
  }

  const nlohmann::json& object_;
  std::string file_;
  std::string name_;
};

// What a row of the JSON form measured, in the words of the other form.
std::string name_of(const Members& row) {
  std::string name = row.text("kernel");
  if (row.has("scheme")) name = row.text("scheme");
  const std::string scores = row.text("scores", "exact");
  if (scores != "exact") name += ", " + scores;
  if (row.has("spread") && row.number("spread") > 1.0) name += ", peaked";
  const std::string type = row.text("type", "bf16");
  if (type != "bf16") name += ", " + type;
  return config::escaped(name);
}

Measurements read_json(const fs::path& path) {
  const std::string place = config::escaped(path.string());
  std::ifstream file(path);
  if (!file) throw input_error(place, "", "cannot be read", "a readable file");
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded())
    throw input_error(place, "", "is no JSON", "a file that gpu/bench wrote");
  const Members members(json, place, "");
  Measurements measurements;
  measurements.device = config::escaped(members.object("device").text("name"));
  for (const Members& row : members.list("rows")) {
    if (!row.has("median_us")) continue;  // not run
    Time time;
    time.what = name_of(row);
    time.type = row.text("type", "bf16");
    time.requests = row.count("requests");
    time.length = row.count("length");
    time.samples = row.count("samples");
    time.median_us = row.number("median_us");
    time.p5_us = row.number("p5_us");
    time.p95_us = row.number("p95_us");
    time.runs = members.object("protocol").count("runs");
    time.check(place);
    measurements.times.push_back(time);
  }
  return measurements;
}

Measurements read(const fs::path& path) {
  return path.extension() == ".json" ? read_json(path) : read_tsv(path);
}

// 95 % interval of a median, from the 5 % and 95 % points of `runs` near-normal times: the standard
// error of a median is sqrt(pi / 2) of that of a mean.
Estimate median_of(const Time& time) {
  constexpr double kPoints = 2 * 1.6449;  // deviations between 5 and 95 %
  constexpr double kHalfPi = 1.5708;
  const double deviation = (time.p95_us - time.p5_us) / kPoints;
  const double runs = static_cast<double>(time.runs);
  return {time.median_us, t_factor(time.runs - 1) * deviation * std::sqrt(kHalfPi / runs)};
}

Estimate ratio(const Estimate& a, const Estimate& b) {
  const double value = a.value / b.value;
  return {value, value * std::hypot(a.half / a.value, b.half / b.value)};
}

bool is_dense(const Time& time) {
  return time.samples == 0 && time.what.rfind("plain read", 0) != 0 && time.length > 0;
}

void add_file(Part& part, const Measurements& measurements) {
  Figure figure{fmt::format("paper-figure4-{}", part.figures.size() + 1),
                "Figure 4: time of a decode step, " + measurements.device,
                "cache length, tokens",
                "time, us",
                true,
                true,
                {}};
  const auto point = [&](const std::string& name, const Time& time, bool is_reference) {
    auto curve = std::find_if(figure.series.begin(), figure.series.end(),
                              [&](const Series& series) { return series.name == name; });
    if (curve == figure.series.end()) {
      figure.series.push_back({name, {}, {}, {}, is_reference});
      curve = figure.series.end() - 1;
    }
    const Estimate median = median_of(time);
    curve->x.push_back(static_cast<double>(time.length));
    curve->y.push_back(median.value);
    curve->half.push_back(median.half);
  };
  for (const Time& time : measurements.times) {
    if (time.requests == 1 && time.type == "bf16" && is_dense(time)) point(time.what, time, true);
  }
  for (const Time& own : measurements.times) {
    if (own.samples == 0) continue;
    const Time* dense = nullptr;
    for (const Time& other : measurements.times) {
      if (is_dense(other) && other.type == own.type && other.requests == own.requests &&
          other.length == own.length && (dense == nullptr || other.median_us < dense->median_us)) {
        dense = &other;
      }
    }
    if (dense == nullptr) continue;
    const std::string what = fmt::format("{}, S = {}", own.what, own.samples);
    if (own.requests == 1 && own.what.find(',') == std::string::npos) point(what, own, false);
    Row row;
    row.labels = {measurements.device,
                  what,
                  fmt::format("{}", own.requests),
                  fmt::format("{}", own.length),
                  fmt::format("{:.1f}", own.median_us),
                  fmt::format("{}: {:.1f}", dense->what, dense->median_us)};
    row.ours = ratio(median_of(*dense), median_of(own));
    const bool plain = own.what.find(',') == std::string::npos && own.samples <= 256;
    if (plain && own.requests == 1 && own.length == 32768) {
      row.paper = PaperValue{1.50, 0.005, false};
    }
    part.rows.push_back(row);
  }
  part.figures.push_back(figure);
}

}  // namespace

Part make_figure4(const Settings& settings, const Execution& execution) {
  Part part;
  part.name = "figure4";
  part.title = "Figure 4: time of a decode step on a GPU";
  part.method =
      R"(From the files of gpu/results, as they were recorded: our sampled kernels against
the fastest dense attention of the same file, head shape and length, cold cache, bf16. The value
is the ratio of the medians, dense over ours; its interval comes from the 5 and 95 % points of 40
runs. The paper's 1.50 is S2ANTA-prop with S = 128 against FlashInfer at 32,768 tokens on an RTX
6000 Ada.)";
  part.label_columns = {"device", "kernel", "requests", "tokens", "ours, us", "dense, us"};
  part.decimals = 3;
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entry(settings.gpu_results, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".tsv" || extension == ".json") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add_file(part, read(file));
  if (part.rows.empty()) {
    throw input_error("--gpu-results", "", "got " + config::in_quotes(settings.gpu_results),
                      "a folder with results of gpu/bench, .tsv or .json");
  }
  part.summary = "the same ratio at 32,768 tokens, of other kernels on another card";
  part.finding =
      R"(At 32,768 tokens and one request the recorded kernel gains about what the paper's gains, with twice
its S. It is another kernel on another card against other dense peers, so this shows that the gain is
there again, not that a number was met. Longer contexts gain more, for launch and draws cost the same
while the reads grow; S = 1024, peaked scores and many short requests gain less. S2ANTA-prop with
S = 128, S2ANTA-flash, FlashInfer and FlashDecoding have not been recorded. [gpu.md](gpu.md) says what
limits the kernel and what is known to be wrong with recorded rows.)";
  execution.progress(1.0);
  return part;
}

}  // namespace santa::paper
