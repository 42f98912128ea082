#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_

#include <vector>

namespace attend {

// Where a token of an Encoding comes from.
struct TokenOrigin {
  int text = -1;  // 0: the text, 1: its pair, -1: a special token put in
  int begin = 0;  // bytes of that text, from begin to end
  int end = 0;
};

// What Tokenizer::Encode() makes of a text or a pair of them. All vectors have
// one element a token.
struct Encoding {
  std::vector<int> ids;
  std::vector<int> types;  // token types, of models that have them: 0 or 1
  std::vector<TokenOrigin> origins;
  bool truncated = false;  // tokens were left out to keep to a limit

  void Append(int id, int type, TokenOrigin origin) {
    ids.push_back(id);
    types.push_back(type);
    origins.push_back(origin);
  }
};

enum class TruncationSide { kLeft, kRight };

// Which of a text and its pair keeps one token more, where both are cut to an
// odd number: in Hugging Face's library the one that was longer (the pair, if
// none was), in the Python of transformers the text.
enum class OddToken { kOfLonger, kOfText };

// Leaves at most `max_tokens` tokens (0: all of them): what is too much goes
// from one end of a text, of a pair from the longer one until both are equally
// long, then from both ("longest_first" of transformers). Special tokens put in
// stay, unless they alone are too many: then the first `max_tokens` tokens of
// them are left.
void Truncate(int max_tokens, TruncationSide side, Encoding& encoding,
              OddToken odd = OddToken::kOfLonger);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_
