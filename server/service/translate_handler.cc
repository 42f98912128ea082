#include "server/service/translate_handler.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/encode_within.h"
#include "server/documents/text_breaks.h"
#include "server/service/params.h"
#include "server/service/request_fields.h"
#include "server/service/tasks.h"
#include "server/service/translate_request.h"
#include "server/service/work_pool.h"

namespace attend {

absl::StatusOr<int> TranslateHandler::Prepare(
    const v1::TranslateRequest& request) {
  if (!glossary_) RETURN_IF_ERROR(Check(request));
  ASSIGN_OR_RETURN(const bool all, ReadDocuments(request));
  if (!all) return kMore;
  bool aligned = false;
  for (int i = 0; i < static_cast<int>(pieces_.size()); ++i) {
    generate_.add_inputs()->set_text(languages_.prefix + sentence(i).text);
    aligned |= NeedsAlignment(sentence(i));
  }
  generate_.set_alignments(aligned ? std::max(wanted_, v1::ALIGNMENTS_HARD)
                                   : wanted_);
  RETURN_IF_ERROR(call_.PrepareInputs(generate_, model()));
  return generate_.inputs_size();
}

absl::Status TranslateHandler::Check(const v1::TranslateRequest& request) {
  RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_GENERATE}));
  if (info().continues_source) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "model '%s' continues texts, it translates none", info().name));
  }
  RETURN_IF_ERROR(service().CheckCount("documents", request.documents_size()));
  RETURN_IF_ERROR(ReadParams(request));
  RETURN_IF_ERROR(CheckTargetLanguage(request, tokenizer()));
  ASSIGN_OR_RETURN(format_, ReadFormat(request.format()));
  ASSIGN_OR_RETURN(glossary_, ReadGlossary(request));
  return absl::OkStatus();
}

absl::Status TranslateHandler::ReadParams(const v1::TranslateRequest& request) {
  ASSIGN_OR_RETURN(*generate_.mutable_params(),
                   ReadTranslationParams(request, info()));
  ASSIGN_OR_RETURN(languages_,
                   ChooseLanguages(request.source_language(),
                                   request.target_language(), tokenizer()));
  generate_.set_source_language(languages_.source);
  generate_.set_target_language(languages_.target);
  wanted_ = request.alignments();
  alternatives_ = request.alternatives();
  priority_ = request.priority();
  // Of the values of a request, errors are to come before work.
  generate_.set_alignments(wanted_);
  return call_.PrepareInputs(generate_, model());
}

absl::StatusOr<bool> TranslateHandler::ReadDocuments(
    const v1::TranslateRequest& request) {
  const SentenceLimit limit = MostSentences(request, service());
  size_t bytes = 0;
  while (static_cast<int>(parts_.size()) < request.documents_size()) {
    if (bytes >= kShortWork) return false;
    const int index = static_cast<int>(parts_.size());
    const absl::StatusOr<size_t> read =
        ReadDocument(request.documents(index),
                     limit.count - static_cast<int>(pieces_.size()));
    if (!read.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "documents[%d] %s%s", index, read.status().message(),
          absl::IsOutOfRange(read.status())
              ? absl::StrFormat("; all documents may have %d (%s)", limit.count,
                                limit.name)
              : ""));
    }
    bytes += *read;
  }
  return true;
}

absl::StatusOr<size_t> TranslateHandler::ReadDocument(const std::string& source,
                                                      int max_sentences) {
  if (reader_ == nullptr) {
    ASSIGN_OR_RETURN(reader_, DocumentReader::Open(
                                  source, {.format = format_,
                                           .language = languages_.of_documents,
                                           .measure =
                                               [this](absl::string_view text) {
                                                 return Measure(text);
                                               },
                                           .max_sentences = max_sentences,
                                           .glossary = &*glossary_}));
  }
  ASSIGN_OR_RETURN(const bool whole, reader_->Read(kShortWork));
  if (!whole) return kShortWork;
  Part part = {.document = reader_->Take(),
               .first = static_cast<int>(pieces_.size())};
  reader_.reset();
  AddPieces(part.document);
  part.count = static_cast<int>(pieces_.size()) - part.first;
  parts_.push_back(std::move(part));
  return source.size();
}

void TranslateHandler::AddPieces(const Document& document) {
  const int index = static_cast<int>(parts_.size());
  for (int i = 0; i < static_cast<int>(document.sentences.size()); ++i) {
    const int inner = static_cast<int>(document.sentences[i].inner.size());
    for (int k = -1; k < inner; ++k) {
      pieces_.push_back({.document = index, .sentence = i, .inner = k});
    }
  }
}

double TranslateHandler::Measure(absl::string_view text) const {
  const size_t limit = info().max_source_tokens;
  const size_t size = languages_.prefix.size() + text.size();
  // A token has a byte at least; special tokens come in addition.
  constexpr size_t kSpecial = 8;
  if (size + kSpecial <= limit) return 0;
  if (size > MaxTextBytes(tokenizer(), static_cast<int>(limit))) {
    return std::numeric_limits<double>::infinity();
  }
  const std::string prefixed = absl::StrCat(languages_.prefix, text);
  const auto encoding =
      tokenizer().Encode({.text = prefixed, .language = languages_.source});
  // What cannot be tokenised is an error of the sentence.
  if (!encoding.ok()) return 0;
  return static_cast<double>(encoding->ids.size()) / limit;
}

absl::Status TranslateHandler::Submit(const v1::TranslateRequest&, int index,
                                      InputState& input) {
  read_ = index + 1;
  Piece& piece = pieces_[index];
  ASSIGN_OR_RETURN(std::optional<GenerateInput> read,
                   call_.Read(generate_, index,
                              absl::StrCat("documents[", piece.document,
                                           "], sentence ", piece.sentence),
                              input.call()));
  if (!read) {
    input.End(absl::OkStatus(), call_.EmptyOutput());
    return absl::OkStatus();
  }
  std::get<GenerateTask>(read->request.task).params.alignments =
      wanted_ != v1::ALIGNMENTS_NONE || NeedsAlignment(sentence(index));
  piece.input = std::move(read);
  SubmitWaiting();
  return absl::OkStatus();
}

void TranslateHandler::SubmitWaiting() {
  int others = running();
  for (; next_ < read_; ++next_) {
    Piece& piece = pieces_[next_];
    if (!piece.input) continue;  // it has ended
    if (others >= service().max_batch_inputs) return;
    if (!SubmitNext(others > 0)) return;
    piece.input.reset();
    ++others;
  }
}

bool TranslateHandler::SubmitNext(bool others_run) {
  Piece& piece = pieces_[next_];
  InputState& state = input(next_);
  const absl::Status& failed = parts_[piece.document].status;
  if (!failed.ok() && !prepared_) {
    state.End(failed);
    return true;
  }
  if (!prepared_ &&
      !state.Prepare(std::move(piece.input->request), piece.input->facts,
                     piece.input->limits, priority_)) {
    return true;
  }
  const absl::Status status = state.TrySubmit();
  prepared_ = absl::IsResourceExhausted(status) && others_run;
  if (prepared_) return false;
  if (!status.ok()) state.Reject(status);
  return true;
}

void TranslateHandler::Advance() {
  // What is submitted may end at once.
  while (RenderEnded()) SubmitWaiting();
}

}  // namespace attend
