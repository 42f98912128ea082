#ifndef ATTEND_ENGINE_TOKENIZER_SPM_MODEL_CARD_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_MODEL_CARD_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// The codes of languages that the README.md of a translation model names, as
// the hub's models of OPUS-MT do. Each list may be empty; no code is longer
// than 32 bytes.
struct ModelCard {
  // Languages of the metadata before the text ("language: [en, de]"): those of
  // both sides.
  std::vector<std::string> languages;
  // Of the lines "source languages: en", "source language(s): eng" or
  // "src_constituents: {'eng'}" of the text; likewise of targets.
  std::vector<std::string> sources, targets;
};

// Reads the text of a README.md. What is spelled in another way is no code of a
// language.
ModelCard ParseModelCard(absl::string_view text);

// Reads the README.md of a directory. Without one that can be read, and that
// has at most 1 MiB, the card is empty: it is a remark for people.
ModelCard LoadModelCard(const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_MODEL_CARD_H_
