# libricci: one OBJECT library per folder of src/, all of them in one shared library and, with RICCI_STATIC, in an
# archive.

add_library(ricci_sources INTERFACE)  # what compiling any folder takes
target_include_directories(ricci_sources SYSTEM INTERFACE ${RICCI_BACKTRACE_INCLUDE_DIR} ${RICCI_DNNL_INCLUDE_DIR}
                                                          ${ZLIB_INCLUDE_DIRS}
                                                          $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
target_include_directories(ricci_sources INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# g++ warns of a class with members of an unnamed namespace wherever it stands in no main file, as in files that are joined.
# No debug information: to find the user's line, the first error of a process reads that of all modules on the way, and
# the library's would take 0.13 s and 65 MB. The preset dev has it.
target_compile_options(ricci_sources INTERFACE -fvisibility=default -ftls-model=initial-exec -fno-semantic-interposition
                                               $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
target_link_libraries(ricci_sources INTERFACE ricci_warnings ricci_vector_code)

add_library(ricci SHARED)
add_library(Ricci::ricci ALIAS ricci)

# What most files of a folder begin with. What a file uses it still includes: ./dev check reads the text alone.
set(standard_headers <algorithm> <array> <cmath> <cstring> <functional> <limits> <map> <memory> <optional> <set> <span>
                     <string> <unordered_map> <utility> <vector>)
ricci_precompile(ricci_kernels_headers ${standard_headers} <complex> <ricci/primitive/parallel.h>
                 <ricci/primitive/scratch.h> <ricci/primitive/wide.h>)
ricci_precompile(ricci_ops_headers ${standard_headers} <complex> <numbers> <ricci/primitive/elementwise.h>
                 <ricci/primitive/reduction.h>)
ricci_precompile(ricci_headers ${standard_headers} <ricci/primitive.h>)
foreach(headers ricci_kernels_headers ricci_ops_headers ricci_headers)
  target_link_libraries(${headers} PRIVATE ricci_sources)
  set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
# Where nothing is computed, a vector register is only a slow way to copy two words that were just stored.
target_compile_options(ricci_headers PRIVATE -fno-tree-slp-vectorize)

# A file that only says what operations do, by calling others and kernels, is compiled with -O1: that takes two thirds
# of the time that -O3 takes, and calls are as fast. Files that know element types hold loops over elements; views do
# nothing but be called. The first call of a compiled function takes its time in the generator of machine code. CMake
# reads the files when it configures, as ./dev lets it do each time.
set(rules "^(ops|control|custom|program|random|distributions|optim|ode|linear|sample|io|compile)$")
set(element_types "kind = Elementwise|reduction::|template <class T> (auto|T) |(Lanes|Wide)<|<float>|scalar::|visit_")
set(calls "/ops/views.cpp|/program/element_sources.cpp|/compile/(function|native_function|lane_kernel|program_plan).cpp")
# The way of an eager operation: joined, g++ inlines less of it, and a gradient takes 1.1 of the time.
set(hot tensor/pool tensor/value primitive/dispatch interpreters/dual interpreters/eager interpreters/tape
        interpreters/tape_nodes)
list(TRANSFORM hot REPLACE ".+" "${PROJECT_SOURCE_DIR}/src/\\0.cpp")
set_source_files_properties(${hot} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/compile/build_info.cpp PROPERTIES COMPILE_DEFINITIONS
                            "RICCI_VERSION=\"${PROJECT_VERSION}\"")
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/layers.txt layers REGEX "^[a-z]")
foreach(layer IN LISTS layers)
  string(REGEX MATCH "^[a-z_]+" folder "${layer}")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  if(NOT sources OR folder MATCHES "^(code|mpi)$")
    continue()
  endif()
  set(rule_files)  # of this folder, compiled with -O1
  if(folder MATCHES "${rules}")
    foreach(source IN LISTS sources)
      file(STRINGS ${source} loops LIMIT_COUNT 1 REGEX "${element_types}")
      if(NOT source MATCHES "${calls}" AND (NOT loops OR folder STREQUAL "compile"))
        list(APPEND rule_files ${source})
      endif()
    endforeach()
    list(REMOVE_ITEM sources ${rule_files} "")  # an item, as REMOVE_ITEM wants one
  endif()
  if(NOT folder MATCHES "^(kernels|solve)$")  # kernels share little, solvers have names in common
    ricci_join_sources(${folder} "${sources}" sources)
    ricci_join_sources(${folder}_rules "${rule_files}" rule_files)
  endif()
  if(NOT CMAKE_CXX_FLAGS_RELEASE MATCHES "-Os")  # headers read in advance for size serve no other level
    set_source_files_properties(${rule_files} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  endif()
  add_library(ricci_${folder} OBJECT ${sources} ${rule_files})
  target_compile_features(ricci_${folder} PRIVATE cxx_std_20)
  target_link_libraries(ricci_${folder} PRIVATE ricci_sources)
  set_target_properties(ricci_${folder} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(APPEND objects $<TARGET_OBJECTS:ricci_${folder}>)
  if(folder STREQUAL "kernels")
    set(headers ricci_kernels_headers)
  elseif(folder MATCHES "^(ops|random)$")
    set(headers ricci_ops_headers)
  else()
    set(headers ricci_headers)
    target_compile_options(ricci_${folder} PRIVATE -fno-tree-slp-vectorize)
  endif()
  if(folder IN_LIST RICCI_SANITIZE_ONLY)
    target_link_libraries(ricci_${folder} PRIVATE ricci_sanitizer)
  else()
    ricci_use_precompiled(ricci_${folder} ${headers})
  endif()
endforeach()
if(TARGET ricci_kernels)
  target_include_directories(ricci_kernels SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/third_party)
  target_compile_definitions(ricci_kernels PRIVATE RICCI_OPENBLAS_LIBRARY="${RICCI_OPENBLAS_LIBRARY_TO_LOAD}")
endif()

# The generator of machine code is a module that the library loads when it first compiles something.
if(RICCI_COMPILE)
  file(GLOB code_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/code/*.cpp)
  list(TRANSFORM RICCI_LLVM_TARGETS PREPEND RICCI_LLVM_ OUTPUT_VARIABLE targets)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/code/compiler.cpp PROPERTIES COMPILE_DEFINITIONS "${targets}")
  ricci_join_sources(code "${code_sources}" code_sources)
  add_library(ricci_code MODULE ${code_sources})
  target_link_libraries(ricci_code PRIVATE ricci_sources ${RICCI_LLVM_LIBRARY})
  target_include_directories(ricci_code SYSTEM PRIVATE ${RICCI_LLVM_INCLUDE_DIR})
  target_compile_features(ricci_code PRIVATE cxx_std_20)
  target_compile_options(ricci_code PRIVATE -fno-rtti -O1 ${precompiled_options})
  # Without headers of our own: with these, g++ 12 makes one precompiled header in five that it crashes with.
  target_precompile_headers(ricci_code PRIVATE <map> <string> <tuple> <unordered_map> <vector> <llvm/IR/Module.h>)
  if("code" IN_LIST RICCI_SANITIZE_ONLY)
    target_link_libraries(ricci_code PRIVATE ricci_sanitizer)
  endif()
  target_link_options(ricci_code PRIVATE $<$<BOOL:${RICCI_LLVM_STATIC}>:-Wl,--gc-sections>)
  # A program may keep the library's symbols to itself, as Python's package does: the module needs none of them.
  if(NOT RICCI_SANITIZE)
    target_link_options(ricci_code PRIVATE -Wl,--no-undefined)
  endif()
  target_link_options(ricci_code PRIVATE -Wl,--build-id)
  set(RICCI_CODE_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR} CACHE STRING
      "Where the generator of machine code is installed: libdir, or its folder ricci")
  cmake_path(ABSOLUTE_PATH RICCI_CODE_INSTALL_DIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE code_dir)
  target_compile_definitions(ricci_compile PRIVATE RICCI_CODE_LIBRARY="$<TARGET_FILE_NAME:ricci_code>"
                                                   RICCI_CODE_DIRECTORY="${code_dir}/")
  target_link_options(ricci_code PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libricci_code.map)
  set_target_properties(ricci_code PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libricci_code.map)
endif()

target_sources(ricci PRIVATE ${objects})
set_target_properties(ricci PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(ricci PUBLIC cxx_std_20)
target_include_directories(ricci INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# By path, not by imported target: those would appear in the exported package.
target_link_libraries(ricci PRIVATE ${RICCI_SLEEF_LIBRARY} $<TARGET_FILE:DNNL::dnnl> ${RICCI_ZIP_LIBRARY}
                                    ${RICCI_SODIUM_LIBRARY} ${RICCI_BACKTRACE_LIBRARY} ${CMAKE_DL_LIBS})
# The library keeps to its own copy of an inline function when a program, compiled for an older machine, has one too.
set(names_that_leave ${PROJECT_SOURCE_DIR}/cmake/libricci.map)
target_link_options(ricci PRIVATE -Wl,--build-id -Wl,-Bsymbolic-functions -Wl,--exclude-libs,libbacktrace.a -Wl,--no-undefined
                                  -Wl,--version-script=${names_that_leave})
set_target_properties(ricci PROPERTIES LINK_DEPENDS ${names_that_leave})

# The same objects as an archive. Programs link Ricci::static, which takes all of it: left to itself, a linker drops the
# objects that only register operations, because nobody names them. libbacktrace comes along: only gcc knows its place.
if(RICCI_STATIC)
  add_library(ricci_archive STATIC ${objects})
  set_target_properties(ricci_archive PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ricci EXPORT_NAME archive)
  add_library(Ricci::archive ALIAS ricci_archive)  # the name it has in the package, too
  add_library(ricci_static INTERFACE)
  add_library(Ricci::static ALIAS ricci_static)
  set_target_properties(ricci_static PROPERTIES EXPORT_NAME static)
  target_compile_features(ricci_static INTERFACE cxx_std_20)
  target_include_directories(ricci_static INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(installed_backtrace ${CMAKE_INSTALL_LIBDIR}/libricci_backtrace.a)
  target_link_libraries(ricci_static INTERFACE
      $<LINK_LIBRARY:WHOLE_ARCHIVE,Ricci::archive> sleef dnnl zip sodium ${CMAKE_DL_LIBS}
      $<BUILD_INTERFACE:${RICCI_BACKTRACE_LIBRARY}> $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${installed_backtrace}>)
endif()

# For programs that write elementwise operations of their own (ricci/primitive.h): their formulas call SLEEF.
add_library(ricci_primitives INTERFACE)
add_library(Ricci::primitives ALIAS ricci_primitives)
set_target_properties(ricci_primitives PROPERTIES EXPORT_NAME primitives)
target_link_libraries(ricci_primitives INTERFACE ricci sleef)

# Who links the library gets the generator built too. Here only programs that may compile something do: `./dev demo`
# compiles nothing, and would take half a minute longer.
if(RICCI_COMPILE AND PROJECT_IS_TOP_LEVEL)
  add_dependencies(ricci_primitives ricci_code)
elseif(RICCI_COMPILE)
  add_dependencies(ricci ricci_code)
endif()

# For programs on many machines (ricci/mpi.h): a library of its own, so that the others know nothing of MPI.
if(builds_mpi)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*.cpp)
  ricci_join_sources(mpi "${sources}" sources)
  add_library(ricci_mpi SHARED ${sources})
  add_library(Ricci::mpi ALIAS ricci_mpi)
  set_target_properties(ricci_mpi PROPERTIES EXPORT_NAME mpi VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(ricci_mpi PUBLIC ricci PRIVATE ricci_sources $<BUILD_INTERFACE:MPI::MPI_CXX>)
  target_compile_options(ricci_mpi PRIVATE -fno-tree-slp-vectorize)
  ricci_use_precompiled(ricci_mpi ricci_headers)
  target_link_options(ricci_mpi PRIVATE -Wl,--no-undefined)
endif()
