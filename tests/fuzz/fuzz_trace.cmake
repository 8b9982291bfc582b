# Fuzzing of the trace readers: a replay of the corpus that runs as a test with any compiler, and with
# SANTA_BUILD_FUZZERS the libFuzzer program fuzz_trace, for example
#   build/tests/fuzz_trace -max_total_time=60 corpus/ tests/fuzz/corpus/trace

set(fuzz_dir ${CMAKE_CURRENT_LIST_DIR})
set(fuzz_trace_sources ${fuzz_dir}/fuzz_trace.cpp ${fuzz_dir}/trace_check.cpp)

add_executable(fuzz_trace_replay ${fuzz_dir}/replay_main.cpp ${fuzz_trace_sources})
target_link_libraries(fuzz_trace_replay PRIVATE santa_tensor santa_options)
set_target_properties(fuzz_trace_replay
  PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME fuzz_trace_replay COMMAND fuzz_trace_replay ${fuzz_dir}/corpus/trace)
set_tests_properties(fuzz_trace_replay PROPERTIES TIMEOUT 300)

if(SANTA_BUILD_FUZZERS)
  # The library's sources once more, so that they are instrumented.
  get_target_property(tensor_sources santa_tensor SOURCES)
  get_target_property(tensor_dir santa_tensor SOURCE_DIR)
  list(TRANSFORM tensor_sources PREPEND ${tensor_dir}/)
  add_executable(fuzz_trace ${fuzz_trace_sources} ${tensor_sources})
  target_link_libraries(fuzz_trace PRIVATE santa_arithmetic santa_options fmt::fmt
                                           nlohmann_json::nlohmann_json)
  target_compile_options(fuzz_trace PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined
                                            -fno-sanitize-recover=all)
  target_link_options(fuzz_trace PRIVATE -fsanitize=fuzzer,address,undefined)
  set_target_properties(fuzz_trace PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
