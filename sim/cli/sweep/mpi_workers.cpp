// Rank 0 leads and simulates, too; the others take orders, one for each free job, and send back
// what came of them. Nobody but rank 0 touches the folder of the sweep.
#include <fmt/format.h>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/request.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <deque>
#include <utility>

#include "options.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "sweep/workers.hpp"

namespace santa::cli {
namespace {

namespace mpi = boost::mpi;

constexpr int kLeader = 0;
constexpr int kHelloTag = 1;
constexpr int kOrderTag = 2;
constexpr int kOutcomeTag = 3;
constexpr int kGoneTag = 4;

// The first word of a rank to the leader.
struct Hello {
  std::uint64_t slots = 0;
  std::string program;
  template <typename Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& slots& program;
  }
};

struct Order {
  bool stop = false;
  std::uint64_t id = 0;
  PointOrder point;
  template <typename Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& stop& id& point.words& point.key& point.files;
  }
};

struct Report {
  std::uint64_t id = 0;
  int exit_code = 0;
  std::string text;
  template <typename Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& id& exit_code& text;
  }
};

class MpiWorkers : public Workers {
 public:
  MpiWorkers(const mpi::communicator& world, std::size_t jobs) : world_(world), local_(jobs) {
    free_.resize(static_cast<std::size_t>(world_.size()));
    for (int rank = 1; rank < world_.size(); ++rank) {
      Hello hello;
      world_.recv(rank, kHelloTag, hello);
      free_[static_cast<std::size_t>(rank)] = hello.slots;
      if (hello.program != program_version()) strangers_.emplace_back(rank, hello.program);
    }
  }

  // Throws InputError if a rank is another program: results of two do not mix.
  void require_one_program() const {
    if (strangers_.empty()) return;
    const auto& [rank, program] = strangers_.front();
    throw input_error("mpirun", "",
                      fmt::format("rank {} is {}, rank 0 is {}", rank, config::escaped(program),
                                  program_version()),
                      "the same program on every machine");
  }

  bool has_room() const override { return local_.has_room() || free_rank() != kLeader; }
  std::size_t running() const override { return local_.running() + remote_; }

  void start(std::size_t id, const PointOrder& point) override {
    const int rank = free_rank();
    if (rank == kLeader) {
      local_.start(id, point);
      return;
    }
    world_.send(rank, kOrderTag, Order{false, id, point});
    --free_[static_cast<std::size_t>(rank)];
    ++remote_;
  }

  std::optional<WorkOutcome> poll() override {
    if (const auto message = world_.iprobe(mpi::any_source, kOutcomeTag)) {
      Report report;
      world_.recv(message->source(), kOutcomeTag, report);
      ++free_[static_cast<std::size_t>(message->source())];
      --remote_;
      return WorkOutcome{report.id, report.exit_code, report.text};
    }
    return local_.poll();
  }

  // The others drop what they still do, and are gone when this returns.
  void stop() {
    for (int rank = 1; rank < world_.size(); ++rank) {
      world_.send(rank, kOrderTag, Order{true, 0, {}});
    }
    for (int gone = 1; gone < world_.size();) {
      if (const auto message = world_.iprobe(mpi::any_source, kOutcomeTag)) {
        Report dropped;
        world_.recv(message->source(), kOutcomeTag, dropped);
      } else if (world_.iprobe(mpi::any_source, kGoneTag)) {
        world_.recv(mpi::any_source, kGoneTag);
        ++gone;
      } else {
        nap();
      }
    }
  }

 private:
  // Of the ranks with room, one with most of it, so that points spread; kLeader if none has.
  int free_rank() const {
    int best = kLeader;
    for (int rank = 1; rank < world_.size(); ++rank) {
      const std::uint64_t most = best == kLeader ? 0 : free_[static_cast<std::size_t>(best)];
      if (free_[static_cast<std::size_t>(rank)] > most) best = rank;
    }
    return best;
  }

  const mpi::communicator& world_;
  LocalWorkers local_;
  std::vector<std::uint64_t> free_;                     // jobs without work, by rank
  std::vector<std::pair<int, std::string>> strangers_;  // ranks of other versions
  std::size_t remote_ = 0;
};

// Works for the leader until it says stop.
void serve(const mpi::communicator& world, std::size_t jobs) {
  LocalWorkers workers(jobs);
  world.send(kLeader, kHelloTag, Hello{jobs, program_version()});
  std::deque<Report> reports;  // a deque: what is being sent stays where it is
  std::optional<mpi::request> sending;
  for (;;) {
    bool idle = true;
    if (world.iprobe(kLeader, kOrderTag)) {
      Order order;
      world.recv(kLeader, kOrderTag, order);
      if (order.stop) break;
      try {
        workers.start(order.id, order.point);
      } catch (const InputError& error) {
        reports.push_back({order.id, kExitBadInput, error.what()});
      }
      idle = false;
    }
    if (auto outcome = workers.poll()) {
      reports.push_back({outcome->id, outcome->exit_code, std::move(outcome->text)});
      idle = false;
    }
    if (sending && sending->test()) {
      sending.reset();
      reports.pop_front();
    }
    if (!sending && !reports.empty()) {
      // Not send(): the leader may be waiting to give an order at the same time.
      sending = world.isend(kLeader, kOutcomeTag, reports.front());
      idle = false;
    }
    if (idle) nap();
  }
  if (sending) sending->wait();
  world.send(kLeader, kGoneTag);
}

}  // namespace

void with_mpi_workers(std::uint32_t jobs, const std::function<void(Workers&)>& lead) {
  const mpi::environment environment(false);
  const mpi::communicator world;
  const std::size_t slots = jobs != 0 ? jobs : 1;
  if (world.rank() != kLeader) {
    serve(world, slots);
    return;
  }
  MpiWorkers workers(world, slots);
  try {
    workers.require_one_program();
    lead(workers);
  } catch (...) {
    workers.stop();
    throw;
  }
  workers.stop();
}

}  // namespace santa::cli
