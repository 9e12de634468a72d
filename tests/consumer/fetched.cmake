# Configures fetched/ in BUILD against the sources in SOURCE, and compiles its program.
file(REMOVE_RECURSE ${BUILD})
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} -E env --unset=CMAKE_BUILD_TYPE --unset=CMAKE_EXPORT_COMPILE_COMMANDS
    ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/fetched -B ${BUILD} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DRICCI_SOURCE_DIR=${SOURCE})
run(${CMAKE_COMMAND} --build ${BUILD} --target program)
