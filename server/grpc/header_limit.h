#ifndef ATTEND_SERVER_GRPC_HEADER_LIMIT_H_
#define ATTEND_SERVER_GRPC_HEADER_LIMIT_H_

namespace attend {

// Whether this process's servers read headers as header_block.h says, end calls
// whose headers are wrong without their connections, and close connections that
// go beyond the limits of header_frames.h and accepted_calls.h: a program that
// calls this takes the place of five functions inside of libgrpc.
// CMakeLists.txt chooses how: with Debian's 1.51 as the dynamic linker lets
// programs do, with the 1.56 of deploy/grpc as the linker does. False: libgrpc
// is another one.
bool LimitsHeaderBlocks();

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEADER_LIMIT_H_
