#include "server/service/translate_request.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/service/translation_languages.h"

namespace attend {
namespace {

constexpr int kMostTerms = 1000;
constexpr size_t kMostTermBytes = 256;

absl::Status CheckUnset(const char* field, bool is_set) {
  if (!is_set) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "params.%s is set, but Translate does not take it", field));
}

absl::Status CheckTerm(const std::string& field, const std::string& text) {
  if (!text.empty() && text.size() <= kMostTermBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d bytes, must be 1 to %d", field, text.size(), kMostTermBytes));
}

// Each alternative is a whole document, with all that is not translated.
absl::Status CheckBytes(const v1::TranslateRequest& request) {
  constexpr int64_t kMaxBytes = 16 << 20;
  int64_t bytes = 0;
  for (const std::string& document : request.documents()) {
    bytes += static_cast<int64_t>(document.size());
  }
  const int64_t limit = kMaxBytes / (request.alternatives() + 1);
  if (request.alternatives() == 0 || bytes <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "documents have %d bytes, limit is %d with alternatives = %d", bytes,
      limit, request.alternatives()));
}

}  // namespace

absl::StatusOr<v1::GenerationParams> ReadTranslationParams(
    const v1::TranslateRequest& request, const ModelInfo& model) {
  v1::GenerationParams params = request.params();
  const std::pair<const char*, bool> unset[] = {
      {"num_return_sequences", params.has_num_return_sequences()},
      {"echo", params.has_echo()},
      {"prompt_log_probs", params.has_prompt_log_probs()},
      {"constraint", params.has_constraint()},
      {"prefix_text", params.has_prefix_text()},
      {"prefix_tokens", params.has_prefix_tokens()}};
  for (const auto& [field, is_set] : unset) {
    const absl::Status status = CheckUnset(field, is_set);
    if (!status.ok()) return status;
  }
  const int alternatives = request.alternatives();
  if (alternatives < 0 || alternatives >= model.max_beams) {
    return absl::InvalidArgumentError(
        absl::StrFormat("alternatives is %d, must be 0 to %d", alternatives,
                        model.max_beams - 1));
  }
  const absl::Status bytes = CheckBytes(request);
  if (!bytes.ok()) return bytes;
  params.set_num_return_sequences(alternatives + 1);
  const int beams =
      params.has_num_beams() ? params.num_beams() : model.generation.num_beams;
  if (!params.do_sample() && beams <= alternatives) {
    params.set_num_beams(alternatives + 1);
  }
  return params;
}

absl::Status CheckTargetLanguage(const v1::TranslateRequest& request,
                                 const Tokenizer& tokenizer) {
  if (!request.target_language().empty() || !NeedsTargetLanguage(tokenizer)) {
    return absl::OkStatus();
  }
  for (const std::string& document : request.documents()) {
    if (absl::StartsWith(document, ">>")) continue;  // it has the token
    return absl::InvalidArgumentError(
        absl::StrCat("target_language is empty, but the model translates to ",
                     NameLanguages(tokenizer.languages(Side::kTarget))));
  }
  return absl::OkStatus();
}

absl::StatusOr<DocumentFormat> ReadFormat(v1::DocumentFormat format) {
  switch (format) {
    case v1::DOCUMENT_FORMAT_TEXT:
      return DocumentFormat::kText;
    case v1::DOCUMENT_FORMAT_HTML:
      return DocumentFormat::kHtml;
    case v1::DOCUMENT_FORMAT_XML:
      return DocumentFormat::kXml;
    case v1::DOCUMENT_FORMAT_MARKDOWN:
      return DocumentFormat::kMarkdown;
    default:
      return absl::InvalidArgumentError(absl::StrFormat(
          "format is %d, must be in [%d, %d]", static_cast<int>(format),
          static_cast<int>(v1::DocumentFormat_MIN),
          static_cast<int>(v1::DocumentFormat_MAX)));
  }
}

absl::StatusOr<Glossary> ReadGlossary(const v1::TranslateRequest& request) {
  if (request.glossary_size() > kMostTerms) {
    return absl::InvalidArgumentError(
        absl::StrFormat("glossary has %d terms, limit is %d",
                        request.glossary_size(), kMostTerms));
  }
  Glossary glossary;
  for (int i = 0; i < request.glossary_size(); ++i) {
    const v1::GlossaryTerm& term = request.glossary(i);
    const std::string field = absl::StrCat("glossary[", i, "]");
    absl::Status status = CheckTerm(field + ".source", term.source());
    if (status.ok()) status = CheckTerm(field + ".target", term.target());
    if (!status.ok()) return status;
    if (!glossary.Add(term.source(), term.target())) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.source has no word or more than %d", field,
                          Glossary::kMostWords));
    }
  }
  return glossary;
}

SentenceLimit MostSentences(const v1::TranslateRequest& request,
                            const Service& service) {
  const bool figures = request.alignments() == v1::ALIGNMENTS_SOFT ||
                       request.params().log_probs() ||
                       request.params().top_log_probs() > 0;
  if (figures && service.max_batch_inputs < service.max_document_sentences) {
    return {service.max_batch_inputs,
            "max_batch_inputs, for soft alignments and log_probs"};
  }
  return {service.max_document_sentences, "max_document_sentences"};
}

}  // namespace attend
