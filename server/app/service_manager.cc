#include "server/app/service_manager.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace attend {

ServiceManager::ServiceManager() {
  const char* variable = std::getenv("NOTIFY_SOCKET");
  const absl::string_view path = variable == nullptr ? "" : variable;
  if (path.size() < 2 || path.size() >= sizeof(address_.sun_path)) return;
  if (path[0] != '/' && path[0] != '@') return;
  address_.sun_family = AF_UNIX;
  path.copy(address_.sun_path, path.size());
  // An abstract name begins with a zero byte.
  if (path[0] == '@') address_.sun_path[0] = '\0';
  length_ =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) close(socket_);
}

void ServiceManager::Tell(absl::string_view state) const {
  if (socket_ < 0) return;
  sendto(socket_, state.data(), state.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address_), length_);
}

}  // namespace attend
