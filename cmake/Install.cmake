# What `cmake --install` lays down: headers, libricci and the package that find_package(Ricci) reads.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ricci)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RicciConfig.cmake.in ${PROJECT_BINARY_DIR}/RicciConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RicciConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS ricci ricci_primitives EXPORT RicciTargets)
if(RICCI_COMPILE)
  install(TARGETS ricci_code LIBRARY DESTINATION ${RICCI_CODE_INSTALL_DIR})
endif()
if(builds_mpi)
  install(TARGETS ricci_mpi EXPORT RicciMpiTargets)
  install(EXPORT RicciMpiTargets NAMESPACE Ricci:: DESTINATION ${package_dir})
endif()
if(RICCI_STATIC)
  install(TARGETS ricci_archive ricci_static EXPORT RicciTargets)
  cmake_path(GET installed_backtrace FILENAME backtrace_name)
  install(FILES ${RICCI_BACKTRACE_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME ${backtrace_name})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ricci DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT RicciTargets NAMESPACE Ricci:: DESTINATION ${package_dir})
# For pkg-config, which finds all from where the file lies: the package may be moved, and CMAKE_INSTALL_LIBDIR may be a
# whole path, or Debian's lib/x86_64-linux-gnu.
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_dir} OUTPUT_VARIABLE prefix_from_pc)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${pc_dir} OUTPUT_VARIABLE includedir_from_pc)
configure_file(${PROJECT_SOURCE_DIR}/cmake/ricci.pc.in ${PROJECT_BINARY_DIR}/ricci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ricci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/RicciConfig.cmake ${PROJECT_BINARY_DIR}/RicciConfigVersion.cmake
        DESTINATION ${package_dir})
