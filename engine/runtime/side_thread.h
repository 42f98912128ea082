#ifndef ATTEND_ENGINE_RUNTIME_SIDE_THREAD_H_
#define ATTEND_ENGINE_RUNTIME_SIDE_THREAD_H_

#include <condition_variable>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"

namespace attend {

// A thread that does small jobs beside a worker, in the order in which they
// come. It is started by the first job. Used by one worker.
class SideThread {
 public:
  // A job that is done again and again, and its place in the queue. Belongs to
  // who the job is for.
  class Job {
   public:
    explicit Job(std::function<void()> work) : work_(std::move(work)) {}
    // Waits for the end of the work if it is being done; otherwise it is not
    // done any more.
    ~Job();
    Job(const Job&) = delete;

   private:
    friend class SideThread;
    const std::function<void()> work_;
    SideThread* thread_ = nullptr;  // where it was queued
    bool waiting_ = false;          // guarded by thread_->mutex_
  };

  // Room for `max_jobs` jobs at a time.
  explicit SideThread(int max_jobs) { queue_.reserve(max_jobs); }
  ~SideThread();
  SideThread(const SideThread&) = delete;

  // Queues a job that is not queued. Both must live until Finish().
  void Start(Job& job);
  // Waits until the job is done, if it was queued.
  void Finish(Job& job);

 private:
  void Run();
  // Removes the job from the queue, or waits for its end.
  void Cancel(Job& job);

  Mutex mutex_;
  std::condition_variable changed_;  // a job's waiting_, queue_ or stop_
  std::vector<Job*> queue_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_SIDE_THREAD_H_
