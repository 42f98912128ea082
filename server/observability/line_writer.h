#ifndef ATTEND_SERVER_OBSERVABILITY_LINE_WRITER_H_
#define ATTEND_SERVER_OBSERVABILITY_LINE_WRITER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// Writes lines to a file descriptor. The writing is done by a thread of the
// LineWriter, so callers never wait for a slow terminal, pipe or disk. New
// lines are dropped while kMaxQueuedLines lines wait, or when there is no
// memory for them, and one line says how many. A line that the descriptor does
// not take, for example because a disk is full, is lost. Thread-safe. The
// destructor writes the lines that still wait, for at most kLastWords.
class LineWriter {
 public:
  static constexpr size_t kMaxQueuedLines = 4096;
  static constexpr absl::Duration kLastWords = absl::Seconds(1);

  // Makes the line that says how many were dropped; with a newline at its end.
  using DroppedLine = std::function<std::string(int64_t lines)>;

  // `file_descriptor` outlives the LineWriter, or the next SwitchTo().
  LineWriter(int file_descriptor, DroppedLine dropped_line);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues the line that `make` makes, with a newline at its end.
  void Write(absl::FunctionRef<std::string()> make);
  // Lines that are not written yet go to this descriptor, which the LineWriter
  // now owns. The one before is closed if it was owned, too; a line that it has
  // taken a part of is written again.
  void SwitchTo(int file_descriptor);
  // Waits until all lines so far are written, for at most `most`. For a process
  // that ends without destructors.
  void Flush(absl::Duration most);
  // The lines that were dropped or lost so far.
  int64_t dropped() const { return all_dropped_; }

 private:
  // Not OK: too many lines wait.
  absl::Status Queue(std::string line);
  void RunWriter();
  // False as of WriteAll().
  bool TellOfDropped(int64_t lines);
  // False: nobody has taken it, and the writer is about to go.
  bool WriteAll(absl::string_view line);
  // Uses the descriptor that SwitchTo() got; false: it got none.
  bool Switch();
  // Waits until the descriptor takes PIPE_BUF bytes, or there is another one;
  // false: the writer has to go.
  bool WaitUntilWritable();

  const DroppedLine dropped_line_;
  std::atomic<int> next_descriptor_ = -1;  // -1: none
  std::atomic<int64_t> all_dropped_ = 0;
  // Deadline of the last lines, in nanoseconds of SteadyNow() since 1970;
  // infinite until closed_ is true.
  std::atomic<int64_t> end_{INT64_MAX};

  Mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable written_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;  // lines that were in lines_
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;  // and not told of
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  // The thread's own.
  int file_descriptor_;
  bool owned_ = false;
  bool torn_ = false;  // the descriptor has a part of a line that was lost

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LINE_WRITER_H_
