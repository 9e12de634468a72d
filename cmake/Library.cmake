# libricci: one OBJECT library per folder of src/, all of them in one shared library. Objects, not archives: an archive
# drops the files that register operations, because nobody names them.

add_library(ricci_sources INTERFACE)  # what compiling any folder takes
target_include_directories(ricci_sources SYSTEM INTERFACE ${RICCI_BACKTRACE_INCLUDE_DIR} ${RICCI_DNNL_INCLUDE_DIR}
                                                          ${ZLIB_INCLUDE_DIRS})
target_include_directories(ricci_sources INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(ricci_sources INTERFACE -fvisibility=default -ftls-model=initial-exec -fno-semantic-interposition
                                               -g1)
target_link_libraries(ricci_sources INTERFACE ricci_warnings ricci_vector_code)

add_library(ricci SHARED)
add_library(Ricci::ricci ALIAS ricci)

file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/layers.txt layers REGEX "^[a-z]")
foreach(layer IN LISTS layers)
  string(REGEX MATCH "^[a-z_]+" folder "${layer}")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  if(NOT sources)
    continue()
  endif()
  add_library(ricci_${folder} OBJECT ${sources})
  target_compile_features(ricci_${folder} PRIVATE cxx_std_20)
  target_link_libraries(ricci_${folder} PRIVATE ricci_sources)
  set_target_properties(ricci_${folder} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(ricci PRIVATE $<TARGET_OBJECTS:ricci_${folder}>)
  # Where nothing is computed, a vector register is only a slow way to copy two words that were just stored.
  if(NOT folder MATCHES "^(kernels|ops|random)$")
    target_compile_options(ricci_${folder} PRIVATE -fno-tree-slp-vectorize)
  endif()
endforeach()
if(TARGET ricci_kernels)
  target_compile_definitions(ricci_kernels PRIVATE RICCI_OPENBLAS_LIBRARY="${RICCI_OPENBLAS_LIBRARY_TO_LOAD}")
endif()

set_target_properties(ricci PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(ricci PUBLIC cxx_std_20)
target_include_directories(ricci INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# By path, not by imported target: those would appear in the exported package.
target_link_libraries(ricci PRIVATE ${RICCI_SLEEF_LIBRARY} $<TARGET_FILE:DNNL::dnnl> ${RICCI_ZIP_LIBRARY}
                                    ${RICCI_BACKTRACE_LIBRARY} ${CMAKE_DL_LIBS})
# The library keeps to its own copy of an inline function when a program, compiled for an older machine, has one too.
target_link_options(ricci PRIVATE -Wl,-Bsymbolic-functions -Wl,--exclude-libs,libbacktrace.a -Wl,--no-undefined)

# For programs that write elementwise operations of their own (ricci/primitive.h): their formulas call SLEEF.
add_library(ricci_primitives INTERFACE)
add_library(Ricci::primitives ALIAS ricci_primitives)
set_target_properties(ricci_primitives PROPERTIES EXPORT_NAME primitives)
target_link_libraries(ricci_primitives INTERFACE ricci sleef)
