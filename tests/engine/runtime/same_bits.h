#ifndef ATTEND_TESTS_ENGINE_RUNTIME_SAME_BITS_H_
#define ATTEND_TESTS_ENGINE_RUNTIME_SAME_BITS_H_

#include <vector>

#include "engine/api/output.h"

namespace attend {

// Fails the test where a number or token is another, with its place.
void ExpectSameBits(const ChoiceOutput& a, const ChoiceOutput& b);
void ExpectSameBits(const std::vector<SequenceOutput>& a,
                    const std::vector<SequenceOutput>& b);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_RUNTIME_SAME_BITS_H_
