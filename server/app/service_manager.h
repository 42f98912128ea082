#ifndef ATTEND_SERVER_APP_SERVICE_MANAGER_H_
#define ATTEND_SERVER_APP_SERVICE_MANAGER_H_

#include <sys/socket.h>
#include <sys/un.h>

#include "absl/strings/string_view.h"

namespace attend {

// Tells the service manager how the server does: systemd with Type=notify,
// which says by $NOTIFY_SOCKET where it listens. Without that variable nothing
// is told. A manager that does not listen is no error.
class ServiceManager {
 public:
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // The server takes calls.
  void Ready() const { Tell("READY=1"); }
  // Must be called more often than WatchdogSec=, or the server is restarted.
  void Alive() const { Tell("WATCHDOG=1"); }
  // An orderly end has begun. No more signs of life are needed.
  void Stopping() const { Tell("STOPPING=1"); }

 private:
  void Tell(absl::string_view state) const;

  int socket_ = -1;  // -1: nobody is to be told
  sockaddr_un address_ = {};
  socklen_t length_ = 0;  // length of the address
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVICE_MANAGER_H_
