#ifndef ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_
#define ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_

#include <cstddef>

#include "engine/api/engine.h"

namespace attend {

// What the FakeEngine answers.

// The i-th token that the fake generates for a source, or prompt, of so many
// tokens.
int FakeToken(int tokens, int i);

// Number i of a token's vector, or the score of its label i; of the whole
// source: the sum over its tokens.
float FakeValue(const SourceTokens& source, int token, int i);

// Of the prompt's token number i + 1.
float FakePromptLogProb(size_t i);

// The k-th candidate for a masked token; its log-probability is -1 - k.
int FakeCandidate(const SourceTokens& source, int token, int k);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_RESULTS_H_
