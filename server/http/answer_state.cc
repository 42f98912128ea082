#include "server/http/answer_state.h"

#include <utility>

#include "absl/time/clock.h"

namespace attend {

std::string AnswerState::TakeHead(const HttpResponse& response,
                                  HttpFraming of_body) {
  return ResponseHead(response, of_body, keep_alive, more_headers, absl::Now())
      .substr(std::exchange(sent_ahead, 0));
}

std::string AnswerState::PartOf(absl::string_view bytes) const {
  const bool in_chunk = framing == HttpFraming::kChunks && !bytes.empty();
  return in_chunk ? Chunk(bytes) : std::string(bytes);
}

}  // namespace attend
