// Where points are simulated: processes of this machine, or those of all ranks of an MPI job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "process_pool.hpp"
#include "sweep/point.hpp"

namespace santa::cli {

class Workers {
 public:
  Workers() = default;
  virtual ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  virtual bool has_room() const = 0;
  virtual std::size_t running() const = 0;
  // simulated_point() in a process of its own; only where there is room.
  virtual void start(std::size_t id, const PointOrder& point) = 0;
  // One that has finished, if there is one. Does not wait.
  virtual std::optional<WorkOutcome> poll() = 0;
};

class LocalWorkers : public Workers {
 public:
  explicit LocalWorkers(std::size_t jobs) : pool_(jobs) {}
  bool has_room() const override { return pool_.has_room(); }
  std::size_t running() const override { return pool_.running(); }
  void start(std::size_t id, const PointOrder& point) override;
  std::optional<WorkOutcome> poll() override { return pool_.poll(); }

 private:
  ProcessPool pool_;
};

// Calls `lead` with workers, `jobs` of them a process; 0 stands for the cores of this machine, or
// for 1 under mpirun. In an MPI job rank 0 leads and the others work until it has returned. Throws
// what `lead` throws, and InputError in an MPI job if the program was built without MPI.
void with_workers(std::uint32_t jobs, const std::function<void(Workers&)>& lead);

// True if mpirun, or what stands for it, started this process.
bool is_mpi_rank();
// with_workers() of such a process; in mpi_workers.cpp where MPI is built in.
void with_mpi_workers(std::uint32_t jobs, const std::function<void(Workers&)>& lead);

}  // namespace santa::cli
