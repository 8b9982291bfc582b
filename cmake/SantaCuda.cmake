# CUDA is optional: missing or unusable, the reason is a status line and the rest is built.
# check_language compiles a small program, so an nvcc that rejects this C++ compiler counts as none.
# SANTA_HAVE_CUDA tells the other folders.
set(SANTA_HAVE_CUDA OFF)
if(NOT SANTA_CUDA)
  message(STATUS "CUDA: switched off (SANTA_CUDA), GPU parts are left out")
else()
  find_program(SANTA_NVCC nvcc PATHS /usr/local/cuda/bin)
  mark_as_advanced(SANTA_NVCC)
  if(SANTA_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${SANTA_NVCC}) # CMake itself looks in PATH only
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(SANTA_HAVE_CUDA ON)
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, GPU parts are built")
  elseif(SANTA_NVCC)
    message(STATUS "CUDA: ${SANTA_NVCC} cannot compile with ${CMAKE_CXX_COMPILER} "
                   "(reason in CMakeFiles/CMakeError.log), GPU parts are left out")
  else()
    message(STATUS "CUDA: nvcc not found, GPU parts are left out; everything else is built")
  endif()
endif()
