# Builds first_program.cpp with COMPILER and what pkg-config says of the Ricci in PREFIX, which was moved after it was
# installed, and runs it in BUILD.
find_program(pkg_config NAMES pkg-config pkgconf NO_CACHE)
if(NOT pkg_config)
  message("pkg-config is not installed on this machine")
  return()
endif()
file(REMOVE_RECURSE ${BUILD})
file(COPY ${PREFIX}/ DESTINATION ${BUILD}/moved)
file(GLOB_RECURSE file ${BUILD}/moved/ricci.pc)
cmake_path(GET file PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})

function(flags out)
  execute_process(COMMAND ${pkg_config} ${ARGN} ricci OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(text)
  set(${out} ${text} PARENT_SCOPE)
endfunction()
flags(compiles --cflags)
flags(links --libs)
flags(libdir --variable=libdir)
execute_process(COMMAND ${COMPILER} ${compiles} ${CMAKE_CURRENT_LIST_DIR}/first_program.cpp -o ${BUILD}/program ${links}
                        -Wl,-rpath,${libdir} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BUILD}/program COMMAND_ERROR_IS_FATAL ANY)
