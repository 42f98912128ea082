#ifndef ATTEND_TESTS_CLIENT_FAKE_FAKE_SERVICE_H_
#define ATTEND_TESTS_CLIENT_FAKE_FAKE_SERVICE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// How a call fails before its first message.
struct FakeFailure {
  absl::Status status = {};
  std::optional<std::string> pushback_ms = {};
  bool headers_first = false;  // sends initial metadata before
  bool hangs = false;          // waits for its deadline instead
};

// A server of attend.v1 on a free port of this machine, which needs no
// model. Generate "translates" a text to capitals, each word one token; its
// stream is a chunk a word and one to end; of a chat it takes the last message.
// A text that starts with
//   "bad"    gets INVALID_ARGUMENT as the status of its input,
//   "break"  streams a chunk, then its call fails with UNAVAILABLE,
//   "hang"   waits for the call's deadline.
// Tokenize gives each word its length as id. Score: minus the target's words.
// Embed gives the lengths of the words, with tokens if asked per token; labels
// are LONG and SHORT, scored by the text's length, of a pair by the pair's; of
// a text "tag ..." each word is labelled. FillMask fills in "yes" and "no";
// documents score by their length. Of those too a text "bad ..." fails, and one
// that is not text would end the call. The model is "capitals"; another one,
// "mute", does not chat. Profile answers {"seconds": N} in two pieces; that of
// 13 s breaks off after the first.
class FakeService {
 public:
  FakeService();
  ~FakeService();

  std::string address() const;
  // The next calls fail like this, one after another.
  void Fail(std::vector<FakeFailure> failures);

  int calls() const;                  // so far, failed ones included
  int most_in_flight() const;         // calls at once
  std::string request_id() const;     // x-request-id of the last call
  std::string authorization() const;  // of the last call
  v1::GenerateRequest last_generate() const;
  v1::EmbedRequest last_embed() const;
  v1::ClassifyRequest last_classify() const;
  v1::FillMaskRequest last_fill_mask() const;
  v1::RerankRequest last_rerank() const;
  // The next input of a batch is refused: its queue is full.
  void RefuseInput();

 private:
  class Implementation;  // keeps gRPC's headers out of the tests

  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_FAKE_FAKE_SERVICE_H_
