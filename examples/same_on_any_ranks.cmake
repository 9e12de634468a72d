# Runs PROGRAM --quick alone and by MPIRUN on 1 to 4 ranks; fails unless all print the same, to the last character.
execute_process(COMMAND ${PROGRAM} --quick OUTPUT_VARIABLE alone COMMAND_ERROR_IS_FATAL ANY)
foreach(ranks RANGE 1 4)
  execute_process(COMMAND ${MPIRUN} -np ${ranks} ${PROGRAM} --quick OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed STREQUAL alone OR printed STREQUAL "")
    message(FATAL_ERROR "alone:\n${alone}\non ${ranks} ranks:\n${printed}")
  endif()
endforeach()
message("${alone}")
