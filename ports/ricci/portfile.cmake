# An overlay port: `vcpkg install ricci --overlay-ports=ports` from the folder above builds the sources that it lies in.
set(SOURCE_PATH "${CURRENT_PORT_DIR}/../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES compile RICCI_COMPILE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS ${features} -DRICCI_TESTS=OFF -DRICCI_BENCH=OFF -DRICCI_EXAMPLES=OFF -DRICCI_MPI=OFF
                              -DRICCI_STATIC=OFF -DRICCI_MARCH=)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Ricci CONFIG_PATH lib/cmake/Ricci)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/third_party/ducc0/LICENSE")
