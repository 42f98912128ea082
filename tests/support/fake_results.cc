#include "tests/support/fake_results.h"

namespace attend {

int FakeToken(int tokens, int i) { return (tokens * 31 + i) % 1000; }

float FakeValue(const SourceTokens& source, int token, int i) {
  const int type = source.types.empty() ? 0 : source.types[token];
  return static_cast<float>(source.ids[token] % 7 + 10 * i + 100 * type + 1);
}

float FakeWeight(const SourceTokens& source, int i, int token) {
  const int tokens = static_cast<int>(source.ids.size());
  if (tokens == 1) return 1;
  return i % tokens == token ? 0.75f : 0.25f / static_cast<float>(tokens - 1);
}

float FakePromptLogProb(size_t i) { return -0.25f * static_cast<float>(i + 1); }

int FakeCandidate(const SourceTokens& source, int token, int k) {
  return 260 + (source.ids[token] + token) % 10 + k;
}

}  // namespace attend
