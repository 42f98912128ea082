#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "server/service/methods.h"
#include "server/service/translate_handler.h"

namespace attend {
namespace {

// Translate: all documents in one answer.
class TranslateAll final : public TranslateHandler {
 public:
  TranslateAll(const Service& service, CallContext& context)
      : TranslateHandler(service, context, /*streaming=*/false) {}

  void Continue(Responder& to) override {
    Advance();
    for (const Part& part : parts()) {
      if (part.ended < part.count) return;
    }
    const absl::Status failed = CommonError();
    if (failed.ok()) {
      v1::TranslateResponse response;
      for (const Part& part : parts()) Fill(part, *response.add_results());
      response.set_model(info().name);
      to.Send(response);
    }
    to.Finish(failed);
  }

 private:
  void Fill(const Part& part, v1::Translation& to) {
    FillDocument(part, to);
    if (!part.status.ok()) return;
    to.set_text(Assemble(part, 0, &to));
    for (int i = 1; i <= alternatives(); ++i) {
      to.add_alternatives(Assemble(part, i, nullptr));
    }
  }

  // The document with the translation number `number` of each sentence, or its
  // last one. Moves the answers of the sentences to `to`, unless that is null.
  std::string Assemble(const Part& part, size_t number, v1::Translation* to) {
    const std::string& source = part.document.source;
    std::string text;
    int at = 0;
    for (int i = part.first; i < part.first + part.count; ++i) {
      if (is_inner(i)) continue;
      const TextRange range = sentence(i).source;
      text.append(source, at, range.begin - at);
      at = range.end;
      const int begin = static_cast<int>(text.size());
      const std::vector<std::string>& texts = piece(i).texts;
      if (!texts.empty()) text += texts[std::min(number, texts.size() - 1)];
      if (to == nullptr) continue;
      v1::TranslatedSentence& filled = *to->add_sentences();
      filled.Swap(&piece(i).answer);
      filled.set_target_begin(begin);
      filled.set_target_end(static_cast<int>(text.size()));
    }
    text.append(source, at, source.size() - at);
    return text;
  }
};

}  // namespace

std::unique_ptr<Handler> NewTranslateHandler(const Service& service,
                                             CallContext& context) {
  return std::make_unique<TranslateAll>(service, context);
}

}  // namespace attend
