# `cmake --install` installs the library, its headers, and files for CMake and pkg-config; the program, its manual pages,
# and completion for three shells. The tree may be moved after installation.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

if(TARGET holdfast_program)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
  set(HOLDFAST_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions")
  set(shells ${PROJECT_SOURCE_DIR}/cli/completion/shells)
  install(TARGETS holdfast_program)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/cli/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${shells}/holdfast.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME holdfast)
  install(FILES ${shells}/_holdfast DESTINATION ${HOLDFAST_ZSH_DIR})
  install(FILES ${shells}/holdfast.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS holdfast EXPORT holdfastTargets)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/holdfast
  TYPE INCLUDE
  FILES_MATCHING
  PATTERN *.hpp)

install(
  EXPORT holdfastTargets
  NAMESPACE holdfast::
  DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/holdfastConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/holdfastConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfastConfig.cmake ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
        DESTINATION ${package_dir})

# Paths in the .pc file are relative to the file, unless a folder was given as an absolute path.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(pc_prefix \${pcfiledir}/${up})
  set(pc_libdir \${prefix}/${CMAKE_INSTALL_LIBDIR})
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir \${prefix}/${CMAKE_INSTALL_INCLUDEDIR})
endif()
# A program that links the static library must also link its dependencies.
set(pc_requires Requires)
get_target_property(kind holdfast TYPE)
if(kind STREQUAL SHARED_LIBRARY)
  set(pc_requires Requires.private)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/holdfast.pc.in ${PROJECT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
