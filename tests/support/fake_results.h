#ifndef ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_
#define ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_

#include <cstddef>

#include "engine/api/engine.h"

namespace attend {

// The results of the FakeEngine.

// The i-th token that is generated for a source or prompt of `tokens` tokens.
int FakeToken(int tokens, int i);

// Number i of a token's vector, or the score of the token's label i. That of
// the whole source is the sum over its tokens.
float FakeValue(const SourceTokens& source, int token, int i);

// How much token i is made from a token of the source: 3/4 from token i, modulo
// their number, and equally from the others.
float FakeWeight(const SourceTokens& source, int i, int token);

// The log-probability of token i + 1 of the prompt.
float FakePromptLogProb(size_t i);

// The k-th candidate for a masked token; its log-probability is -1 - k.
int FakeCandidate(const SourceTokens& source, int token, int k);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_
