#include "vectors_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "build_information.hpp"
#include "cosim_command.hpp"
#include "cuda_producer.hpp"
#include "input.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/message_text.hpp"
#include "santa/cosim/unit_parameters.hpp"
#include "santa/cosim/vector_request.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"
#include "santa/vectors/file.hpp"
#include "santa/vectors/producer.hpp"
#include "text.hpp"
#include "workload.hpp"

namespace santa::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "DIR";
// Of --diverse: the shapes of units in RTL, then wider ones.
constexpr const char* kDiverseUnits[] = {"tiny-test", "eight-heads", "edge-lpddr5", "server-hbm3"};

std::unique_ptr<vectors::Producer> make_producer(const std::string& name) {
  if (name == vectors::kGoldenProducer) return std::make_unique<vectors::GoldenProducer>();
  if (name == vectors::kCudaProducer) return make_cuda_producer();
  throw input_error("--producer", "", "got " + config::in_quotes(name),
                    fmt::format("{}, {}", vectors::kGoldenProducer, vectors::kCudaProducer));
}

// Today, or the day of SOURCE_DATE_EPOCH for files that can be made again bit for bit.
std::string today() {
  constexpr std::int64_t kEndOf9999 = 253402300799;
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr) {
    const std::string_view text = epoch;
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || seconds < 0 ||
        seconds > kEndOf9999) {
      throw input_error("$SOURCE_DATE_EPOCH", "", "got " + config::in_quotes(epoch),
                        fmt::format("seconds since 1970, 0 to {}", kEndOf9999));
    }
    now = static_cast<std::time_t>(seconds);
  }
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

vectors::Provenance provenance_of(const vectors::Producer& producer) {
  const std::string commit = kGitCommit;
  return {producer.device(), fmt::format("santasim {}", kProgramVersion),
          commit.empty() ? "unknown" : commit, today()};
}

std::string provenance_text(const vectors::Provenance& p) {
  return fmt::format("{} on {}, driver {}, {}; {}, commit {}, {}", p.device.producer, p.device.name,
                     p.device.driver, p.device.toolkit, p.program, p.commit, p.date);
}

// Files that are gone with the object unless they are kept: a set that could not be completed.
class Written {
 public:
  ~Written() {
    std::error_code ignored;
    for (const std::string& path : paths_) fs::remove(path, ignored);
  }
  void add(const std::string& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return;
  throw input_error(kFolder, config::in_quotes(folder), error ? error.message() : "is not a folder",
                    "a folder to write to");
}

// A unit whose requests are recorded: its name is in those of the files.
struct RecordedUnit {
  std::string name;
  cosim::UnitParameters parameters;
};

RecordedUnit load_unit(const std::string& config, const std::vector<config::Override>& overrides) {
  const config::HardwareConfig hardware = config::load_hardware(find_unit(config), overrides);
  config::require_single_unit(hardware, "a recorded vector");
  return {hardware.name, cosim::parameters_of(hardware)};
}

std::vector<RecordedUnit> recorded_units(const VectorsOptions& options) {
  if (!options.diverse) return {load_unit(options.config, options.overrides)};
  std::vector<RecordedUnit> units;
  for (const char* name : kDiverseUnits) units.push_back(load_unit(name, {}));
  return units;
}

// Writes request(0) ... request(count - 1) with their results, all of them or none. `name` is asked
// first, so that a file that is there already is found before the work.
void write_set(const VectorsOptions& options, std::size_t count,
               const std::function<std::string(std::size_t)>& name,
               const std::function<vectors::Request(std::size_t)>& request, Progress& progress,
               const std::string& what) {
  const std::unique_ptr<vectors::Producer> producer = make_producer(options.producer);
  make_folder(options.folder);
  const auto path_of = [&](std::size_t number) {
    return (fs::path(options.folder) / (name(number) + vectors::kExtension)).string();
  };
  for (std::size_t number = 0; number < count; ++number) {
    if (std::error_code ignored; !fs::exists(path_of(number), ignored)) continue;
    throw input_error(kFolder, config::in_quotes(path_of(number)), "is there already",
                      "a folder without vectors of this name");
  }
  vectors::Vector vector;
  vector.provenance = provenance_of(*producer);
  Written written;
  for (std::size_t number = 0; number < count; ++number) {
    vector.request = request(number);
    vector.results = producer->answer(vector.request);
    vectors::write_vector(path_of(number), vector);
    written.add(path_of(number));
    progress.show("recording", static_cast<double>(number + 1) / static_cast<double>(count));
  }
  written.keep();
  write_standard_output(fmt::format("{} vectors {} written to {}\n  {}\n", grouped(count), what,
                                    config::escaped(options.folder),
                                    provenance_text(vector.provenance)));
}

void record(const VectorsOptions& options) {
  const std::vector<RecordedUnit> units = recorded_units(options);
  std::vector<std::string> names;
  for (const RecordedUnit& unit : units) names.push_back(config::escaped(unit.name));
  const auto seed_of = [&](std::size_t number) { return 1 + number % options.seeds; };
  const auto unit_of = [&](std::size_t number) -> const RecordedUnit& {
    return units[number / options.seeds];
  };
  Progress progress;
  write_set(
      options, units.size() * options.seeds,
      [&](std::size_t number) {
        return fmt::format("{}-{:03}", unit_of(number).name, seed_of(number));
      },
      [&](std::size_t number) {
        const cosim::UnitParameters& unit = unit_of(number).parameters;
        return options.diverse ? cosim::diverse_request(unit, seed_of(number))
                               : cosim::vector_request(unit, seed_of(number));
      },
      progress, "for " + config::joined(names));
}

// The requests that `santasim run` would simulate.
void capture(const VectorsOptions& options) {
  const RunOptions& run = *options.run;
  const config::HardwareConfig hardware = config::load_hardware(run.config, run.overrides);
  config::require_single_unit(hardware, "a recorded vector");
  const Input input = open_input(run.input);
  Progress progress;
  const Workload workload =
      prepare_workload(input, run, cache_format(hardware), false,
                       [&](double fraction) { progress.show("preparing", fraction); });
  const auto name = [&](std::size_t number) {
    const sim::Job& job = workload.jobs[number];
    return fmt::format("layer-{:03}-kv-head-{:03}", job.layer, job.kv_head);
  };
  const auto request = [&](std::size_t number) {
    const sim::Job& job = workload.jobs[number];
    vectors::Request result;
    result.workload = fmt::format("layer {}, KV head {}", job.layer, job.kv_head);
    result.cache = std::make_shared<const attention::KvHead>(*job.cache);
    result.context = job.cache->context;
    result.request = job.request;
    result.options = run.decode;
    return result;
  };
  write_set(options, workload.jobs.size(), name, request, progress,
            "of " + config::escaped(input.summary.source));
}

void check(const VectorsOptions& options) {
  const std::vector<std::string> files = vectors::vector_files(kFolder, options.folder);
  vectors::GoldenProducer golden;
  std::map<std::string, std::uint64_t> origins;
  std::uint64_t values = 0;
  std::vector<std::string> differences;
  Progress progress;
  for (const std::string& file : files) {
    const vectors::Vector vector = vectors::read_vector(file);
    ++origins[provenance_text(vector.provenance)];
    const auto difference =
        vectors::first_difference(vector.request, vector.results, golden.answer(vector.request));
    if (difference) {
      differences.push_back(fmt::format(
          "{} ({}): {}: recorded {}, golden model {}", config::escaped(file),
          vector.request.workload, difference->field, difference->recorded, difference->computed));
    } else {
      values += vectors::compared_values(vector.results, vector.request.group());
    }
    progress.show("checking", static_cast<double>(&file - files.data() + 1) /
                                  static_cast<double>(files.size()));
  }
  std::string text = fmt::format("{} vectors, {} values equal to the golden model's\n",
                                 grouped(files.size()), grouped(values));
  for (const auto& [origin, count] : origins) {
    text += wrapped(fmt::format("  {:>5} of {}", grouped(count), origin), 4);
  }
  for (const std::string& difference : differences) text += difference + "\n";
  text += differences.empty() ? "no difference\n"
                              : fmt::format("{} of them differ\n", grouped(differences.size()));
  write_standard_output(text);
  if (differences.empty()) return;
  throw energy::VerificationError(fmt::format("{}; {} of {} vectors differ", differences.front(),
                                              differences.size(), files.size()));
}

}  // namespace

void handle_vectors(const VectorsOptions& options) {
  switch (options.task) {
    case VectorsTask::kRecord:
      record(options);
      break;
    case VectorsTask::kCapture:
      capture(options);
      break;
    case VectorsTask::kCheck:
      check(options);
      break;
  }
}

}  // namespace santa::cli
