# Installs the Ricci built in RICCI_BUILD_DIR into PREFIX, which is emptied first.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${RICCI_BUILD_DIR} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
