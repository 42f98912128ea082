#ifndef ATTEND_SERVER_OBSERVABILITY_LATE_SERIES_H_
#define ATTEND_SERVER_OBSERVABILITY_LATE_SERIES_H_

#include <atomic>
#include <functional>
#include <utility>

namespace attend {

// A series that exists from its first use on, so that Prometheus does not get
// hundreds of zeros. The first use makes the series, which allocates memory and
// takes the registry's lock; later uses read a pointer. Thread-safe, provided
// that `make` returns the same series each time, as families of prometheus-cpp
// do.
template <class Series>
class LateSeries {
 public:
  using Make = std::function<Series&()>;

  LateSeries() = default;
  explicit LateSeries(Make make) : make_(std::move(make)) {}
  // To be moved only while nobody uses the series.
  LateSeries(LateSeries&& other) noexcept
      : make_(std::move(other.make_)), made_(other.made_.load()) {}
  LateSeries& operator=(LateSeries&& other) noexcept {
    make_ = std::move(other.make_);
    made_ = other.made_.load();
    return *this;
  }

  Series& operator*() {
    Series* series = made_.load(std::memory_order_acquire);
    if (series == nullptr) {
      series = &make_();
      made_.store(series, std::memory_order_release);
    }
    return *series;
  }
  Series* operator->() { return &**this; }

 private:
  Make make_;
  std::atomic<Series*> made_{nullptr};
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LATE_SERIES_H_
