#include "server/service/source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/encode_within.h"
#include "engine/tokenizer/text/too_many_tokens.h"
#include "server/service/request_fields.h"
#include "server/service/thought_after.h"

namespace attend {
namespace {

// Checks that a list beside the ids is empty or has a value for each id.
absl::Status CheckBeside(const google::protobuf::RepeatedField<int>& values,
                         int ids, absl::string_view field, const char* name) {
  if (values.empty() || values.size() == ids) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s.tokens.%s has %d values, must have one for each of %d ids", field,
      name, values.size(), ids));
}

absl::StatusOr<SourceTokens> ReadMasked(const v1::Tokens& tokens,
                                        const ModelInfo& model,
                                        absl::string_view field) {
  SourceTokens source;
  ASSIGN_OR_RETURN(source.ids, ReadIds(tokens.ids(), model.source_vocab,
                                       absl::StrCat(field, ".tokens.ids")));
  RETURN_IF_ERROR(
      CheckBeside(tokens.types(), tokens.ids_size(), field, "types"));
  ASSIGN_OR_RETURN(source.types,
                   ReadIds(tokens.types(), std::max(model.token_types, 1),
                           absl::StrCat(field, ".tokens.types")));
  const auto& mask = tokens.attention_mask();
  if (mask.empty()) return source;
  RETURN_IF_ERROR(
      CheckBeside(mask, tokens.ids_size(), field, "attention_mask"));
  std::vector<int> ids, types;
  for (int i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0 && mask[i] != 1) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.tokens.attention_mask[%d] is %d, must be 0 or 1",
                          field, i, mask[i]));
    }
    if (mask[i] == 0) continue;
    ids.push_back(source.ids[i]);
    if (!source.types.empty()) types.push_back(source.types[i]);
    source.positions.push_back(i);
  }
  source.ids = std::move(ids);
  source.types = std::move(types);
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
  std::vector<int>& types = source.tokens.types;
  if (!types.empty()) {
    types.erase(types.begin() + limit - keep, types.begin() + size - keep);
  }
  // The kept tokens close up: they get the positions of a shorter input.
  if (!source.tokens.positions.empty()) source.tokens.positions.resize(limit);
  source.truncated = true;
}

// Returns true if all tokens are special, or of the `mark` bytes that the text
// begins with.
bool HasOnlySpecial(const std::vector<TokenOrigin>& origins, int mark) {
  return std::all_of(origins.begin(), origins.end(), [&](const auto& origin) {
    return origin.text < 0 ||
           (mark > 0 && origin.text == 0 && origin.end <= mark);
  });
}

// Turns places in the prompt and the text into places in the text alone.
void TakePromptOff(int prompt, std::vector<TokenOrigin>& origins) {
  for (TokenOrigin& origin : origins) {
    if (origin.text != 0) continue;
    origin.begin = std::max(origin.begin - prompt, 0);
    origin.end = std::max(origin.end - prompt, 0);
  }
}

// The source of the text of `encode`, which begins with the prompt of
// `options`.
absl::StatusOr<Source> ReadEncoded(const EncodeInput& encode,
                                   const SourceOptions& options, int limit,
                                   const Tokenizer& tokenizer,
                                   const std::string& field) {
  if (!options.truncate) {
    RETURN_IF_ERROR(
        CheckTextBytes(field, encode.text.size(), limit, tokenizer));
  }
  const auto ended = [&] {
    return options.call != nullptr && !options.call->CheckAwaited().ok();
  };
  auto encoding = EncodeWithin(
      tokenizer, encode,
      {.tokens = limit, .truncate = options.truncate, .ended = ended});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  Source source;
  source.truncated = encoding->truncated;
  const int mark = static_cast<int>(options.language_mark.size());
  source.empty =
      !encoding->truncated && HasOnlySpecial(encoding->origins, mark);
  TakePromptOff(mark + static_cast<int>(options.prompt.size()),
                encoding->origins);
  source.tokens.ids = std::move(encoding->ids);
  source.tokens.types = std::move(encoding->types);
  source.origins = std::move(encoding->origins);
  return source;
}

absl::StatusOr<Source> ReadText(const v1::Input& input,
                                const SourceOptions& options, int limit,
                                const ModelInfo& model,
                                const Tokenizer& tokenizer,
                                absl::string_view field) {
  const std::string before =
      absl::StrCat(options.language_mark, options.prompt);
  const std::string prompted =
      before.empty() ? "" : absl::StrCat(before, input.text());
  EncodeInput encode = {.text = before.empty() ? input.text() : prompted,
                        .add_special = model.adds_special,
                        .language = options.language,
                        .cut = options.cut};
  if (input.has_pair()) {
    encode.pair = input.pair();
    if (!options.truncate) {
      RETURN_IF_ERROR(CheckTextBytes(absl::StrCat(field, ".pair"),
                                     input.pair().size(), limit, tokenizer));
    }
  }
  return ReadEncoded(encode, options, limit, tokenizer,
                     absl::StrCat(field, ".text"));
}

absl::StatusOr<Source> ReadChat(const v1::Input& input,
                                const SourceOptions& options, int limit,
                                const ModelInfo& model,
                                const Tokenizer& tokenizer,
                                const std::string& field) {
  if (!options.takes_chat) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " is set, but only Generate and Score take conversations"));
  }
  ASSIGN_OR_RETURN(const std::string text,
                   RenderChat(input.chat(), options.chat, model, tokenizer,
                              options.call, field, options.truncate));
  ASSIGN_OR_RETURN(Source source,
                   ReadEncoded({.text = text, .add_special = false}, options,
                               limit, tokenizer, field));
  source.thought = ThoughtAfter(text, *options.chat, tokenizer);
  return source;
}

}  // namespace

absl::StatusOr<Source> ReadSource(const v1::Input& input,
                                  const SourceOptions& options,
                                  const ModelInfo& model,
                                  const Tokenizer& tokenizer,
                                  absl::string_view field) {
  const bool text_limit = input.has_text() && options.max_text_tokens > 0;
  const int limit =
      text_limit ? options.max_text_tokens : model.max_source_tokens;
  if (input.has_pair() && (!options.takes_pair || !input.has_text())) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ".pair is set, but ",
        options.takes_pair ? "not with tokens" : "only Classify takes pairs"));
  }
  Source source;
  switch (input.input_case()) {
    case v1::Input::kText: {
      ASSIGN_OR_RETURN(
          source, ReadText(input, options, limit, model, tokenizer, field));
      if (model.token_types < 2 || !tokenizer.has_token_types()) {
        source.tokens.types.clear();
      }
      break;
    }
    case v1::Input::kTokens: {
      if (!options.language_mark.empty()) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s.tokens is set, but model '%s' reads the target language in its "
            "source: let the ids begin with the token of '%s', and leave "
            "target_language out",
            field, model.name,
            absl::StripTrailingAsciiWhitespace(options.language_mark)));
      }
      ASSIGN_OR_RETURN(source.tokens, ReadMasked(input.tokens(), model, field));
      if (model.continues_source && !source.tokens.positions.empty()) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s.tokens.attention_mask is set, but model '%s' continues its "
            "tokens: leave out the masked ones",
            field, model.name));
      }
      const std::vector<int>& ids = source.tokens.ids;
      source.empty =
          TrailingSpecial(ids, tokenizer) == static_cast<int>(ids.size());
      if (options.truncate) TruncateIds(limit, tokenizer, source);
      break;
    }
    case v1::Input::kChat: {
      ASSIGN_OR_RETURN(source, ReadChat(input, options, limit, model, tokenizer,
                                        absl::StrCat(field, ".chat")));
      source.tokens.types.clear();
      break;
    }
    case v1::Input::INPUT_NOT_SET:
      return absl::InvalidArgumentError(
          absl::StrCat(field, " is not set, must have text, tokens or a chat"));
  }
  const int size = static_cast<int>(source.tokens.ids.size());
  if (model.continues_source) source.empty = size == 0;
  if (size > limit) {
    return TooManyTokensError(absl::StrFormat(
        "%s has %d tokens, limit is %d (%s)", field, size, limit,
        text_limit ? "max_text_tokens" : "max_source_tokens"));
  }
  if (size == 0 && options.needs_token) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has no tokens, must have one"));
  }
  return source;
}

void FillSourceToken(const Source& source, size_t index,
                     const Tokenizer& tokenizer, v1::SourceToken& to) {
  const int id = source.tokens.ids[index];
  to.set_id(id);
  to.set_piece(std::string(tokenizer.Piece(id, Side::kSource)));
  if (source.origins.empty()) {
    to.set_special(tokenizer.IsSpecial(id, Side::kSource));
    return;
  }
  const TokenOrigin& origin = source.origins[index];
  to.set_special(origin.text < 0);
  to.set_of_pair(origin.text == 1);
  to.set_begin(origin.begin);
  to.set_end(origin.end);
}

}  // namespace attend
