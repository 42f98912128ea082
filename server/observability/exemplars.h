#ifndef ATTEND_SERVER_OBSERVABILITY_EXEMPLARS_H_
#define ATTEND_SERVER_OBSERVABILITY_EXEMPLARS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// A value that a histogram counted, and the trace that shows how it came.
struct Exemplar {
  std::string trace_id;  // empty: there is none
  double value = 0;
  absl::Time time;
};

// The last traced value of each bucket of a histogram. Thread-safe.
class Exemplars {
 public:
  // `bounds`: those of the histogram. One more bucket has what is above.
  explicit Exemplars(std::vector<double> bounds)
      : bounds_(std::move(bounds)), last_(bounds_.size() + 1) {}

  void Set(double value, absl::string_view trace_id, absl::Time now);
  // By bucket. Empty if no value was traced.
  std::vector<Exemplar> Last() const;

 private:
  const std::vector<double> bounds_;
  mutable Mutex mutex_;
  std::vector<Exemplar> last_ ABSL_GUARDED_BY(mutex_);
  bool any_ ABSL_GUARDED_BY(mutex_) = false;
};

// By the name of a histogram and its labels.
using ExemplarMap =
    std::map<std::pair<std::string, std::map<std::string, std::string>>,
             std::vector<Exemplar>>;

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_EXEMPLARS_H_
