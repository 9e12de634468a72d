# Finds what the library is linked with; all of it comes from the distribution (tools/packages.txt) and stays private
# to the shared library. It is found anew at each configuring (NO_CACHE), so that a package that was installed meanwhile
# counts; what -D names is taken as it is.

# OpenBLAS is loaded at run time, after its kernels have been chosen (src/kernels), so only its file name is wanted. It
# computes on the thread that calls it, on several at once; the build made for programs with threads goes first.
find_library(RICCI_OPENBLAS_LIBRARY NAMES libopenblas.so.0 PATH_SUFFIXES openblas-pthread NO_CACHE REQUIRED)
# Where it lies on the machine that runs the library.
string(REPLACE "${CMAKE_SYSROOT}/" "/" RICCI_OPENBLAS_LIBRARY_TO_LOAD "${RICCI_OPENBLAS_LIBRARY}")

find_library(RICCI_SLEEF_LIBRARY NAMES sleef NO_CACHE REQUIRED)
find_library(RICCI_ZIP_LIBRARY NAMES zip NO_CACHE REQUIRED)
find_library(RICCI_SODIUM_LIBRARY NAMES sodium NO_CACHE REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)

find_package(dnnl REQUIRED)
get_target_property(RICCI_DNNL_INCLUDE_DIR DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)

if(RICCI_COMPILE)
  find_path(RICCI_LLVM_INCLUDE_DIR llvm/ExecutionEngine/Orc/LLJIT.h PATHS /usr/lib/llvm-19/include NO_CACHE REQUIRED)
  if(RICCI_LLVM_STATIC)
    # The parts of LLVM that the generator calls, and all that these call. They want zlib and zstd. Their archives are
    # named by the program that came with the headers, which has no number in its name there.
    string(TOLOWER "native;${RICCI_LLVM_TARGETS}" targets)
    set(beside_headers ${RICCI_LLVM_INCLUDE_DIR}/../bin)
    set(names llvm-config-19 llvm-config)
    find_program(RICCI_LLVM_CONFIG NAMES ${names} NAMES_PER_DIR HINTS ${beside_headers} NO_CACHE REQUIRED)
    find_library(RICCI_ZSTD_LIBRARY NAMES zstd libzstd.so.1 NO_CACHE REQUIRED)
    execute_process(COMMAND ${RICCI_LLVM_CONFIG} --link-static --libfiles ${targets} runtimedyld orcjit scalaropts ipo
                            codegen passes linker irreader
                    OUTPUT_VARIABLE RICCI_LLVM_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(RICCI_LLVM_LIBRARY)
    list(APPEND RICCI_LLVM_LIBRARY ${RICCI_ZSTD_LIBRARY} ZLIB::ZLIB)
  else()
    find_library(RICCI_LLVM_LIBRARY NAMES LLVM-19 PATHS /usr/lib/llvm-19/lib NO_CACHE REQUIRED)
  endif()
endif()

# An MPI of the system's, for the component mpi alone. Sanitizers and other processors do without, unless told.
set(builds_mpi ${RICCI_MPI})
if(RICCI_MPI STREQUAL AUTO AND (RICCI_SANITIZE OR CMAKE_CROSSCOMPILING))
  set(builds_mpi OFF)
endif()
if(builds_mpi)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS CXX QUIET)
  if(NOT MPI_CXX_FOUND AND NOT RICCI_MPI STREQUAL AUTO)
    message(FATAL_ERROR "RICCI_MPI is ON, but there is no MPI; Debian has it as libopenmpi-dev and openmpi-bin")
  endif()
  set(builds_mpi ${MPI_CXX_FOUND})
endif()

# Where the program includes ricci/mpi.h: sets `mpi` to what it links with, and `lacks_mpi` if that is not built.
function(ricci_look_for_mpi program)
  file(STRINGS ${program} includes_mpi REGEX "^#include <ricci/mpi.h>")
  set(mpi)
  set(lacks_mpi OFF)
  if(includes_mpi AND builds_mpi)
    set(mpi Ricci::mpi)
  elseif(includes_mpi)
    set(lacks_mpi ON)
  endif()
  set(mpi ${mpi} PARENT_SCOPE)
  set(lacks_mpi ${lacks_mpi} PARENT_SCOPE)
endfunction()

# How tests start ranks: Open MPI wants to be told of root, and of more ranks than processors. Ranks that wait let
# others run: else three on two processors took twenty times the processor time.
if(builds_mpi)
  set(RICCI_MPIRUN ${MPIEXEC_EXECUTABLE})
  if(MPI_CXX_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPI_CXX_INCLUDE_DIRS MATCHES openmpi)
    list(APPEND RICCI_MPIRUN --oversubscribe --bind-to none)
    set(RICCI_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
                              RICCI_THREADS=1)
  endif()
endif()

# libbacktrace lives in gcc's own directory. Its header is copied out: the headers beside it belong to gcc alone.
if(CMAKE_CROSSCOMPILING)
  set(RICCI_GXX ${CMAKE_CXX_COMPILER})
else()
  find_program(RICCI_GXX NAMES g++ NO_CACHE REQUIRED)
endif()
execute_process(COMMAND ${RICCI_GXX} -print-file-name=libbacktrace.a
                OUTPUT_VARIABLE RICCI_BACKTRACE_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${RICCI_GXX} -print-file-name=include
                OUTPUT_VARIABLE RICCI_GXX_INCLUDE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${RICCI_BACKTRACE_LIBRARY}" OR NOT EXISTS "${RICCI_GXX_INCLUDE_DIR}/backtrace.h")
  message(FATAL_ERROR "${RICCI_GXX} does not ship libbacktrace (libbacktrace.a, backtrace.h); Debian's g++ does")
endif()
set(RICCI_BACKTRACE_INCLUDE_DIR ${PROJECT_BINARY_DIR}/backtrace)
configure_file(${RICCI_GXX_INCLUDE_DIR}/backtrace.h ${RICCI_BACKTRACE_INCLUDE_DIR}/backtrace.h COPYONLY)
