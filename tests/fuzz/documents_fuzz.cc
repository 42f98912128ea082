// Documents. The first byte says the format and the language. Sentences are
// "translated" to their words in reversed order, aligned or not.
#include <algorithm>
#include <string>
#include <vector>

#include "server/documents/document.h"
#include "server/documents/render_sentence.h"
#include "server/documents/text_breaks.h"
#include "tests/fuzz/fuzz.h"
#include "tests/server/documents/read_document.h"

namespace attend {
namespace {

TranslatedText Reverse(const std::string& text, bool aligned) {
  std::vector<Word> words = Words(text);
  TranslatedText reversed;
  for (const Word& word : words) reversed.source_tokens.push_back(word.range);
  std::reverse(words.begin(), words.end());
  for (size_t i = 0; i < words.size(); ++i) {
    const TextRange range = words[i].range;
    const int begin = static_cast<int>(reversed.text.size());
    reversed.text += text.substr(range.begin, range.size()) + " ";
    reversed.target_tokens.push_back(
        {begin, static_cast<int>(reversed.text.size())});
    if (!aligned) continue;
    std::vector<float> weights(words.size());
    weights[words.size() - 1 - i] = 1;
    reversed.weights.insert(reversed.weights.end(), weights.begin(),
                            weights.end());
  }
  return reversed;
}

// Sentences are apart, in order, and have their terms and tags in them.
void CheckSentence(const Document& document, const Sentence& sentence, int at) {
  ATTEND_CHECK(sentence.source.begin >= at);
  ATTEND_CHECK(sentence.source.end > sentence.source.begin);
  ATTEND_CHECK(sentence.source.end <= static_cast<int>(document.source.size()));
  const int size = static_cast<int>(sentence.text.size());
  int end = 0;
  for (const FixedTerm& term : sentence.terms) {
    ATTEND_CHECK(end <= term.range.begin && term.range.end <= size);
    end = term.range.end;
  }
  for (const SentenceTag& tag : sentence.tags) {
    ATTEND_CHECK(0 <= tag.position && tag.position <= size);
    ATTEND_CHECK(sentence.source.begin <= tag.source.begin &&
                 tag.source.end <= sentence.source.end);
  }
}

// What the sentence has to have, it has.
void CheckWritten(const Document& document, const Sentence& sentence,
                  const std::string& written) {
  for (const SentenceTag& tag : sentence.tags) {
    const TextRange source = tag.source;
    const std::string as_it_is =
        document.source.substr(source.begin, source.size());
    ATTEND_CHECK(written.find(tag.written.empty() ? as_it_is : tag.written) !=
                 written.npos);
  }
  for (const FixedTerm& term : sentence.terms) {
    if (!term.raw) continue;
    ATTEND_CHECK(written.find(term.written) != written.npos);
  }
}

// The texts in tags and objects are in the translation.
void CheckInner(const Document& document, const Sentence& sentence) {
  std::vector<std::string> inner;
  int at = sentence.source.begin;
  for (const Sentence& s : sentence.inner) {
    CheckSentence(document, s, at);
    at = s.source.end;
    inner.push_back(RenderSentence(document, s, Reverse(s.text, true)));
  }
  ATTEND_CHECK(at <= sentence.source.end);
  const std::string written =
      RenderSentence(document, sentence, Reverse(sentence.text, true), inner);
  for (const std::string& text : inner) {
    ATTEND_CHECK(written.find(text) != written.npos);
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  if (size == 0) return 0;
  static const Glossary& glossary = *[] {
    auto* const made = new Glossary();
    made->Add("dogs run", "X");
    made->Add("B", "Y & <Z>");
    return made;
  }();
  constexpr const char* kLanguages[] = {"en", "de", "", "zho_Hans", "el"};
  const auto document =
      ReadDocument(std::string(View(data + 1, size - 1)),
                   {.format = static_cast<DocumentFormat>(data[0] % 4),
                    .language = kLanguages[data[0] / 4 % 5],
                    .measure = MeasureBytes(100),
                    .max_sentences = 1000,
                    .glossary = &glossary});
  if (!document.ok()) {
    ATTEND_CHECK(absl::IsInvalidArgument(document.status()) ||
                 absl::IsOutOfRange(document.status()));
    return 0;
  }
  ++accepted_inputs;
  int at = 0;
  for (const Sentence& sentence : document->sentences) {
    CheckSentence(*document, sentence, at);
    at = sentence.source.end;
    for (const bool aligned : {true, false}) {
      CheckWritten(
          *document, sentence,
          RenderSentence(*document, sentence, Reverse(sentence.text, aligned)));
    }
    CheckInner(*document, sentence);
  }
  return 0;
}
