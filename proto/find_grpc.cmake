# Finds gRPC: Debian's, or that in ATTEND_GRPC_PREFIX. Gives PkgConfig::grpcpp and
# its grpcpp_VERSION, and GRPC_CPP_PLUGIN, all of one gRPC.
set(ATTEND_GRPC_PREFIX "" CACHE PATH
    "Where deploy/grpc/build.sh has put gRPC; if empty, Debian's is used")

find_package(PkgConfig REQUIRED)
if(ATTEND_GRPC_PREFIX)
  if(NOT EXISTS ${ATTEND_GRPC_PREFIX}/lib/pkgconfig/grpc++.pc)
    message(FATAL_ERROR "no gRPC in ATTEND_GRPC_PREFIX: build it with "
                        "deploy/grpc/build.sh ${ATTEND_GRPC_PREFIX}")
  endif()
  list(PREPEND CMAKE_PREFIX_PATH ${ATTEND_GRPC_PREFIX})
endif()
# Debian's is shared: what its libraries need in their turn is not looked for,
# which takes a second for each of a dozen questions.
if(NOT ATTEND_GRPC_PREFIX)
  set(PKG_CONFIG_ARGN --maximum-traverse-depth=4)
endif()
pkg_check_modules(grpcpp REQUIRED IMPORTED_TARGET GLOBAL grpc++)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED
             HINTS ${grpcpp_PREFIX}/bin)

if(ATTEND_GRPC_PREFIX)
  # Its headers use __FILE__: programs are equal wherever they are built.
  target_compile_options(PkgConfig::grpcpp INTERFACE
                         -fmacro-prefix-map=${ATTEND_GRPC_PREFIX}/=)
  foreach(found IN ITEMS ${grpcpp_LIBDIR} ${GRPC_CPP_PLUGIN})
    cmake_path(NORMAL_PATH found)
    cmake_path(IS_PREFIX ATTEND_GRPC_PREFIX ${found} NORMALIZE inside)
    if(NOT inside)
      # PKG_CONFIG_PATH comes first, and what was found before is kept.
      message(FATAL_ERROR "${found} is not in ATTEND_GRPC_PREFIX "
                          "(${ATTEND_GRPC_PREFIX}): try cmake --fresh")
    endif()
  endforeach()
endif()
message(STATUS "gRPC ${grpcpp_VERSION}: ${grpcpp_LIBDIR}")
