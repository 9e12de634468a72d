# Compiles SOURCE with COMPILER and NO_SOURCE_LINES against INCLUDE_DIR; fails unless the compiler refuses it and
# says what the first line of SOURCE expects.
file(READ ${SOURCE} text)
if(NOT text MATCHES "^// expect: (ricci: [^\n]+)")
  message(FATAL_ERROR "${SOURCE}: the first line must read `// expect: ricci: sentence`")
endif()
set(expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C.UTF-8)
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${NO_SOURCE_LINES} -I${INCLUDE_DIR} ${SOURCE}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiled; expected the error\n  ${expected}")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(NOTICE "${output}")
  message(FATAL_ERROR "${SOURCE}: the compiler did not say\n  ${expected}")
endif()
