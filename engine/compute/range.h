#ifndef ATTEND_ENGINE_COMPUTE_RANGE_H_
#define ATTEND_ENGINE_COMPUTE_RANGE_H_

namespace attend {

// Items [begin, end) of a list.
struct Range {
  int begin = 0;
  int end = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_RANGE_H_
