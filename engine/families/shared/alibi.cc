#include "engine/families/shared/alibi.h"

#include <cmath>

namespace attend {

std::vector<float> AlibiSlopes(int heads) {
  int power = 1;
  while (power < heads) power *= 2;
  std::vector<float> slopes;
  const auto add = [&](int first, int step) {
    for (int i = first; i <= power; i += step) {
      if (static_cast<int>(slopes.size()) == heads) return;
      slopes.push_back(static_cast<float>(std::exp2(-8.0 * i / power)));
    }
  };
  if (power == heads) {
    add(1, 1);
  } else {
    add(2, 2);
    add(1, 2);
  }
  return slopes;
}

}  // namespace attend
