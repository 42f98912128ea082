#ifndef ATTEND_SERVER_GRPC_READ_TURNS_H_
#define ATTEND_SERVER_GRPC_READ_TURNS_H_

#include <cstddef>

namespace attend {

// What a thread reads before it looks after others. Of small calls these are
// some hundreds.
inline constexpr size_t kTurnBytes = size_t{64} << 10;

// Has gRPC read from connections in turns. It reads from a socket as long as
// something is there. A client that sends ever more keeps the thread, as many
// such clients as there are threads stop the port, and after 2 GiB in one go
// gRPC ends the process: the bytes that it expects no longer fit an int. After
// kTurnBytes of a thread gRPC learns that the socket is empty, and the system
// tells anew that there is more, behind all others that have some.
//
// A program that calls this, which does nothing else, takes the place of
// recvmsg() and epoll_ctl() of the C library. Sockets that nobody asks how many
// bytes are left (TCP_INQ), or that do not wait for events that are told once
// (EPOLLET), are read as before.
void ReadInTurns();

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_READ_TURNS_H_
