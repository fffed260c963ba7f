# Debian packages: `holdfast`, the program, and `libholdfast-dev`, the static library. There is no shared library, because
# the ABI is not stable before 1.0.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Holdfast maintainers <maintainers@holdfast.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "A flock for a fleet: runs a command while it holds a lock that all machines\n\
see, on a Redis or Valkey server or, without any server, in a directory of\n\
one machine. The command is stopped before its lock can be another's, and\n\
every grant has a number by which a resource can reject a holder that was overtaken.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsqlite3-dev, libssl-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "For C++20. A lock is a lease with a deadline, a fence number and a signal of\n\
loss, over the lock service that is behind a URL. This package has the\n\
headers, the static library, and what CMake and pkg-config need to find them.")

# Debian requires a copyright file, a changelog and a maintainer for each package.
find_program(HOLDFAST_GZIP gzip REQUIRED)
string(TIMESTAMP packaged_at "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog.Debian @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/debian/changelog COPYONLY)
foreach(name changelog.Debian changelog)
  execute_process(COMMAND ${HOLDFAST_GZIP} -9nf ${PROJECT_BINARY_DIR}/debian/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(component program development)
  string(TOUPPER ${component} upper)
  install(
    FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.gz
          ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz
    DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
    COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endforeach()

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # the tests are no part of a package
include(CPack)
