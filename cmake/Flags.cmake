# How this project's code is compiled. Two targets carry the flags, neither is exported: ricci_warnings for everything
# here, ricci_vector_code for the library and for those tests and benchmarks that look inside it.

set(default_march native)
if(CMAKE_CROSSCOMPILING)
  set(default_march "")
endif()
set(RICCI_MARCH ${default_march} CACHE STRING
    "The library's -march: native, x86-64-v3, x86-64-v4; empty: the compiler's default, for any such processor")
set(RICCI_SANITIZE "" CACHE STRING "The -fsanitize of everything built here, e.g. address,undefined or thread")
set(RICCI_SANITIZE_ONLY "" CACHE STRING "Folders of src/ that RICCI_SANITIZE is for; empty: everything built here")

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release is -O3" FORCE)
  endif()
  find_program(RICCI_CCACHE ccache NO_CACHE)
  if(CMAKE_HOST_UNIX AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/tools/compile.sh)
    if(RICCI_CCACHE)
      list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${RICCI_CCACHE})
    endif()
  endif()
endif()

add_library(ricci_sanitizer INTERFACE)
if(RICCI_SANITIZE)
  set(sanitizer_options -fsanitize=${RICCI_SANITIZE} -fno-omit-frame-pointer -DRICCI_SANITIZE=1)
  add_link_options(-fsanitize=${RICCI_SANITIZE})
  if(RICCI_SANITIZE_ONLY)
    target_compile_options(ricci_sanitizer INTERFACE ${sanitizer_options} -O1 -g -UNDEBUG)
  else()
    add_compile_options(${sanitizer_options})
  endif()
endif()

add_library(ricci_warnings INTERFACE)
# clang's -Wdouble-promotion warns where T(x) makes a class that holds a wider number.
target_compile_options(ricci_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                                                $<$<CXX_COMPILER_ID:GNU>:-Wdouble-promotion;-Wno-restrict>)

# Values follow IEEE 754 but for fused multiply-add, errno and the exception flags; NaN, infinities and the order of
# operations stay what the source says, so never -ffast-math.
add_library(ricci_vector_code INTERFACE)
target_compile_options(ricci_vector_code INTERFACE -fno-math-errno -fno-trapping-math -ffp-contract=off)
if(RICCI_MARCH)
  target_compile_options(ricci_vector_code INTERFACE -march=${RICCI_MARCH})
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(ricci_vector_code INTERFACE -mprefer-vector-width=512)
endif()
