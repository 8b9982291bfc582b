# SystemVerilog in C++: the register map's files, Verilator's runtime, verilated modules.
#
#   santa_registers      package santa_registers_pkg.sv and header santa/rtl/registers.hpp
#   santa_verilated      Verilator's runtime with waveforms and coverage; failing assertions call
#                        the handler of santa/rtl/failures.hpp
#   santa_rtl_module()   any module as a static library
#   santa_rtl_model()    the unit of a hardware description as a static library

find_program(SANTA_VERILATOR verilator REQUIRED)
find_program(SANTA_PYTHON python3 HINTS /usr/bin REQUIRED) # the one that has python3-yaml
find_package(ZLIB REQUIRED) # waveforms in FST
set(SANTA_RTL_OPTIMIZE -O2 CACHE STRING "Of the compiler for verilated modules: -O1 compiles sooner")
mark_as_advanced(SANTA_VERILATOR SANTA_PYTHON)
execute_process(COMMAND ${SANTA_VERILATOR} --getenv VERILATOR_ROOT
                OUTPUT_VARIABLE SANTA_VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

# Where modules are looked for, by the name of their file.
set(SANTA_RTL_FOLDERS ${CMAKE_SOURCE_DIR}/rtl ${CMAKE_SOURCE_DIR}/rtl/dv)
set(SANTA_RTL_GENERATED ${CMAKE_BINARY_DIR}/rtl/generated)
set(SANTA_REGISTERS_PACKAGE ${SANTA_RTL_GENERATED}/santa_registers_pkg.sv)

set(generator ${CMAKE_SOURCE_DIR}/tools/generate_registers.py)
set(description ${CMAKE_SOURCE_DIR}/rtl/registers.yaml)
set(registers_header ${SANTA_RTL_GENERATED}/include/santa/rtl/registers.hpp)
file(MAKE_DIRECTORY ${SANTA_RTL_GENERATED}/include/santa/rtl)
add_custom_command(
  OUTPUT ${SANTA_REGISTERS_PACKAGE} ${registers_header}
  COMMAND ${SANTA_PYTHON} ${generator} ${description}
          --package ${SANTA_REGISTERS_PACKAGE} --header ${registers_header}
  DEPENDS ${generator} ${CMAKE_SOURCE_DIR}/tools/register_map.py ${description}
  COMMENT "Register map" VERBATIM)
add_custom_target(santa_registers_files DEPENDS ${SANTA_REGISTERS_PACKAGE} ${registers_header})
add_library(santa_registers INTERFACE)
target_include_directories(santa_registers INTERFACE ${SANTA_RTL_GENERATED}/include)
add_dependencies(santa_registers santa_registers_files)

set(runtime ${SANTA_VERILATOR_ROOT}/include)
santa_library(santa_rtl_failures SOURCES ${CMAKE_SOURCE_DIR}/rtl/runtime/failures.cpp)
target_include_directories(santa_rtl_failures PUBLIC ${CMAKE_SOURCE_DIR}/rtl/runtime/include)
target_include_directories(santa_rtl_failures SYSTEM PRIVATE ${runtime} ${runtime}/vltstd)
# The runtime is not ours: no warnings.
add_library(santa_verilated STATIC
  ${runtime}/verilated.cpp ${runtime}/verilated_threads.cpp ${runtime}/verilated_cov.cpp
  ${runtime}/verilated_fst_c.cpp)
target_compile_definitions(santa_verilated PRIVATE VL_USER_STOP VL_USER_FATAL)
target_compile_options(santa_verilated PRIVATE -O2 -w)
target_include_directories(santa_verilated SYSTEM PUBLIC ${runtime} ${runtime}/vltstd)
target_link_libraries(santa_verilated PUBLIC santa_rtl_failures ZLIB::ZLIB Threads::Threads)
unset(generator)
unset(description)
unset(registers_header)
unset(runtime)

# santa_rtl_module(NAME TOP module [SOURCES a.sv ...] [PARAMETERS Width=8 ...] [COVERAGE]
#                  [PARTS n] [ARGUMENTS ...])
#
# Static library NAME with class V<NAME> (header V<NAME>.h) for the module TOP, which is looked for
# in SANTA_RTL_FOLDERS unless one of SOURCES holds it. Assertions are on; waveforms (FST) are built
# in and cost nothing until a trace is opened; COVERAGE adds the counters of --coverage. Unknown
# values are drawn at run time: +verilator+rand+reset+2 and +verilator+seed+N choose. PARTS is the
# number of files that are compiled in parallel (2); ARGUMENTS go to Verilator.
# -fno-reloop: Verilator 5.006 splits a function between a rolled loop and its variable.
function(santa_rtl_module name)
  cmake_parse_arguments(ARG "COVERAGE" "TOP;PARTS" "SOURCES;PARAMETERS;ARGUMENTS" ${ARGN})
  if(NOT ARG_TOP OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "santa_rtl_module(${name}): TOP is needed; unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_PARTS)
    set(ARG_PARTS 2)
  endif()
  set(folder ${CMAKE_BINARY_DIR}/rtl/${name})
  file(MAKE_DIRECTORY ${folder})
  set(prefix V${name})
  set(arguments --cc --assert -Wall --trace-fst --x-assign unique --x-initial unique
                --output-split 20000 -fno-reloop --top-module ${ARG_TOP} ${ARG_ARGUMENTS})
  if(ARG_COVERAGE)
    list(APPEND arguments --coverage)
  endif()
  foreach(parameter ${ARG_PARAMETERS})
    list(APPEND arguments -G${parameter})
  endforeach()
  set(sources ${SANTA_REGISTERS_PACKAGE})
  set(known) # every source that may be used
  foreach(place ${SANTA_RTL_FOLDERS})
    if(IS_DIRECTORY ${place})
      list(APPEND arguments -y ${place})
      file(GLOB found CONFIGURE_DEPENDS ${place}/*.sv ${place}/*.svh)
      list(APPEND known ${found})
      file(GLOB packages CONFIGURE_DEPENDS ${place}/*_pkg.sv)
      list(APPEND sources ${packages})
    endif()
  endforeach()
  foreach(source ${ARG_SOURCES})
    cmake_path(ABSOLUTE_PATH source)
    list(APPEND sources ${source})
  endforeach()
  foreach(source ${known})
    cmake_path(GET source STEM stem)
    if(stem STREQUAL ARG_TOP)
      list(APPEND sources ${source})
    endif()
  endforeach()

  set(outputs ${folder}/${prefix}.h ${folder}/${prefix}___024root.h)
  math(EXPR last "${ARG_PARTS} - 1")
  foreach(part RANGE ${last})
    list(APPEND outputs ${folder}/${prefix}_fast${part}.cpp ${folder}/${prefix}_slow${part}.cpp)
    # Construction, first settling, tables of waveforms: compiling them fast pays.
    set_source_files_properties(${folder}/${prefix}_slow${part}.cpp
                                PROPERTIES COMPILE_OPTIONS -O0)
  endforeach()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${SANTA_PYTHON} ${CMAKE_SOURCE_DIR}/tools/verilate.py --verilator ${SANTA_VERILATOR}
            --prefix ${prefix} --directory ${folder} --parts ${ARG_PARTS} -- ${arguments} ${sources}
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/verilate.py ${sources} ${known}
    COMMENT "Verilating ${ARG_TOP} as ${prefix}" VERBATIM)
  add_library(${name} STATIC ${outputs})
  target_compile_options(${name} PRIVATE ${SANTA_RTL_OPTIMIZE} -w)
  if(ARG_COVERAGE)
    target_compile_definitions(${name} PUBLIC SANTA_RTL_COVERAGE)
  endif()
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  target_link_libraries(${name} PUBLIC santa_verilated)
endfunction()

# santa_rtl_model(NAME CONFIG [SET key=value ...] [COVERAGE] [REPLACED folder] [PARTS n])
#
# Static library NAME with class V<NAME> for attention_unit_monitored (docs/rtl.md) with the
# parameters of a hardware description, preset or file. SET changes keys, as --set does.
# REPLACED takes attention_unit.sv and attention_unit_monitored.sv from a folder (a netlist: no lint).
function(santa_rtl_model name config)
  cmake_parse_arguments(ARG "COVERAGE" "PARTS;REPLACED" "SET" ${ARGN})
  set(wrapper ${SANTA_RTL_GENERATED}/${name}.sv)
  set(file ${CMAKE_SOURCE_DIR}/configs/hardware/${config}.yaml)
  if(NOT EXISTS ${file})
    cmake_path(ABSOLUTE_PATH config OUTPUT_VARIABLE file)
  endif()
  set(changes)
  foreach(change ${ARG_SET})
    list(APPEND changes --set ${change})
  endforeach()
  add_custom_command(
    OUTPUT ${wrapper}
    COMMAND santa_rtl_config ${file} --wrapper ${wrapper} --top ${name} ${changes}
    DEPENDS santa_rtl_config ${file}
    COMMENT "Parameters of ${name}" VERBATIM)
  set(options)
  if(ARG_COVERAGE)
    list(APPEND options COVERAGE)
  endif()
  if(ARG_PARTS)
    list(APPEND options PARTS ${ARG_PARTS})
  endif()
  if(ARG_REPLACED)
    list(APPEND options ARGUMENTS -Wno-lint -Wno-style -Wno-UNOPTFLAT -Wno-LATCH -Wno-MULTIDRIVEN --trace-depth 1
                                  --inline-mult 100)
    list(APPEND wrapper ${ARG_REPLACED}/attention_unit.sv ${ARG_REPLACED}/attention_unit_monitored.sv)
  endif()
  santa_rtl_module(${name} TOP ${name} SOURCES ${wrapper} ${options})
endfunction()
