#include "server/http/http_message.h"

namespace attend {

HttpResponse TextResponse(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"Cache-Control", "no-store"}},
          .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace attend
