#ifndef ATTEND_ENGINE_API_THOUGHT_H_
#define ATTEND_ENGINE_API_THOUGHT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// The reasoning before an answer, which models write between two marks such as
// "<think>" and "</think>". Special tokens in a mark have no text of their own
// and are read by their spelling.
struct Thought {
  struct Special {
    int id;
    std::string spelling;
  };

  std::string begin;
  std::string end;    // empty: the text has no thought
  bool open = false;  // the prompt ends with `begin`, so the text is inside
  std::vector<Special> specials = {};  // special tokens of both marks

  bool possible() const { return !end.empty(); }
};

// Separates, byte by byte, the thought of a text from the answer. The thought
// is at the beginning of the text, after optional white space. Allocates
// nothing; the Thought must outlive the reader. Not thread-safe.
class ThoughtReader {
 public:
  enum class Place {
    kUndecided,  // the text so far may be the beginning of a begin mark
    kInside,
    kAnswer,
  };

  explicit ThoughtReader(const Thought& thought)
      : thought_(&thought),
        place_(!thought.possible() ? Place::kAnswer
               : thought.open      ? Place::kInside
                                   : Place::kUndecided) {}

  void Read(char c);
  // The spelling of a special token that the mark that comes next may have;
  // empty for all other tokens, which are read by their texts.
  absl::string_view Spelling(int id) const;

  // The section of the next byte.
  Place place() const { return place_; }
  // Bytes at the end of the text that may be the beginning of the mark that
  // comes next.
  size_t matched() const { return matched_; }
  // True once a thought has ended.
  bool ended() const { return ended_; }

 private:
  // The mark that comes next.
  const std::string& mark() const {
    return place_ == Place::kInside ? thought_->end : thought_->begin;
  }

  const Thought* thought_;
  Place place_;
  size_t matched_ = 0;
  bool ended_ = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_API_THOUGHT_H_
