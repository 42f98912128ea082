#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_

#include <vector>

namespace attend {

// Where a token of an Encoding comes from: bytes [begin, end) of a text.
struct TokenOrigin {
  // 0: the text; 1: its pair; -1: neither, the token was added.
  int text = -1;
  int begin = 0;
  int end = 0;
  // Number of the word that the token is a part of, as the tokenizer cuts its
  // text into words; -1: unknown.
  int word = -1;
};

// The tokens of a text or of a pair of texts. All vectors have one element a
// token.
struct Encoding {
  std::vector<int> ids;
  std::vector<int> types;  // token types, 0 or 1; 0 if the model has none
  std::vector<TokenOrigin> origins;
  bool truncated = false;  // tokens were left out because of a limit
  // Tokens of the text and of its pair, before any were left out.
  int text_tokens[2] = {0, 0};

  void Append(int id, int type, TokenOrigin origin) {
    ids.push_back(id);
    types.push_back(type);
    origins.push_back(origin);
  }
};

enum class TruncationSide { kLeft, kRight };

// Which of a text and its pair keeps one token more, if both together keep an
// odd number. kOfLonger, as in Hugging Face's library: the longer one; the pair
// if both are equally long. kOfText, as in the Python code of transformers: the
// text.
enum class OddToken { kOfLonger, kOfText };

// What of a pair is cut. kTextOnly: the text, of which at least one token
// stays; if that does not suffice, nothing is cut ("only_first" of
// transformers).
enum class PairCut { kLongerFirst, kTextOnly };

// Leaves at most `max_tokens` tokens; 0: all. Tokens are removed at `side`: of
// a pair, from the longer text until both are equally long, then from both in
// turn ("longest_first" of transformers). Added special tokens stay. If these
// alone are too many, the first `max_tokens` of them stay. Counts text_tokens.
void Truncate(int max_tokens, TruncationSide side, Encoding& encoding,
              OddToken odd = OddToken::kOfLonger,
              PairCut cut = PairCut::kLongerFirst);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ENCODING_H_
