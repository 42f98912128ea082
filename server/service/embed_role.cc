#include "server/service/embed_role.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace attend {
namespace {

absl::StatusOr<ChosenPrompt> PromptNamed(const std::string& name,
                                         const ModelInfo& model) {
  const auto found = model.prompts.find(name);
  if (found != model.prompts.end()) {
    const auto adapter =
        std::find(model.adapters.begin(), model.adapters.end(), name);
    if (adapter == model.adapters.end()) return ChosenPrompt{found->second};
    return ChosenPrompt{
        .text = found->second,
        .adapter = static_cast<int>(adapter - model.adapters.begin())};
  }
  std::string names;
  for (const auto& [known, text] : model.prompts) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", "'", known, "'");
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("prompt_name is '%s', the prompts of model '%s' are: %s",
                      absl::CHexEscape(name.substr(0, 100)), model.name,
                      names.empty() ? "none" : names));
}

// The names of prompts of a role, as sentence-transformers looks for them, and
// those of models with tasks for the two sides of a search.
absl::Span<const char* const> NamesOf(EmbedRole role) {
  static constexpr const char* kQuery[] = {"query", "retrieval.query"};
  static constexpr const char* kDocument[] = {"document", "passage", "corpus",
                                              "retrieval.passage"};
  if (role == EmbedRole::kQuery) return kQuery;
  if (role == EmbedRole::kDocument) return kDocument;
  return {};
}

}  // namespace

absl::StatusOr<EmbedRole> ReadEmbedRole(const std::string& role) {
  if (role.empty()) return EmbedRole::kText;
  if (role == "query") return EmbedRole::kQuery;
  if (role == "document") return EmbedRole::kDocument;
  return absl::InvalidArgumentError(
      absl::StrFormat("role is '%s', must be 'query', 'document' or empty",
                      absl::CHexEscape(role.substr(0, 100))));
}

absl::StatusOr<EmbedRoute> ChooseRoute(EmbedRole role,
                                       const ServedModel& model) {
  const ModelInfo& info = model.info();
  const RoleRoutes& routes = info.role_routes;
  const int number = role == EmbedRole::kQuery      ? routes.query
                     : role == EmbedRole::kDocument ? routes.document
                                                    : routes.text;
  if (number < 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "role is %s, but the Router of model '%s' has no route for %s",
        role == EmbedRole::kText    ? "empty"
        : role == EmbedRole::kQuery ? "'query'"
                                    : "'document'",
        info.name,
        role == EmbedRole::kText ? "texts without a role" : "such texts"));
  }
  return EmbedRoute{info.routes.empty() ? info : info.routes[number],
                    model.TokenizerOf(number), number};
}

absl::StatusOr<ChosenPrompt> ChoosePrompt(const PromptChoice& choice,
                                          const ModelInfo& model) {
  if (choice.text) return ChosenPrompt{*choice.text};
  if (choice.name) return PromptNamed(*choice.name, model);
  for (const char* name : NamesOf(choice.role)) {
    if (model.prompts.count(name) > 0) return PromptNamed(name, model);
  }
  if (model.default_prompt.empty()) return ChosenPrompt();
  return PromptNamed(model.default_prompt, model);
}

int MaxVectorTokens(EmbedRole role, const ModelInfo& model) {
  const TokenVectorsInfo& info = model.token_vectors;
  const int limit = role == EmbedRole::kQuery      ? info.query_tokens
                    : role == EmbedRole::kDocument ? info.document_tokens
                                                   : 0;
  return limit > 0 ? std::min(limit, model.max_text_tokens)
                   : model.max_text_tokens;
}

void FillUp(EmbedRole role, const TokenVectorsInfo& info,
            SourceTokens& tokens) {
  const auto size = static_cast<int>(tokens.ids.size());
  if (role != EmbedRole::kQuery || size >= info.expanded_tokens) return;
  tokens.ids.resize(info.expanded_tokens, info.expansion_id);
  if (!tokens.types.empty()) tokens.types.resize(info.expanded_tokens, 0);
  while (!tokens.positions.empty() &&
         tokens.positions.size() < tokens.ids.size()) {
    tokens.positions.push_back(tokens.positions.back() + 1);
  }
  if (!info.expansion_attended) tokens.attended = size;
}

std::vector<int> ComparedRows(EmbedRole role, const TokenVectorsInfo& info,
                              absl::Span<const int> ids) {
  std::vector<int> rows;
  rows.reserve(ids.size());
  for (int row = info.first; row < static_cast<int>(ids.size()); ++row) {
    const bool skipped = role != EmbedRole::kQuery &&
                         std::binary_search(info.skipped_ids.begin(),
                                            info.skipped_ids.end(), ids[row]);
    if (!skipped) rows.push_back(row);
  }
  return rows;
}

}  // namespace attend
