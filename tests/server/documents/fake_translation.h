#ifndef ATTEND_TESTS_SERVER_DOCUMENTS_FAKE_TRANSLATION_H_
#define ATTEND_TESTS_SERVER_DOCUMENTS_FAKE_TRANSLATION_H_

#include <cstdint>
#include <string>

#include "server/documents/document.h"
#include "server/documents/render_sentence.h"

namespace attend {

// Each word in capitals, in another order that `seed` says (0: reversed), one
// token a word or mark, aligned with the word that it was. The source has a
// special token at its end.
TranslatedText FakeTranslation(const std::string& text, uint32_t seed);

// The document with all sentences so translated. Checks that the sentences are
// in order, and apart.
std::string TranslateFake(const Document& document, uint32_t seed);

// The document of a source whose sentences may have 200 bytes.
Document Read(const std::string& source, DocumentFormat format,
              const Glossary& glossary = Glossary(),
              const std::string& language = "en");

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_DOCUMENTS_FAKE_TRANSLATION_H_
