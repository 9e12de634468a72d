# Compiles SOURCE with COMPILER and NO_SOURCE_LINES against INCLUDE_DIR; a program that includes all of Ricci with the
# options HEADERS_IN_ADVANCE too. Fails unless the compiler refuses it and says what the first line of SOURCE expects:
# `// expect: ricci: sentence`, a word of the compilers' own where no sentence of ours can be asked for, and
# `// expect in C++23: …` where C++20 would say something else.
file(READ ${SOURCE} text)
if(NOT text MATCHES "^// expect( in C\\+\\+([0-9]+))?: ([^\n]+)")
  message(FATAL_ERROR "${SOURCE}: the first line must read `// expect: ricci: sentence`")
endif()
set(standard 20)
if(CMAKE_MATCH_2)
  set(standard ${CMAKE_MATCH_2})
endif()
set(expected "${CMAKE_MATCH_3}")

set(ENV{LC_ALL} C.UTF-8)
set(in_advance)
if(text MATCHES "#include <ricci/ricci.h>")
  set(in_advance ${HEADERS_IN_ADVANCE})
endif()
execute_process(COMMAND ${COMPILER} -std=c++${standard} -fsyntax-only ${NO_SOURCE_LINES} ${in_advance} -I${INCLUDE_DIR}
                        ${SOURCE}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiled; expected the error\n  ${expected}")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(NOTICE "${output}")
  message(FATAL_ERROR "${SOURCE}: the compiler did not say\n  ${expected}")
endif()
