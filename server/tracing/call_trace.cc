#include "server/tracing/call_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

constexpr size_t kMaxTextBytes = 256;  // for texts chosen by a client

std::string Shortened(absl::string_view text) {
  return std::string(text.substr(0, kMaxTextBytes));
}

bool Known(absl::Time time) { return time != absl::InfinitePast(); }

// Returns true if the server has failed, by OpenTelemetry's rule for servers:
// errors of the client are not failures of the server.
bool IsFailure(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

double Mean(int64_t sum, int count) {
  return static_cast<double>(sum) / std::max(count, 1);
}

}  // namespace

void CallTrace::Begin(const TraceHeaders& headers, Tracer* tracer) {
  const std::optional<TraceContext> parent =
      ParseTraceparent(headers.traceparent);
  if (parent) id_ = parent->trace_id;
  if (tracer == nullptr) return;
  const std::optional<TraceContext> own = tracer->Begin(parent);
  if (!own) return;
  id_ = own->trace_id;
  CatchOutOfMemory([&] {
    auto record = std::make_unique<Record>(
        Record{.tracer = *tracer,
               .context = *own,
               .parent = parent,
               .tracestate = parent ? CleanTracestate(headers.tracestate) : "",
               .http_method = Shortened(headers.http_method),
               .http_path = Shortened(headers.http_path)});
    record->inputs.reserve(kMaxInputs);
    record_ = std::move(record);
    return absl::OkStatus();
  }).IgnoreError();
}

std::string CallTrace::id() const {
  return id_ == TraceId{} ? std::string() : ToHex(id_);
}

void CallTrace::AddInput(const InputTrace& input) {
  if (record_->inputs.size() < kMaxInputs) record_->inputs.push_back(input);
}

Span CallTrace::NewSpan(const char* name, absl::Time begin,
                        absl::Time end) const {
  return {.trace_id = record_->context.trace_id,
          .id = record_->tracer.NewSpanId(),
          .parent = record_->context.span_id,
          .tracestate = record_->tracestate,
          .name = name,
          .begin = begin,
          .end = std::max(begin, end),
          .error = {},
          .attributes = {}};
}

// Names are those of OpenTelemetry's semantic conventions, except our own.
Span CallTrace::SpanOf(const TracedCall& call) const {
  Span span = NewSpan("", call.begin, call.end);
  span.id = record_->context.span_id;
  span.parent = record_->parent ? record_->parent->span_id : SpanId{};
  span.parent_is_remote = record_->parent.has_value();
  span.is_call = true;
  const auto code = static_cast<int64_t>(call.status.code());
  if (record_->http_method.empty()) {
    const size_t slash = call.method.find('/');
    span.name = std::string(call.method);
    span.attributes = {
        {"rpc.system", "grpc"},
        {"rpc.service", std::string(call.method.substr(0, slash))},
        {"rpc.method", std::string(call.method.substr(slash + 1))},
        {"rpc.grpc.status_code", code}};
  } else {
    span.name = absl::StrCat(record_->http_method, " ", call.method);
    span.attributes = {{"http.request.method", record_->http_method},
                       {"http.route", std::string(call.method)},
                       {"url.path", record_->http_path}};
    if (call.http_status != 0) {
      span.attributes.push_back(
          {"http.response.status_code", int64_t{call.http_status}});
    }
  }
  if (IsFailure(call.status.code())) {
    span.error =
        Shortened(absl::StrCat(absl::StatusCodeToString(call.status.code()),
                               ": ", call.status.message()));
  }
  span.attributes.push_back({"attend.request_id", call.request_id});
  for (const auto& [key, text] : {std::pair{"attend.model", &call.model},
                                  {"attend.tenant", &call.tenant}}) {
    if (!text->empty()) span.attributes.push_back({key, Shortened(*text)});
  }
  span.attributes.insert(
      span.attributes.end(),
      {{"attend.inputs", int64_t{call.inputs}},
       {"attend.input_tokens", int64_t{call.input_tokens}},
       {"attend.output_tokens", int64_t{call.output_tokens}}});
  return span;
}

void CallTrace::AddPhase(const char* name, int input, absl::Time begin,
                         absl::Time end, const PhaseSteps& steps,
                         std::vector<Span>& spans) const {
  if (steps.steps == 0) return;
  spans.push_back(NewSpan(name, begin, end));
  spans.back().attributes = {
      {"attend.input", int64_t{input}},
      {"attend.steps", int64_t{steps.steps}},
      {"attend.batch_rows", Mean(steps.rows, steps.steps)},
      {"attend.batch_inputs", Mean(steps.inputs, steps.steps)}};
}

void CallTrace::AddSpans(int input, std::vector<Span>& spans) const {
  const InputTrace& trace = record_->inputs[input];
  const RequestTimes& times = trace.times;
  const auto or_end = [&times](absl::Time time) {
    return Known(time) ? time : times.ended;
  };
  spans.push_back(NewSpan("queue", times.arrival, or_end(times.started)));
  spans.back().attributes = {
      {"attend.input", int64_t{input}},
      {"attend.input_tokens", int64_t{trace.input_tokens}}};
  if (!Known(times.started)) return;
  absl::Time begin = times.started;
  AddPhase("encode", input, begin, or_end(times.encoded), times.encode, spans);
  if (times.encode.steps > 0) begin = or_end(times.encoded);
  AddPhase("prompt", input, begin, or_end(times.prompted), times.prompt, spans);
  if (times.prompt.steps > 0) begin = or_end(times.prompted);
  const size_t before = spans.size();
  AddPhase("decode", input, begin, times.ended, times.decode, spans);
  if (spans.size() == before) return;
  spans.back().attributes.push_back(
      {"attend.output_tokens", int64_t{trace.output_tokens}});
}

void CallTrace::End(const TracedCall& call) const {
  std::vector<Span> spans;
  spans.push_back(SpanOf(call));
  if (Known(record_->tokens_begin)) {
    spans.push_back(
        NewSpan("tokenise", record_->tokens_begin,
                Known(record_->tokens_end) ? record_->tokens_end : call.end));
  }
  for (size_t i = 0; i < record_->inputs.size(); ++i) {
    AddSpans(static_cast<int>(i), spans);
  }
  record_->tracer.Record(std::move(spans));
}

}  // namespace attend
