#include "server/grpc/inputs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<SourceTokens> ReadMasked(const v1::Tokens& tokens, int vocab,
                                        absl::string_view field) {
  SourceTokens source;
  ASSIGN_OR_RETURN(source.ids, ReadIds(tokens.ids(), vocab,
                                       absl::StrCat(field, ".tokens.ids")));
  const auto& mask = tokens.attention_mask();
  if (mask.empty()) return source;
  if (mask.size() != tokens.ids_size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s.tokens.attention_mask has %d values, must have one for each of %d "
        "ids",
        field, mask.size(), tokens.ids_size()));
  }
  std::vector<int> ids;
  for (int i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0 && mask[i] != 1) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.tokens.attention_mask[%d] is %d, must be 0 or 1",
                          field, i, mask[i]));
    }
    if (mask[i] == 0) continue;
    ids.push_back(source.ids[i]);
    source.positions.push_back(i);
  }
  source.ids = std::move(ids);
  return source;
}

// How many special tokens the ids end with.
int TrailingSpecial(const std::vector<int>& ids, const Tokenizer& tokenizer) {
  const auto last = std::find_if(ids.rbegin(), ids.rend(), [&](int id) {
    return !tokenizer.IsSpecial(id, Side::kSource);
  });
  return static_cast<int>(last - ids.rbegin());
}

// Leaves at most `limit` tokens: the special ones at the end and the first of
// the others.
void TruncateIds(int limit, const Tokenizer& tokenizer, Source& source) {
  std::vector<int>& ids = source.tokens.ids;
  const int size = static_cast<int>(ids.size());
  if (size <= limit) return;
  const int keep = std::min(TrailingSpecial(ids, tokenizer), limit);
  ids.erase(ids.begin() + limit - keep, ids.begin() + size - keep);
  // The tokens kept close up: they stand where a shorter input has them.
  if (!source.tokens.positions.empty()) source.tokens.positions.resize(limit);
  source.truncated = true;
}

// `max_tokens` 0: all of the text.
absl::StatusOr<Source> ReadText(const std::string& text, int max_tokens,
                                const Tokenizer& tokenizer,
                                absl::string_view field) {
  auto encoding = tokenizer.Encode({.text = text, .max_tokens = max_tokens});
  if (!encoding.ok()) {
    return Annotate(encoding.status(), absl::StrCat(field, ".text"));
  }
  Source source;
  source.truncated = encoding->truncated;
  source.empty = !encoding->truncated &&
                 std::all_of(encoding->origins.begin(), encoding->origins.end(),
                             [](const auto& o) { return o.text < 0; });
  source.tokens.ids = std::move(encoding->ids);
  return source;
}

}  // namespace

absl::Status Annotate(const absl::Status& status, absl::string_view field) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(),
                         absl::StrCat(field, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

absl::StatusOr<std::vector<int>> ReadIds(
    const google::protobuf::RepeatedField<int>& ids, int vocab,
    absl::string_view field) {
  for (int i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s[%d] is %d, must be in [0, %d)", field, i, ids[i], vocab));
    }
  }
  return std::vector<int>(ids.begin(), ids.end());
}

absl::StatusOr<std::vector<int>> ReadTokens(const v1::Tokens& tokens, int vocab,
                                            absl::string_view field) {
  if (!tokens.attention_mask().empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s.attention_mask has %d values, must be empty: only a source can be "
        "masked",
        field, tokens.attention_mask_size()));
  }
  return ReadIds(tokens.ids(), vocab, absl::StrCat(field, ".ids"));
}

absl::StatusOr<Source> ReadSource(const v1::Input& input, bool truncate,
                                  const ModelInfo& model,
                                  const Tokenizer& tokenizer,
                                  absl::string_view field) {
  const int limit = model.max_source_tokens;
  Source source;
  switch (input.input_case()) {
    case v1::Input::kText: {
      ASSIGN_OR_RETURN(source, ReadText(input.text(), truncate ? limit : 0,
                                        tokenizer, field));
      break;
    }
    case v1::Input::kTokens: {
      ASSIGN_OR_RETURN(source.tokens,
                       ReadMasked(input.tokens(), model.source_vocab, field));
      const std::vector<int>& ids = source.tokens.ids;
      source.empty =
          TrailingSpecial(ids, tokenizer) == static_cast<int>(ids.size());
      if (truncate) TruncateIds(limit, tokenizer, source);
      break;
    }
    case v1::Input::INPUT_NOT_SET:
      return absl::InvalidArgumentError(
          absl::StrCat(field, " is not set, must have text or tokens"));
  }
  const int size = static_cast<int>(source.tokens.ids.size());
  if (size > limit) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s has %d tokens, limit is %d (max_source_tokens)",
                        field, size, limit));
  }
  return source;
}

absl::StatusOr<std::vector<int>> ReadTarget(const v1::Input& input,
                                            const ModelInfo& model,
                                            const Tokenizer& tokenizer,
                                            absl::string_view field) {
  switch (input.input_case()) {
    case v1::Input::kText: {
      auto encoding =
          tokenizer.Encode({.text = input.text(), .side = Side::kTarget});
      if (!encoding.ok()) {
        return Annotate(encoding.status(), absl::StrCat(field, ".text"));
      }
      return std::move(encoding->ids);
    }
    case v1::Input::kTokens:
      return ReadTokens(input.tokens(), model.target_vocab,
                        absl::StrCat(field, ".tokens"));
    case v1::Input::INPUT_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is not set, must have text or tokens"));
}

}  // namespace attend
