# Finds gRPC: Debian's, or that in ATTEND_GRPC_PREFIX. Gives PkgConfig::grpcpp and
# its grpcpp_VERSION, grpc_reflection and GRPC_CPP_PLUGIN, all of one gRPC.
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
pkg_check_modules(grpcpp REQUIRED IMPORTED_TARGET GLOBAL grpc++)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED
             HINTS ${grpcpp_PREFIX}/bin)
find_library(GRPC_REFLECTION grpc++_reflection REQUIRED HINTS ${grpcpp_LIBDIR})

if(ATTEND_GRPC_PREFIX)
  foreach(found IN ITEMS ${grpcpp_LIBDIR} ${GRPC_CPP_PLUGIN} ${GRPC_REFLECTION})
    cmake_path(NORMAL_PATH found)
    cmake_path(IS_PREFIX ATTEND_GRPC_PREFIX ${found} NORMALIZE inside)
    if(NOT inside)
      # PKG_CONFIG_PATH comes first, and what was found before is kept.
      message(FATAL_ERROR "${found} is not in ATTEND_GRPC_PREFIX "
                          "(${ATTEND_GRPC_PREFIX}): try cmake --fresh")
    endif()
  endforeach()
endif()
message(STATUS "gRPC ${grpcpp_VERSION}: ${GRPC_REFLECTION}")

add_library(grpc_reflection UNKNOWN IMPORTED GLOBAL)
set_target_properties(grpc_reflection PROPERTIES
  IMPORTED_LOCATION ${GRPC_REFLECTION}
  INTERFACE_LINK_LIBRARIES "PkgConfig::grpcpp;protobuf::libprotobuf")
