#include <memory>
#include <utility>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/service/choice_text.h"
#include "server/service/generate.h"

namespace attend {
namespace {

// How far one choice has been sent.
struct ChoiceStream {
  explicit ChoiceStream(ChoiceText stream_text)
      : text(std::move(stream_text)) {}
  ChoiceText text;
  size_t sent = 0;  // tokens
  bool ended = false;
};

struct InputStream {
  std::vector<ChoiceStream> choices;
  bool prompt_sent = false;  // or is not wanted
  bool ended = false;        // its last chunk has been sent
};

// What one choice has grown by, copied out so that no lock is held while it is
// put into words.
struct Growth {
  size_t choice = 0;
  ChoiceOutput output;  // the new part; `finish` is set if it is the last
  const ChoiceOutput* prompt = nullptr;  // of the input, constant
  bool last_of_input = false;
};

// A batch in, chunks out as they come.
class GenerateStreamHandler final
    : public Handler<v1::GenerateRequest, v1::GenerateChunk> {
 public:
  GenerateStreamHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::Status Start(const v1::GenerateRequest& request) override {
    RETURN_IF_ERROR(call_.Start(request, true, service_, context_));
    streams_.resize(call_.inputs.size());
    for (size_t input = 0; input < streams_.size(); ++input) {
      streams_[input].prompt_sent = !call_.wants_prompt();
      for (int i = 0; i < call_.params.num_return_sequences; ++i) {
        streams_[input].choices.emplace_back(call_.NewText(input));
      }
    }
    return absl::OkStatus();
  }

  // Inputs take turns, so that a busy one does not hide the others.
  bool Next(v1::GenerateChunk& chunk) override {
    for (size_t i = 0; i < streams_.size() && !ended_; ++i) {
      const size_t index = (turn_ + i) % streams_.size();
      if (!NextOf(index, chunk)) continue;
      chunk.set_input(static_cast<int>(index));
      turn_ = index + 1;
      ended_ = ended_inputs_ == streams_.size();
      return true;
    }
    return false;
  }
  bool ended() const override { return ended_; }
  absl::Status status() const override { return status_; }

  bool quiet() const override {
    std::lock_guard lock(context_.mutex());
    return AllDone(call_.inputs);
  }
  CallSummary summary() const override {
    std::lock_guard lock(context_.mutex());
    return Summarize(call_.inputs);
  }

 private:
  bool NextOf(size_t index, v1::GenerateChunk& chunk) {
    InputStream& stream = streams_[index];
    if (stream.ended) return false;
    const InputState& input = *call_.inputs[index];
    Growth growth;
    absl::Status failure;
    {
      std::lock_guard lock(context_.mutex());
      if (input.done() && !input.status().ok()) {
        failure = input.status();
        status_ = CommonError(call_.inputs);
        ended_ = !status_.ok();
        if (ended_) return false;
      } else if (!TakeGrowth(input, stream, growth)) {
        return false;
      }
    }
    if (failure.ok()) {
      if (!std::exchange(stream.prompt_sent, true)) {
        call_.FillPrompt(index, *growth.prompt, *chunk.mutable_prompt());
      }
      Fill(growth, stream.choices[growth.choice], chunk);
    }
    if (!failure.ok() || growth.last_of_input) {
      // Done: the worker touches it no more.
      *chunk.mutable_status() = ToProto(failure);
      *chunk.mutable_usage() = MakeUsage(input.facts(), input.output());
      *chunk.mutable_timings() = MakeTimings(input.times(), context_.arrival());
      stream.ended = true;
      ++ended_inputs_;
    }
    return true;
  }

  // The first choice that has something new. With the mutex held. The end of
  // the last choice waits for that of the input: both go into one chunk.
  bool TakeGrowth(const InputState& input, const InputStream& stream,
                  Growth& growth) const {
    const std::vector<ChoiceOutput>& choices = input.output().choices;
    for (size_t i = 0; i < choices.size(); ++i) {
      const ChoiceStream& choice = stream.choices[i];
      const ChoiceOutput& output = choices[i];
      const bool last = OthersEnded(stream, choices.size(), i);
      const bool ends =
          output.finish != FinishReason::kNone && (input.done() || !last);
      if (choice.ended || (choice.sent == output.tokens.size() && !ends)) {
        continue;
      }
      growth.choice = i;
      const size_t top = call_.params.top_log_probs;
      CopyFrom(output.tokens, choice.sent, growth.output.tokens);
      CopyFrom(output.log_probs, choice.sent, growth.output.log_probs);
      CopyFrom(output.top, choice.sent * top, growth.output.top);
      if (ends) growth.output.finish = output.finish;
      growth.output.score = output.score;
      growth.prompt = &input.output().prompt;
      growth.last_of_input = ends && last;
      return true;
    }
    return false;
  }

  template <class T>
  static void CopyFrom(const std::vector<T>& from, size_t begin,
                       std::vector<T>& to) {
    if (begin < from.size()) to.assign(from.begin() + begin, from.end());
  }

  static bool OthersEnded(const InputStream& stream, size_t choices,
                          size_t index) {
    for (size_t i = 0; i < choices; ++i) {
      if (i != index && !stream.choices[i].ended) return false;
    }
    return true;
  }

  void Fill(const Growth& growth, ChoiceStream& choice,
            v1::GenerateChunk& chunk) const {
    const ChoiceOutput& output = growth.output;
    chunk.set_choice(static_cast<int>(growth.choice));
    chunk.mutable_ids()->Add(output.tokens.begin(), output.tokens.end());
    std::string* text = chunk.mutable_text();
    for (int id : output.tokens) text->append(choice.text.Append(id));
    AddLogProbs(output, 0, call_.params.top_log_probs, call_.model->tokenizer,
                chunk.mutable_log_probs());
    choice.sent += output.tokens.size();
    if (output.finish == FinishReason::kNone) return;
    text->append(choice.text.Flush());
    chunk.set_finish_reason(ToProto(output.finish));
    chunk.set_score(output.score);
    choice.ended = true;
  }

  const Service& service_;
  CallContext& context_;
  GenerateCall call_;
  std::vector<InputStream> streams_;
  size_t turn_ = 0;
  size_t ended_inputs_ = 0;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace

HandlerPtr<v1::GenerateRequest, v1::GenerateChunk> NewGenerateStreamHandler(
    const Service& service, CallContext& context) {
  return std::make_unique<GenerateStreamHandler>(service, context);
}

}  // namespace attend
