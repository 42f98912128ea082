#ifndef ATTEND_CLIENT_CPP_LIB_RING_H_
#define ATTEND_CLIENT_CPP_LIB_RING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"

namespace attend {

// Which server the calls of a key go to: the ring of gRPC's policy ring_hash
// (gRFC A42), which the packages of other languages have, too. A server has
// many points on it, so that one that goes leaves its keys to all others. A
// constant.
class Ring {
 public:
  // Addresses in numbers, each once.
  explicit Ring(const std::vector<std::string>& servers);

  // The index of the server that is first from the key's point on and `good`;
  // if none is, of the first one. There must be a server.
  size_t Find(const std::string& key,
              absl::FunctionRef<bool(size_t server)> good) const;

 private:
  struct Point {
    uint64_t hash;
    size_t server;
  };
  std::vector<Point> points_;  // by hash
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_RING_H_
