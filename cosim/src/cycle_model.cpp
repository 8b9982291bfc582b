#include "santa/cosim/cycle_model.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "santa/sim/simulation.hpp"

namespace santa::cosim {
namespace {

constexpr std::uint64_t kMagic = 0x53414E5441434D31;  // a complete answer starts with it

// Bytes of plain numbers, one after another.
class Message {
 public:
  template <typename T>
  void put(const T& value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    bytes_.append(bytes, sizeof value);
  }
  template <typename T>
  T take() {
    T value;
    if (bytes_.size() - at_ < sizeof value) throw std::runtime_error("cycle model: short answer");
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// Top-k and dense values are those of the baselines, which score exactly.
sim::UnitKind kind_of(attention::ValueScheme values) {
  if (values == attention::ValueScheme::kTopK) return sim::UnitKind::kTopK;
  if (values == attention::ValueScheme::kDense) return sim::UnitKind::kDenseInt8;
  return sim::UnitKind::kSampled;
}

Message simulate(const config::HardwareConfig& hardware, const energy::EnergyPack& pack,
                 const CosimRequest& request) {
  sim::Job job;
  job.cache = request.cache.get();
  job.request = request.request;
  job.exact_query = request.request.query;  // of the baselines
  sim::SimulationRequest simulation;
  simulation.hardware = &hardware;
  simulation.energy_pack = &pack;
  simulation.jobs = {job};
  simulation.units = {{kind_of(request.options.values), request.options}};
  const sim::UnitReport report = sim::simulate(simulation).front();
  Message message;
  message.put(kMagic);
  message.put(report.latency_cycles);
  message.put(std::uint64_t{report.outputs[0].size()});
  for (const std::int16_t output : report.outputs[0]) message.put(output);
  message.put(std::uint64_t{report.rows[0].size()});
  for (const attention::SampledRow& row : report.rows[0]) message.put(row);
  return message;
}

void write_all(int descriptor, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int descriptor) {
  constexpr std::size_t kChunk = 65536;
  std::string bytes;
  std::vector<char> chunk(kChunk);
  for (;;) {
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

[[noreturn]] void run_child(int descriptor, const config::HardwareConfig& hardware,
                            const energy::EnergyPack& pack, const CosimRequest& request) {
  int code = 0;
  try {
    write_all(descriptor, simulate(hardware, pack, request).bytes());
  } catch (const std::exception& error) {
    write_all(descriptor, error.what());
    code = 1;
  }
  ::_exit(code);
}

}  // namespace

CycleModelResult run_cycle_model(const config::HardwareConfig& hardware,
                                 const energy::EnergyPack& pack, const CosimRequest& request) {
  if (request.context != request.cache->context) {
    throw std::logic_error("the cycle model attends to the whole cache");
  }
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cycle model: no pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cycle model: no child process");
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], hardware, pack, request);
  }
  ::close(ends[1]);
  Message message;
  message.bytes() = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(
        "cycle model: " + (message.bytes().empty() ? "its process ended early" : message.bytes()));
  }
  if (message.take<std::uint64_t>() != kMagic) throw std::runtime_error("cycle model: no answer");
  CycleModelResult result;
  result.latency_cycles = message.take<std::uint64_t>();
  result.output.resize(message.take<std::uint64_t>());
  for (std::int16_t& output : result.output) output = message.take<std::int16_t>();
  result.rows.resize(message.take<std::uint64_t>());
  for (attention::SampledRow& row : result.rows) row = message.take<attention::SampledRow>();
  return result;
}

}  // namespace santa::cosim
