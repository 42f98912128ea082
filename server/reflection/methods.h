#ifndef ATTEND_SERVER_REFLECTION_METHODS_H_
#define ATTEND_SERVER_REFLECTION_METHODS_H_

#include <vector>

#include "server/service/methods.h"

namespace attend {

// The methods of grpc.reflection.v1 and v1alpha. They show the services of
// Service::methods and that of grpc.health.v1, and all files that are compiled
// into the program. They are calls as others are: where there are tenants, they
// need a key.
std::vector<Method> ReflectionMethods();

}  // namespace attend

#endif  // ATTEND_SERVER_REFLECTION_METHODS_H_
