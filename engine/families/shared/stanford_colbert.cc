#include "engine/families/shared/stanford_colbert.h"

#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/families/shared/token_modules.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr IntRange kTokens = {1, kPositions.max};

// Puts a token of the vocabulary, which has no other use, before texts.
absl::Status AddMark(const JsonFile& metadata, const char* key,
                     const char* fallback, const char* prompt, Family& family) {
  ASSIGN_OR_RETURN(const std::string mark, metadata.StringOr(key, fallback));
  family.prompts[prompt] = mark + " ";
  family.prefixes.push_back(mark);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadStanfordColbert(const std::string& directory, Family& family) {
  ASSIGN_OR_RETURN(const JsonFile metadata,
                   JsonFile::LoadOrEmpty(directory + "/artifact.metadata"));
  family.spec.embed.pooled = false;
  DenseSpec projection;
  projection.unit_length = true;
  ASSIGN_OR_RETURN(projection.out, NumberOr(metadata, "dim", 128, kHidden));
  family.spec.embed.tokens.emplace().layers = {projection};
  AddTensor("tokens.0.weight", {"linear.weight"}, family.names);
  RETURN_IF_ERROR(
      AddMark(metadata, "query_token_id", "[unused0]", "query", family));
  RETURN_IF_ERROR(
      AddMark(metadata, "doc_token_id", "[unused1]", "document", family));
  TokenVectorsWords& words = family.token_vectors;
  ASSIGN_OR_RETURN(words.expanded_tokens,
                   NumberOr(metadata, "query_maxlen", 32, kTokens));
  words.query_tokens = words.expanded_tokens;
  ASSIGN_OR_RETURN(words.document_tokens,
                   NumberOr(metadata, "doc_maxlen", 0, kTokens));
  ASSIGN_OR_RETURN(words.expansion_attended,
                   metadata.BoolOr("attend_to_mask_tokens", false));
  ASSIGN_OR_RETURN(const bool masks, metadata.BoolOr("mask_punctuation", true));
  if (masks) words.skipped = Punctuation();
  return absl::OkStatus();
}

}  // namespace attend
