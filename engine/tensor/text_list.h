#ifndef ATTEND_ENGINE_TENSOR_TEXT_LIST_H_
#define ATTEND_ENGINE_TENSOR_TEXT_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/tensor/check.h"

namespace attend {

// An indexed list of many short texts, such as a vocabulary, with an overhead
// of four bytes per text, where strings have 32 or more. Const after the last
// Add(); any thread may read.
class TextList {
 public:
  // All texts together have less than 4 GiB.
  void Add(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    ATTEND_CHECK(bytes_.size() <= std::numeric_limits<uint32_t>::max());
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
    longest_ = std::max(longest_, text.size());
  }
  // Call after the last Add(): frees unused memory.
  void ShrinkToFit() {
    bytes_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

  int size() const { return static_cast<int>(ends_.size()); }
  // `index` in [0, size()). Valid until the next Add().
  absl::string_view operator[](int index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return {bytes_.data() + begin, ends_[index] - begin};
  }
  size_t longest() const { return longest_; }  // bytes; 0 without texts

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;  // end offsets of the texts in `bytes_`
  size_t longest_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_TEXT_LIST_H_
