#ifndef ATTEND_SERVER_OPENAI_SIMILARITY_H_
#define ATTEND_SERVER_OPENAI_SIMILARITY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http_call/http_translator.h"
#include "server/service/service.h"

namespace attend {

// The value of a field: a text, or a list of texts.
struct FieldTexts {
  // The text's name in errors: "documents[2]", or that of the field.
  std::string NameOf(size_t index) const;

  std::string name;  // of the field
  std::vector<std::string> texts;
  bool is_list = false;
};

// Pairs of texts whose scores are wanted. Of a list of one text and a list of
// many, the one belongs to each of the many.
struct TextPairs {
  std::string model;
  FieldTexts first, second;
  bool truncate = false;
  bool raw_scores = false;  // of labels: logits
};

// What the answer for TextPairs says.
struct PairScores {
  std::string model;
  // Of the pairs, in order, before and after the function that makes a client's
  // score of a logit. Different logits may have equal scores.
  std::vector<float> raw, scores;
  int tokens = 0;  // that were computed
};

// Scores pairs: by a model that labels pairs with one label, or as the cosine
// of the vectors of a model that embeds. Chooses in Request(); Scores() reads
// the answer.
class Similarity {
 public:
  // INVALID_ARGUMENT if there are too many pairs, or if the model can do
  // neither.
  absl::StatusOr<HandledRequest> Request(TextPairs pairs,
                                         const Service& service,
                                         CallContext& context);
  // An error names the text that has failed as the client does.
  absl::StatusOr<PairScores> Scores(
      const google::protobuf::Message& answer) const;
  // An error of the whole request of attend.v1, which is that of its first
  // input, with the names that the client knows.
  absl::Status Rename(const absl::Status& status) const {
    return Rename(status, 0);
  }

 private:
  // How attend.v1 is asked.
  enum class Way {
    kRerank,    // one text against many, by labels
    kClassify,  // pairs, by labels
    kEmbed,     // the first texts, then the second ones
  };
  using Names = std::vector<std::pair<std::string, std::string>>;

  absl::Status CheckCount(const Service& service) const;
  HandledRequest RerankRequest();
  HandledRequest ClassifyRequest();
  HandledRequest EmbedRequest();

  absl::Status Rename(const absl::Status& status, size_t input) const;
  // What attend.v1 calls the texts of an input, and what the client does.
  Names NamesOf(size_t input) const;
  template <class Response>
  absl::Status FirstFailure(const Response& response) const;

  Way way_ = Way::kRerank;
  LabelScores kind_ = LabelScores::kRaw;  // what becomes of a logit
  TextPairs pairs_;  // their texts are moved away, but their number is known
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_SIMILARITY_H_
