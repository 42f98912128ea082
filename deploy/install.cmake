# cmake --install BUILD [--prefix PREFIX]: the programs with their manual pages
# and completions, and a package for C++
# clients (see attend-config.cmake.in). Headers go to include/attend, so that
# their paths from the root ("client/cpp/lib/client.h") meet nobody else's.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/attend)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/attend)

set(programs attend attend-server)
if(ATTEND_CLIENT_ONLY)
  set(programs "")
else()
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # server/app/launcher.cc looks for it there, from its own folder.
  cmake_path(SET libexec NORMALIZE ${CMAKE_INSTALL_BINDIR}/../libexec/attend)
  install(TARGETS attend-server-program RUNTIME DESTINATION ${libexec})
endif()
install(TARGETS attend_client proto proto_stubs EXPORT attend-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${headers})
set_target_properties(attend_client PROPERTIES EXPORT_NAME client)
set_target_properties(proto PROPERTIES OUTPUT_NAME attend_proto)
set_target_properties(proto_stubs PROPERTIES OUTPUT_NAME attend_proto_stubs)
install(EXPORT attend-targets NAMESPACE attend:: DESTINATION ${package})

# The headers of the interface; the library has others for itself.
set(interface
    cancellation client client_options client_tls retry retry_after utf8)
list(TRANSFORM interface PREPEND ${PROJECT_SOURCE_DIR}/client/cpp/lib/)
list(TRANSFORM interface APPEND .h)
install(FILES ${interface} DESTINATION ${headers}/client/cpp/lib)
install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/generated/attend
        DESTINATION ${headers} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto/attend
        DESTINATION ${CMAKE_INSTALL_DATADIR}/attend/proto
        FILES_MATCHING PATTERN "*.proto")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attend)

# Manual pages, and completions for shells, as the programs print them.
set(shell ${PROJECT_BINARY_DIR}/shell)
foreach(program IN LISTS programs)
  install(CODE "
    file(MAKE_DIRECTORY \"${shell}\")
    foreach(text --man \"--completion;bash\" \"--completion;zsh\"
                 \"--completion;fish\")
      list(GET text -1 kind)
      execute_process(COMMAND \"$<TARGET_FILE:${program}>\" \${text}
        OUTPUT_FILE \"${shell}/${program}.\${kind}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES ${shell}/${program}.--man RENAME ${program}.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${shell}/${program}.bash RENAME ${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${shell}/${program}.zsh RENAME _${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${shell}/${program}.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/attend-config.cmake.in
  ${PROJECT_BINARY_DIR}/attend-config.cmake INSTALL_DESTINATION ${package})
# Before 1.0 each minor version may change the C++ interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/attend-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attend-config.cmake
              ${PROJECT_BINARY_DIR}/attend-config-version.cmake
        DESTINATION ${package})
