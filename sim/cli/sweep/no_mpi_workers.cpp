// In place of mpi_workers.cpp where MPI is not there.
#include "santa/error.hpp"
#include "sweep/workers.hpp"

namespace santa::cli {

void with_mpi_workers(std::uint32_t /*jobs*/, const std::function<void(Workers&)>& /*lead*/) {
  throw input_error("mpirun", "", "this program was built without MPI",
                    "one process with --jobs, or a build with Boost.MPI and Open MPI");
}

}  // namespace santa::cli
