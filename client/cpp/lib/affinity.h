#ifndef ATTEND_CLIENT_CPP_LIB_AFFINITY_H_
#define ATTEND_CLIENT_CPP_LIB_AFFINITY_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>

namespace attend {

// Metadata that has what calls that begin alike have in common: the client and
// proxies send those with one value to one server.
inline constexpr char kAffinityHeader[] = "x-attend-affinity";

// The value for a request: of the first `bytes` bytes of what it asks about
// first, as the packages of other languages have it. Empty: it asks about
// nothing.
std::string AffinityKey(const google::protobuf::Message& request, size_t bytes);

// For a call that the key's server does not answer: another key. One in N goes
// to the same of N servers.
std::string Elsewhere(const std::string& key);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_AFFINITY_H_
