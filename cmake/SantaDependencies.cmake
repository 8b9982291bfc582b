# Everything comes from Debian packages; tools/setup.sh installs them.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED)
if(SANTA_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# Debian ships SystemC with a pkg-config file only. Its headers lie in /usr/include, a system folder,
# so their warnings are not ours.
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(santa_systemc INTERFACE)
target_link_libraries(santa_systemc INTERFACE PkgConfig::SYSTEMC)

# MPI is optional: without it `santasim sweep` has the cores of one machine. SANTA_HAVE_MPI tells the
# other folders, and the target santa_mpi is there.
set(SANTA_HAVE_MPI OFF)
if(NOT SANTA_MPI)
  message(STATUS "MPI: switched off (SANTA_MPI), sweeps run on one machine")
else()
  find_package(MPI COMPONENTS CXX)
  find_package(Boost 1.74 COMPONENTS mpi serialization)
  if(MPI_CXX_FOUND AND Boost_MPI_FOUND AND Boost_SERIALIZATION_FOUND)
    set(SANTA_HAVE_MPI ON)
    add_library(santa_mpi INTERFACE)
    target_link_libraries(santa_mpi INTERFACE Boost::mpi Boost::serialization MPI::MPI_CXX)
    # Only the C interface of MPI: its headers for C++ are long withdrawn.
    target_compile_definitions(santa_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    message(STATUS "MPI: MPI ${MPI_CXX_VERSION} with Boost.MPI, sweeps run under mpirun")
  else()
    message(STATUS "MPI: no MPI or no Boost.MPI, sweeps run on one machine")
  endif()
endif()

include(SantaCuda)
