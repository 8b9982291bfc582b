#include "sweep/workers.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "sweep/point.hpp"

namespace santa::cli {

void LocalWorkers::start(std::size_t id, const PointOrder& point) {
  pool_.start(id, [&point] { return simulated_point(point); });
}

bool is_mpi_rank() {
  // Of Open MPI, of MPICH and its relatives, of PMIx launchers such as Slurm's.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

void with_workers(std::uint32_t jobs, const std::function<void(Workers&)>& lead) {
  if (is_mpi_rank()) {
    with_mpi_workers(jobs, lead);
    return;
  }
  LocalWorkers workers(jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency()));
  lead(workers);
}

}  // namespace santa::cli
