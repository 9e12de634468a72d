# Installs the Ricci built in RICCI_BUILD_DIR into an empty prefix under WORK_DIR, builds the project beside this file
# against it with COMPILER, and runs its programs: if STATIC, the static one without the shared library.
set(prefix ${WORK_DIR}/prefix)
set(build ${WORK_DIR}/build)
file(REMOVE_RECURSE ${prefix} ${build})
set(flags)
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
set(cross)
if(TOOLCHAIN)
  set(cross -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -DCMAKE_FIND_ROOT_PATH=${prefix})
endif()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${RICCI_BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${build} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF ${cross})
run(${CMAKE_COMMAND} --build ${build})
run(${EMULATOR} ${build}/consumer)
if(STATIC)
  file(GLOB shared ${prefix}/${LIBDIR}/libricci.so*)
  file(REMOVE ${shared})
  run(${EMULATOR} ${build}/consumer_static)
endif()
