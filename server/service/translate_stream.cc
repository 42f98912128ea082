#include <memory>
#include <string>

#include "server/service/methods.h"
#include "server/service/translate_handler.h"

namespace attend {
namespace {

// TranslateStream: sentences in the order of the documents, each as soon as it
// and all before it are there.
class TranslateStreamHandler final : public TranslateHandler {
 public:
  TranslateStreamHandler(const Service& service, CallContext& context)
      : TranslateHandler(service, context, /*streaming=*/false) {}

  void Continue(Responder& to) override {
    Advance();
    const Part& part = parts()[document_];
    while (sent_ < part.count && is_inner(part.first + sent_)) ++sent_;
    if (!part.status.ok() || sent_ == part.count) return SendEnd(part, to);
    const int index = part.first + sent_;
    if (!piece(index).rendered) return;
    const Sentence& from = sentence(index);
    v1::TranslateChunk chunk;
    chunk.set_document(static_cast<int>(document_));
    chunk.set_text(part.document.source.substr(at_, from.source.begin - at_));
    at_ = from.source.end;
    v1::TranslatedSentence& translated = *chunk.mutable_sentence();
    translated.Swap(&piece(index).answer);
    translated.set_target_begin(size_ + static_cast<int>(chunk.text().size()));
    if (!piece(index).texts.empty()) {
      chunk.mutable_text()->append(piece(index).texts.front());
    }
    size_ += static_cast<int>(chunk.text().size());
    translated.set_target_end(size_);
    ++sent_;
    to.Send(chunk);
  }

 private:
  // The last chunk of a document. An error waits for all sentences of the
  // document, because the chunk says what they took.
  void SendEnd(const Part& part, Responder& to) {
    if (part.ended < part.count) return;
    v1::TranslateChunk chunk;
    chunk.set_document(static_cast<int>(document_));
    FillDocument(part, chunk);
    if (part.status.ok()) chunk.set_text(part.document.source.substr(at_));
    at_ = sent_ = size_ = 0;
    const bool last = ++document_ == parts().size();
    const absl::Status failed = last ? CommonError() : absl::OkStatus();
    if (failed.ok()) to.Send(chunk);
    if (last) to.Finish(failed);
  }

  size_t document_ = 0;  // that is being sent
  int sent_ = 0;         // sentences of it
  int at_ = 0;           // bytes of its source that were sent
  int size_ = 0;         // bytes of its translation that were sent
};

}  // namespace

std::unique_ptr<Handler> NewTranslateStreamHandler(const Service& service,
                                                   CallContext& context) {
  return std::make_unique<TranslateStreamHandler>(service, context);
}

}  // namespace attend
