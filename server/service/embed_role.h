#ifndef ATTEND_SERVER_SERVICE_EMBED_ROLE_H_
#define ATTEND_SERVER_SERVICE_EMBED_ROLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/model_info.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/model_table.h"
#include "server/service/source.h"

namespace attend {

// The side of a search that a text is on. kText: the request says nothing.
enum class EmbedRole { kText, kQuery, kDocument };

// Reads EmbedRequest.role.
absl::StatusOr<EmbedRole> ReadEmbedRole(const std::string& role);

// The model as texts of a role see it, and how they are read.
struct EmbedRoute {
  const ModelInfo& info;
  const Tokenizer& tokenizer;
  int number = 0;  // EmbedTask::route
};

// The route of texts of a role. INVALID_ARGUMENT if the model has none, as
// sentence-transformers refuses such texts.
absl::StatusOr<EmbedRoute> ChooseRoute(EmbedRole role,
                                       const ServedModel& model);

// The prompt that a request asks for: `text`, else the model's prompt of that
// name, else the prompt of the role, else the model's default.
struct PromptChoice {
  std::optional<std::string> text = std::nullopt;
  std::optional<std::string> name = std::nullopt;
  EmbedRole role = EmbedRole::kText;
};
struct ChosenPrompt {
  std::string text = {};  // is put before each input
  // The number of the adapter that has the name of the prompt; -1: none.
  int adapter = -1;
};
absl::StatusOr<ChosenPrompt> ChoosePrompt(const PromptChoice& choice,
                                          const ModelInfo& model);

// The longest text in tokens, where vectors of tokens are asked for.
int MaxVectorTokens(EmbedRole role, const ModelInfo& model);

// Fills a query up with the token that the model is trained to see there.
void FillUp(EmbedRole role, const TokenVectorsInfo& info, SourceTokens& tokens);

// The rows of a source whose vectors are compared.
std::vector<int> ComparedRows(EmbedRole role, const TokenVectorsInfo& info,
                              absl::Span<const int> ids);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_EMBED_ROLE_H_
