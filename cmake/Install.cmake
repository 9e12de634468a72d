# What `cmake --install` lays down: headers, libricci and the package that find_package(Ricci) reads.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ricci)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RicciConfig.cmake.in ${PROJECT_BINARY_DIR}/RicciConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RicciConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS ricci ricci_primitives EXPORT RicciTargets)
if(RICCI_COMPILE)
  install(TARGETS ricci_code LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
install(FILES ${PROJECT_BINARY_DIR}/RicciConfig.cmake ${PROJECT_BINARY_DIR}/RicciConfigVersion.cmake
        DESTINATION ${package_dir})
