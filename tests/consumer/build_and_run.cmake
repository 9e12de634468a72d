# Builds the project beside this file in BUILD against the Ricci in PREFIX, with COMPILER in C++ STANDARD at the level
# OPTIMISATION, and runs its programs; if EXAMPLES is given, the compiler reads the examples there. Where there is no
# such compiler, it says so and does nothing.
find_program(compiler NAMES ${COMPILER} NO_CACHE)
if(NOT compiler)
  message("${COMPILER} is not installed on this machine")
  return()
endif()
file(REMOVE_RECURSE ${BUILD})
set(flags ${OPTIMISATION})
if(SANITIZE)
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()

set(cross)
if(TOOLCHAIN)
  set(cross -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -DCMAKE_FIND_ROOT_PATH=${PREFIX})
endif()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${BUILD} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${compiler}
    -DCMAKE_CXX_STANDARD=${STANDARD} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DEXAMPLES=${EXAMPLES} -DDATA=${DATA} ${cross})
run(${CMAKE_COMMAND} --build ${BUILD})
run(${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} --output-on-failure)
