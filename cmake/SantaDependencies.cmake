# Everything comes from Debian packages; tools/setup.sh installs them.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED)

# Debian ships SystemC with a pkg-config file only. System headers: their warnings are not ours.
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(santa_systemc INTERFACE)
target_include_directories(santa_systemc SYSTEM INTERFACE /usr/include)
target_link_libraries(santa_systemc INTERFACE PkgConfig::SYSTEMC)

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, GPU parts are built")
else()
  message(STATUS "CUDA: nvcc not found, GPU parts are left out; everything else is built")
endif()
