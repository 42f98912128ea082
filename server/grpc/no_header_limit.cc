#include "server/grpc/header_limit.h"

namespace attend {

bool LimitsHeaderBlocks() { return false; }

}  // namespace attend
