#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_

#include <vector>

namespace attend {

// The slopes of linear biases (Press et al. 2022, section 3), [heads]. For
// 2^k heads they are 2^(-8i / 2^k) for i = 1, 2, ... For any other number of
// heads: the slopes of the next lower power of two, followed by every second
// slope of the next higher one.
std::vector<float> AlibiSlopes(int heads);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ALIBI_H_
