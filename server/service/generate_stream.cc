#include <memory>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"
#include "engine/tensor/status_macros.h"
#include "server/service/choice_text.h"
#include "server/service/engine_handler.h"
#include "server/service/generate.h"
#include "server/service/methods.h"

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

// The new tokens of one choice. They are copied while the mutex is held, and
// turned into text when the mutex is free again.
struct Growth {
  size_t choice = 0;
  // New tokens. If there will be no more, `finish` is set, and `alignment` is
  // that of all tokens.
  ChoiceOutput output;
  const ChoiceOutput* prompt = nullptr;  // the input's prompt, constant
  bool last_of_input = false;
};

// GenerateStream: each chunk is sent as soon as it is there.
class GenerateStreamHandler final : public EngineHandler<v1::GenerateRequest> {
 public:
  GenerateStreamHandler(const Service& service, CallContext& context)
      : EngineHandler(service, context, /*streaming=*/true) {}

  // Inputs take turns: one with much output does not delay the others.
  void Continue(Responder& to) override {
    v1::GenerateChunk chunk;
    for (size_t i = 0; i < streams_.size(); ++i) {
      const size_t index = (turn_ + i) % streams_.size();
      const absl::StatusOr<bool> found = NextOf(index, chunk);
      if (!found.ok()) return to.Finish(found.status());
      if (!*found) continue;
      chunk.set_input(static_cast<int>(index));
      turn_ = index + 1;
      to.Send(chunk);
      if (ended_inputs_ == streams_.size()) to.Finish(absl::OkStatus());
      return;
    }
  }

 private:
  absl::StatusOr<int> Prepare(const v1::GenerateRequest& request) override {
    ASSIGN_OR_RETURN(const int count,
                     call_.Prepare(request, service(), model(), context()));
    streams_.resize(count);
    return count;
  }

  absl::Status PrepareInSandbox(const v1::GenerateRequest& request) override {
    return call_.PrepareInSandbox(request, context());
  }
  absl::Status Submit(const v1::GenerateRequest& request, int index,
                      InputState& input) override {
    streams_[index].prompt_sent = !call_.wants_prompt();
    return call_.Submit(request, index, input);
  }

  // The texts of its choices begin with what the input was read as.
  void Begin(size_t index, InputStream& stream) const {
    const size_t choices = call_.params().num_return_sequences;
    while (stream.choices.size() < choices) {
      stream.choices.emplace_back(call_.NewText(index));
    }
  }

  // Fills the next chunk of an input; false: there is none now. An error is the
  // status of the whole call.
  absl::StatusOr<bool> NextOf(size_t index, v1::GenerateChunk& chunk) {
    InputStream& stream = streams_[index];
    if (stream.ended) return false;
    Begin(index, stream);
    const InputState& from = input(index);
    Growth growth;
    bool failed;
    {
      MutexLock lock(context().mutex());
      failed = from.done() && !from.status().ok();
      if (failed) RETURN_IF_ERROR(CommonError(inputs()));
      if (!failed && !TakeGrowth(from, stream, growth)) return false;
    }
    if (!failed) {
      if (!std::exchange(stream.prompt_sent, true)) {
        call_.FillPrompt(index, *growth.prompt, *chunk.mutable_prompt());
      }
      Fill(index, growth, stream.choices[growth.choice], chunk);
    }
    if (growth.last_of_input) {
      call_.alignments().FillSource(index, chunk.mutable_source_tokens());
    }
    if (failed || growth.last_of_input) {
      FillOutcome(index, chunk);
      stream.ended = true;
      ++ended_inputs_;
    }
    return true;
  }

  // Takes the new tokens of the first choice that has grown; false: no choice
  // has grown. The caller must hold the mutex. The end of the last choice waits
  // for the end of the input, so that one chunk tells both. Alignments are
  // there at the end of the input.
  bool TakeGrowth(const InputState& input, const InputStream& stream,
                  Growth& growth) const {
    const std::vector<ChoiceOutput>& choices = input.output().choices;
    for (size_t i = 0; i < choices.size(); ++i) {
      const ChoiceStream& choice = stream.choices[i];
      const ChoiceOutput& output = choices[i];
      const bool last = OthersEnded(stream, choices.size(), i);
      const bool ends =
          output.finish != FinishReason::kNone &&
          (input.done() || !(last || call_.alignments().wanted()));
      if (choice.ended || (choice.sent == output.tokens.size() && !ends)) {
        continue;
      }
      growth.choice = i;
      const size_t top = call_.params().top_log_probs;
      CopyFrom(output.tokens, choice.sent, growth.output.tokens);
      CopyFrom(output.log_probs, choice.sent, growth.output.log_probs);
      CopyFrom(output.top, choice.sent * top, growth.output.top);
      if (ends) {
        growth.output.finish = output.finish;
        growth.output.alignment = output.alignment;
      }
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

  void Fill(size_t input, const Growth& growth, ChoiceStream& choice,
            v1::GenerateChunk& chunk) const {
    const ChoiceOutput& output = growth.output;
    chunk.set_choice(static_cast<int>(growth.choice));
    chunk.mutable_ids()->Add(output.tokens.begin(), output.tokens.end());
    std::string* text = chunk.mutable_text();
    for (int id : output.tokens) text->append(choice.text.Append(id));
    AddLogProbs(output, 0, call_.params().top_log_probs, tokenizer(),
                chunk.mutable_log_probs());
    choice.sent += output.tokens.size();
    if (output.finish == FinishReason::kNone) return;
    text->append(choice.text.Flush());
    chunk.set_finish_reason(ToProto(output.finish));
    chunk.set_score(output.score);
    if (call_.alignments().wanted()) {
      call_.alignments().Fill(input, output, *chunk.mutable_alignment());
    }
    choice.ended = true;
  }

  GenerateCall call_;
  std::vector<InputStream> streams_;
  size_t turn_ = 0;
  size_t ended_inputs_ = 0;
};

}  // namespace

std::unique_ptr<Handler> NewGenerateStreamHandler(const Service& service,
                                                  CallContext& context) {
  return std::make_unique<GenerateStreamHandler>(service, context);
}

}  // namespace attend
