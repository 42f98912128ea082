#include "server/service/results.h"

#include <algorithm>

#include "engine/json/utf8.h"
#include "google/protobuf/duration.pb.h"

namespace attend {
namespace {

void SetDuration(absl::Time from, absl::Time to,
                 google::protobuf::Duration* (v1::Timings::*field)(),
                 v1::Timings& timings) {
  if (from == absl::InfinitePast() || to == absl::InfinitePast()) return;
  absl::Duration rest = std::max(to - from, absl::ZeroDuration());
  google::protobuf::Duration* duration = (timings.*field)();
  duration->set_seconds(absl::IDivDuration(rest, absl::Seconds(1), &rest));
  duration->set_nanos(
      static_cast<int>(absl::IDivDuration(rest, absl::Nanoseconds(1), &rest)));
}

}  // namespace

v1::FinishReason ToProto(FinishReason reason) {
  switch (reason) {
    case FinishReason::kNone:
      return v1::FINISH_REASON_UNSPECIFIED;
    case FinishReason::kEos:
      return v1::FINISH_REASON_EOS;
    case FinishReason::kMaxLength:
      return v1::FINISH_REASON_MAX_LENGTH;
    case FinishReason::kStopSequence:
      return v1::FINISH_REASON_STOP_SEQUENCE;
  }
  return v1::FINISH_REASON_UNSPECIFIED;
}

v1::Status ToProto(const absl::Status& status) {
  v1::Status out;
  out.set_code(static_cast<int>(status.code()));
  out.set_message(ReplaceInvalidUtf8(status.message()));
  return out;
}

void SetLogProb(int id, float log_prob, const Tokenizer& tokenizer,
                v1::TokenLogProb* to) {
  to->set_id(id);
  const absl::string_view piece = tokenizer.Piece(id, Side::kTarget);
  to->set_piece(piece.data(), piece.size());
  to->set_log_prob(log_prob);
}

void AddLogProbs(const ChoiceOutput& choice, size_t begin, int top,
                 const Tokenizer& tokenizer,
                 google::protobuf::RepeatedPtrField<v1::TokenLogProbs>* to) {
  for (size_t i = begin; i < choice.log_probs.size(); ++i) {
    v1::TokenLogProbs* token = to->Add();
    SetLogProb(choice.tokens[i], choice.log_probs[i], tokenizer,
               token->mutable_token());
    for (size_t k = i * top; k < (i + 1) * top && k < choice.top.size(); ++k) {
      SetLogProb(choice.top[k].id, choice.top[k].log_prob, tokenizer,
                 token->add_top());
    }
  }
}

v1::Usage MakeUsage(const InputFacts& facts, const SequenceOutput& output) {
  v1::Usage usage;
  usage.set_source_tokens(facts.source_tokens);
  usage.set_generated_tokens(CountTokens(output));
  usage.set_truncated(facts.truncated);
  if (facts.sampled) usage.set_seed(facts.seed);
  return usage;
}

v1::Usage UsageOf(const Inputs& inputs, int begin, int end) {
  v1::Usage usage;
  for (int i = begin; i < end; ++i) {
    const v1::Usage one = MakeUsage(inputs[i]->facts(), inputs[i]->output());
    if (i == begin) {
      usage = one;
      continue;
    }
    usage.set_source_tokens(usage.source_tokens() + one.source_tokens());
    usage.set_generated_tokens(usage.generated_tokens() +
                               one.generated_tokens());
    usage.set_truncated(usage.truncated() || one.truncated());
  }
  return usage;
}

RequestTimes TimesOf(const Inputs& inputs, int begin, int end) {
  RequestTimes all = inputs[begin]->times();
  const auto earlier = [](absl::Time a, absl::Time& b) {
    if (a == absl::InfinitePast()) return;
    b = b == absl::InfinitePast() ? a : std::min(a, b);
  };
  for (int i = begin + 1; i < end; ++i) {
    const RequestTimes& one = inputs[i]->times();
    earlier(one.started, all.started);
    earlier(one.encoded, all.encoded);
    earlier(one.first_token, all.first_token);
    all.ended = std::max(all.ended, one.ended);
  }
  return all;
}

v1::Timings MakeTimings(const RequestTimes& times, absl::Time arrival) {
  v1::Timings timings;
  SetDuration(arrival, times.started, &v1::Timings::mutable_queue, timings);
  SetDuration(times.started, times.encoded, &v1::Timings::mutable_encode,
              timings);
  SetDuration(arrival, times.first_token, &v1::Timings::mutable_first_token,
              timings);
  SetDuration(arrival, times.ended, &v1::Timings::mutable_total, timings);
  return timings;
}

}  // namespace attend
