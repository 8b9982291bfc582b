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

# Interface target that every target of the project links.
add_library(santa_options INTERFACE)
target_compile_options(santa_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wold-style-cast -Woverloaded-virtual -Wnon-virtual-dtor -Wdouble-promotion>)
if(SANTA_WARNINGS_AS_ERRORS)
  target_compile_options(santa_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(SANTA_SANITIZE)
  target_compile_options(santa_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer>)
  target_link_options(santa_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(santa_options INTERFACE SANTA_SANITIZE)
endif()
