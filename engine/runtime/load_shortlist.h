#ifndef ATTEND_ENGINE_RUNTIME_LOAD_SHORTLIST_H_
#define ATTEND_ENGINE_RUNTIME_LOAD_SHORTLIST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/decoding/shortlist.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Where a shortlist comes from.
struct ShortlistFile {
  std::string path;
  // Of Marian's files only, as in Marian: the number of target tokens, from the
  // vocabulary's first on, that every source has, and the most translations of
  // a source token.
  int first = 100;
  int best = 100;
};

// What was read of a file.
struct ShortlistCounts {
  int64_t lines = 0;
  // Tokens of the file, each counted where it stands, that the vocabulary does
  // not have. Marian and CTranslate2 take the unknown token for them, which no
  // text has; here they are left out.
  int64_t unknown_tokens = 0;
};

struct LoadedShortlist {
  std::unique_ptr<const Shortlist> shortlist;
  ShortlistCounts counts;
};

// Reads a vmap.txt of CTranslate2 (source tokens, a tab, target tokens, all
// separated by spaces; of an empty source: those of every source), or a
// lex.s2t of Marian (target, source, probability), whichever has the form of
// the first line. If source and target have one vocabulary, the tokens of the
// source are targets too in Marian's case, as in Marian. `vocab` is the width
// of the logits. Errors name file, line and token.
absl::StatusOr<LoadedShortlist> LoadShortlist(const ShortlistFile& file,
                                              const Tokenizer& tokenizer,
                                              int vocab);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_LOAD_SHORTLIST_H_
