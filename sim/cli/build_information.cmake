# Writes build_information.hpp at build time, when it changed:
#   cmake -DSANTA_VERSION=.. -DSOURCE=folder -DTEMPLATE=in -DOUTPUT=out -P build_information.cmake
find_program(GIT git)
set(SANTA_GIT_COMMIT "")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --match=NONE
                  OUTPUT_VARIABLE SANTA_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
