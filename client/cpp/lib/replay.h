#ifndef ATTEND_CLIENT_CPP_LIB_REPLAY_H_
#define ATTEND_CLIENT_CPP_LIB_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// The results of a stream that may be made several times. Each time it begins
// anew, and what has been seen is left out. Results are the same each time,
// whatever else the servers do, but a model may have changed meanwhile; then
// the error is UNAVAILABLE. Those that are sampled need a seed.
class Replay {
 public:
  // The stream begins, or begins anew.
  void Begin();

  // Takes the next chunk of the stream, and removes from it what has been seen.
  // False: all of it has been.
  absl::StatusOr<bool> Next(v1::GenerateChunk& chunk);
  absl::StatusOr<bool> Next(v1::TranslateChunk& chunk);
  // A profile is another one each time, and not made again.
  absl::StatusOr<bool> Next(v1::ProfileChunk&) { return true; }

  // The stream has ended well. An error: before what has been seen.
  absl::Status End() const;

 private:
  // What has been seen of a choice or a document, and how much of it the
  // current stream has had.
  struct Result {
    std::string text;
    size_t text_at = 0;
    std::vector<int32_t> ids;
    size_t ids_at = 0;
    bool finished = false;  // the last chunk of a choice has been seen
  };

  std::map<std::pair<int, int>, Result> results_;  // by input and choice
  // The inputs and documents whose last chunk has been seen.
  std::set<int> ended_;
};

// Draws the seed that the server would draw, unless there is one, so that each
// time has the same. It does nothing where results are not sampled.
void SetSeed(v1::GenerationParams& params);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_REPLAY_H_
