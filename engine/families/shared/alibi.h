#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_

#include <vector>

namespace attend {

// Slopes of linear biases (Press et al. 2022, section 3), [heads]: of 2^k heads
// 2^(-8i / 2^k) for i in 1, 2, ..., and where their number is no such
// power, those of the next one, every second first.
std::vector<float> AlibiSlopes(int heads);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_
