# Fuzzing of the configuration readers: a replay of the corpus that runs as a test with any compiler,
# and with SANTA_BUILD_FUZZERS the libFuzzer program fuzz_config, for example
#   build/tests/fuzz_config -max_total_time=60 corpus/ tests/fuzz/corpus/config configs/hardware

set(fuzz_dir ${CMAKE_CURRENT_LIST_DIR})
set(fuzz_config_sources ${fuzz_dir}/fuzz_config.cpp ${fuzz_dir}/config_check.cpp)

add_executable(fuzz_config_replay ${fuzz_dir}/replay_main.cpp ${fuzz_config_sources})
target_link_libraries(fuzz_config_replay PRIVATE santa_config santa_options)
target_compile_definitions(fuzz_config_replay PRIVATE SANTA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
set_target_properties(fuzz_config_replay
  PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME fuzz_config_replay
  COMMAND fuzz_config_replay ${fuzz_dir}/corpus/config ${CMAKE_SOURCE_DIR}/configs/hardware
          ${CMAKE_SOURCE_DIR}/configs/models)
set_tests_properties(fuzz_config_replay PROPERTIES TIMEOUT 300)

if(SANTA_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SANTA_BUILD_FUZZERS needs clang: libFuzzer is part of it")
  endif()
  # The library's sources once more, so that they are instrumented.
  get_target_property(config_sources santa_config SOURCES)
  get_target_property(config_dir santa_config SOURCE_DIR)
  list(TRANSFORM config_sources PREPEND ${config_dir}/)
  add_executable(fuzz_config ${fuzz_config_sources} ${config_sources})
  target_link_libraries(fuzz_config PRIVATE santa_arithmetic santa_options yaml-cpp fmt::fmt)
  target_compile_definitions(fuzz_config PRIVATE
    SANTA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SANTA_CONFIG_SOURCE_DIR="${CMAKE_SOURCE_DIR}/configs")
  target_compile_options(fuzz_config PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined
                                             -fno-sanitize-recover=all)
  target_link_options(fuzz_config PRIVATE -fsanitize=fuzzer,address,undefined)
  set_target_properties(fuzz_config PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
