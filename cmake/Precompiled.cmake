# Headers that most files of a program or folder begin with are read once for all of them.

set(CMAKE_PCH_PROLOGUE "")  # CMake's would make system headers of ours, about which compilers say nothing
set(nothing ${PROJECT_BINARY_DIR}/nothing.cpp)
file(CONFIGURE OUTPUT ${nothing} CONTENT "// The source of a target that only reads headers.\n")

# ccache preprocesses: without -fpch-preprocess the compiler would read the headers there. A precompiled header loses the
# pragmas by which libstdc++ switches three warnings off for its strings; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON has them.
set(precompiled_options)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(precompiled_options -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # which else asks for the times of headers, not for their texts
  set(precompiled_options "SHELL:-Xclang -fno-pch-timestamp")
endif()

# An object library TARGET that only reads headers, `<so>`, for others that are compiled with the same options.
function(ricci_precompile target)
  add_library(${target} OBJECT ${nothing})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE ${precompiled_options})
endfunction()

# TARGET begins each of its files with the headers of HEADERS.
function(ricci_use_precompiled target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE ${precompiled_options})
endfunction()
