#ifndef ATTEND_SERVER_GRPC_HEALTH_H_
#define ATTEND_SERVER_GRPC_HEALTH_H_

#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "server/service/service.h"

namespace attend {

// What grpc.health.v1 answers: for the server (""), for each gRPC service and
// for each model. One thread calls Tell(), any thread may ask.
class Health {
 public:
  // `service` must outlive the Health; `names` are those of gRPC services.
  Health(const Service& service, std::vector<std::string> names)
      : service_(service), names_(std::move(names)) {}

  // Tells `to` what has changed since the last call, and writes to the log
  // which models began or ceased to fail. `serving`: unless the server drains.
  void Tell(bool serving, grpc::HealthCheckServiceInterface& to);

  // What was told about the server.
  bool serving() const { return serving_; }

 private:
  // Returns whether `to` had been told something else.
  bool Set(const std::string& name, bool serving,
           grpc::HealthCheckServiceInterface& to);

  const Service& service_;
  const std::vector<std::string> names_;
  std::map<std::string, bool> told_;
  std::atomic<bool> serving_{false};
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEALTH_H_
