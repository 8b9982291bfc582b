# Language level, build type and warnings, the same for every target.

# Debian's libsystemc exports its API version symbol for C++17 only.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(SANTA_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(SANTA_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" ON)
option(SANTA_BUILD_TESTS "Build the tests" ON)
option(SANTA_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(SANTA_BUILD_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
option(SANTA_MPI "Spread sweeps over MPI ranks when Boost.MPI is there" ON)
option(SANTA_CUDA "Build the GPU parts when nvcc is there" ON)

# Interface target that every target of the project links.
#   -ffp-contract=off: no fused multiply-add that the source does not ask for, so that every compiler
#   and machine computes the same float64 numbers.
add_library(santa_options INTERFACE)
target_compile_options(santa_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wold-style-cast -Woverloaded-virtual -Wnon-virtual-dtor -Wdouble-promotion -ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(SANTA_WARNINGS_AS_ERRORS)
  target_compile_options(santa_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
endif()
if(SANTA_SANITIZE)
  target_compile_options(santa_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer>)
  target_link_options(santa_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(santa_options INTERFACE SANTA_SANITIZE)
endif()
if(SANTA_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SANTA_BUILD_FUZZERS needs clang: libFuzzer is part of it")
  endif()
  # Coverage counters in every library, so that libFuzzer sees into them.
  target_compile_options(santa_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
