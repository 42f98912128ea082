#ifndef ATTEND_SERVER_SERVICE_TRANSLATE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_TRANSLATE_HANDLER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/documents/document.h"
#include "server/documents/glossary.h"
#include "server/documents/render_sentence.h"
#include "server/service/engine_handler.h"
#include "server/service/generate.h"
#include "server/service/translation_languages.h"

namespace attend {

// What Translate and TranslateStream share. The inputs of the call are the
// sentences of its documents. No more of them than max_batch_inputs wait or run
// at once, and where the scheduler has no room for more, they wait here.
class TranslateHandler : public EngineHandler<v1::TranslateRequest> {
 protected:
  using EngineHandler::EngineHandler;

  // A sentence and what became of it. Those inside of another one follow it:
  // they have no place of their own in the answer.
  struct Piece {
    int document = 0;
    int sentence = 0;  // of the document
    int inner = -1;    // of the sentence; -1: the piece is the sentence
    std::optional<GenerateInput> input =
        std::nullopt;  // read, and not submitted yet
    bool ended = false;
    bool rendered = false;  // what follows is set
    // Once it and its inner ones have ended well: its translations as the
    // document has them, best first, and what the client gets of it, but for
    // its place.
    std::vector<std::string> texts = {};
    v1::TranslatedSentence answer = {};
  };
  // A document, the inputs that are its sentences, and the first error.
  struct Part {
    Document document;
    int first = 0;
    int count = 0;
    int ended = 0;
    absl::Status status = absl::OkStatus();
  };

  // Takes what has ended, and submits what has room. To be called first in
  // Continue().
  void Advance();

  const std::vector<Part>& parts() const { return parts_; }
  Piece& piece(int index) { return pieces_[index]; }
  bool is_inner(int index) const { return pieces_[index].inner >= 0; }
  const Sentence& sentence(int index) const {
    const Piece& piece = pieces_[index];
    const Sentence& outer =
        parts_[piece.document].document.sentences[piece.sentence];
    return piece.inner < 0 ? outer : outer.inner[piece.inner];
  }
  // The error with which all documents failed; OK if one has not.
  absl::Status CommonError() const;
  // Fills the status, usage and timings of a document that has ended.
  template <class Answer>
  void FillDocument(const Part& part, Answer& answer) const {
    *answer.mutable_status() = ToProto(part.status);
    *answer.mutable_usage() = UsageOf(part);
    *answer.mutable_timings() = TimingsOf(part);
  }
  int alternatives() const { return alternatives_; }

 private:
  absl::StatusOr<int> Prepare(const v1::TranslateRequest& request) override;
  absl::Status Submit(const v1::TranslateRequest& request, int index,
                      InputState& input) override;

  absl::Status ReadParams(const v1::TranslateRequest& request);
  // All but the documents.
  absl::Status Check(const v1::TranslateRequest& request);
  // Reads as much of them as is short work. True: to the end.
  absl::StatusOr<bool> ReadDocuments(const v1::TranslateRequest& request);
  // Reads as much of the document after parts_ as is short work, and returns
  // about how many bytes that was. With the end of the document it comes to
  // parts_.
  absl::StatusOr<size_t> ReadDocument(const std::string& source,
                                      int max_sentences);
  // See MeasureText.
  double Measure(absl::string_view text) const;
  // Takes what has ended, one input after the other: little work is left when
  // the last one ends. False: nothing has ended since the last call.
  bool RenderEnded();
  void AddPieces(const Document& document);
  // Renders the sentence that piece `index` is or is in, if it has ended with
  // all that is in it.
  void RenderWhole(int index);
  void Render(int index, int inner);
  void FillAnswer(int index);
  void SubmitWaiting();
  // False: there is no room now.
  bool SubmitNext(bool others_run);
  v1::Usage UsageOf(const Part& part) const;
  v1::Timings TimingsOf(const Part& part) const;

  TranslationLanguages languages_;
  v1::GenerateRequest generate_;  // whose inputs are the sentences
  GenerateCall call_;
  v1::Alignments wanted_ = v1::ALIGNMENTS_NONE;  // by the client
  int alternatives_ = 0;
  int priority_ = 0;
  DocumentFormat format_ = DocumentFormat::kText;
  std::optional<Glossary> glossary_;        // set once all else was checked
  std::unique_ptr<DocumentReader> reader_;  // of the document after parts_
  std::vector<Part> parts_;
  std::vector<Piece> pieces_;  // by input
  int read_ = 0;               // inputs that Submit() has seen
  int next_ = 0;               // the next input to submit
  bool prepared_ = false;      // the next input is, and has found no room
  std::vector<int> ended_;     // inputs that were taken last
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TRANSLATE_HANDLER_H_
