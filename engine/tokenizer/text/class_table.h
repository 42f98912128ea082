#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_CLASS_TABLE_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_CLASS_TABLE_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace attend {

// Returns the row of a tokenizer class of transformers 5.23, or null if the
// class takes a tokenizer.json as it is. The class builds its tokenizer from
// the vocabulary and the merges of the file; the row says from what else:
//
// * names: the class and its aliases, without "Fast".
// * like: an earlier row, which says what this one does not.
// * keeps_file: the class takes model, normalizer, pre-tokenizer, decoder and
//   added tokens of the file.
// * model: the model of the tokenizer.json without vocabulary and merges.
// * unk: the id of the unknown token of a Unigram model; {"first": n}: that of
//   the first piece of that text, else n; {"scored": n}: that of the piece of
//   that text with score 0, else n; "unk_id": that flag.
// * normalizer, pre_tokenizer, decoder: as in a tokenizer.json. Absent: null.
// * post: the post-processor. {"single", "pair"} are templates of roles with
//   token types ("cls:0 A:0 sep:0"); {"type"} is another post-processor.
//   Absent: that of the file. post_if_none: the same, if the file has none.
//   default: without a file add_bos_token, of this default, and add_eos_token
//   make it.
// * flags: settings of tokenizer_config.json with their defaults.
//   null_is_default: so are those that the file sets to null.
// * roles: the special tokens with their defaults. own_roles: pairs of a role
//   that only this class has and its default.
// * mask_strips, mask_normalized: the mask token removes the spaces before it,
//   and is found in normalized text, where files give nothing but its text.
// * extra: special tokens if the files name no extra ones.
// * none_ids: by role, the id, or the role whose token it is, that stands in
// the
//   templates for a role without a token. drops_none: nothing stands there.
// * makes_vocabulary: the class adds its languages to a vocabulary without any.
// * types: model_input_names has token_type_ids.
// * respecial: special tokens are added once more: "all" as plain ones;
//   "extra": as the class or the files name them, and without a post-processor
//   in the file there is none; "last": the same, but with that of the class.
//
// In these values a text "$name" stands for the flag or the token of that name,
// and an element with "if" is there only if that flag is true. In addition to
// the flags of the row there are charsmap, the table of the file's normalizer,
// and no_charsmap; strips_accents, the opposite of keep_accents; and schemes of
// Metaspace: $always and $first if add_prefix_space is true, else "never";
// $always_first: "always", else "first"; $legacy: that of Llama.
const nlohmann::json* FindClassRow(absl::string_view tokenizer_class);

// The rows of the classes whose tokens are bytes, pieces or parts of words; for
// FindClassRow().
extern const char kByteLevelClasses[];
extern const char kPieceClasses[];
extern const char kPieceMergeClasses[];
extern const char kWordPieceClasses[];

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_CLASS_TABLE_H_
