#include "server/service/window_list.h"

#include <algorithm>

namespace attend {

std::pair<int, int> WindowList::At(int input) const {
  const int text = static_cast<int>(
      std::upper_bound(ends_.begin(), ends_.end(), input) - ends_.begin());
  return {text, input - (text == 0 ? 0 : ends_[text - 1])};
}

}  // namespace attend
