#ifndef ATTEND_SERVER_OPENAI_SIMILARITY_H_
#define ATTEND_SERVER_OPENAI_SIMILARITY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http_call/http_translator.h"
#include "server/service/service.h"

namespace attend {

// Pairs of texts whose scores are wanted. Of a list of one text and a list of
// many, the one belongs to each of the many.
struct TextPairs {
  std::string model;
  std::vector<std::string> first, second;
  bool truncate = false;

  size_t size() const { return second.size(); }
};

// What the answer for TextPairs says.
struct PairScores {
  std::string model;
  std::vector<float> scores;  // of the pairs, in order
  int tokens = 0;             // that were computed
};

// Scores pairs: by a model that labels pairs with one label, or as the cosine
// of the vectors of a model that embeds. Chooses in Request(); Scores() reads
// the answer.
class Similarity {
 public:
  // INVALID_ARGUMENT if the model can do neither.
  absl::StatusOr<HandledRequest> Request(TextPairs pairs,
                                         const Service& service,
                                         CallContext& context);
  absl::StatusOr<PairScores> Scores(
      const google::protobuf::Message& answer) const;

 private:
  HandledRequest ClassifyRequest(TextPairs pairs) const;
  HandledRequest EmbedRequest(TextPairs pairs);

  bool embeds_ = false;
  size_t first_ = 0, second_ = 0;  // texts, if embeds_
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_SIMILARITY_H_
