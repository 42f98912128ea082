#include "tests/server/documents/fake_translation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "absl/strings/ascii.h"
#include "server/documents/text_breaks.h"
#include "tests/server/documents/read_document.h"

namespace attend {

TranslatedText FakeTranslation(const std::string& text, uint32_t seed) {
  const std::vector<Word> words = Words(text);
  std::vector<int> order(words.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (seed > 0) std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  TranslatedText translated;
  for (const Word& word : words) translated.source_tokens.push_back(word.range);
  translated.source_tokens.push_back({});
  for (const int i : order) {
    const TextRange range = words[i].range;
    if (!translated.text.empty()) translated.text += ' ';
    const int begin = static_cast<int>(translated.text.size());
    translated.text +=
        absl::AsciiStrToUpper(text.substr(range.begin, range.size()));
    translated.target_tokens.push_back(
        {begin, static_cast<int>(translated.text.size())});
    std::vector<float> weights(words.size() + 1, 0.1f / (words.size() + 1));
    weights[i] += 0.9f;
    translated.weights.insert(translated.weights.end(), weights.begin(),
                              weights.end());
  }
  return translated;
}

std::string TranslateFake(const Document& document, uint32_t seed) {
  std::string translated;
  int at = 0;
  for (const Sentence& sentence : document.sentences) {
    EXPECT_LE(at, sentence.source.begin);
    EXPECT_LT(sentence.source.begin, sentence.source.end);
    translated.append(document.source, at, sentence.source.begin - at);
    std::vector<std::string> inner;
    for (const Sentence& s : sentence.inner) {
      EXPECT_LE(sentence.source.begin, s.source.begin);
      EXPECT_LE(s.source.end, sentence.source.end);
      inner.push_back(
          RenderSentence(document, s, FakeTranslation(s.text, seed)));
    }
    translated += RenderSentence(document, sentence,
                                 FakeTranslation(sentence.text, seed), inner);
    at = sentence.source.end;
  }
  return translated.append(document.source, at);
}

Document Read(const std::string& source, DocumentFormat format,
              const Glossary& glossary, const std::string& language) {
  auto document = ReadDocument(source, {.format = format,
                                        .language = language,
                                        .measure = MeasureBytes(200),
                                        .max_sentences = 1000,
                                        .glossary = &glossary});
  EXPECT_TRUE(document.ok()) << document.status();
  return *std::move(document);
}

}  // namespace attend
