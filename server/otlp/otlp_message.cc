#include "server/otlp/otlp_message.h"

#include <string>

#include "engine/json/utf8.h"

namespace attend {
namespace {

// Bits of OtlpSpan.flags.
constexpr uint32_t kSampled = 1;
constexpr uint32_t kSaysWhetherRemote = 1 << 8;
constexpr uint32_t kParentIsRemote = 1 << 9;

template <class Id>
std::string Bytes(const Id& id) {
  return std::string(id.begin(), id.end());
}

void Fill(const SpanAttribute& attribute, otlp::AnyValue& to) {
  switch (attribute.kind) {
    case SpanAttribute::kInt:
      return to.set_int_value(attribute.integer);
    case SpanAttribute::kReal:
      return to.set_double_value(attribute.real);
    case SpanAttribute::kText:
      return to.set_string_value(ReplaceInvalidUtf8(attribute.text));
  }
}

void Fill(const Span& span, absl::Duration to_system_time, otlp::OtlpSpan& to) {
  to.set_trace_id(Bytes(span.trace_id));
  to.set_span_id(Bytes(span.id));
  to.set_trace_state(span.tracestate);
  if (span.parent != SpanId{}) to.set_parent_span_id(Bytes(span.parent));
  to.set_name(ReplaceInvalidUtf8(span.name));
  to.set_kind(span.is_call ? otlp::OtlpSpan::KIND_SERVER
                           : otlp::OtlpSpan::KIND_INTERNAL);
  to.set_start_time_unix_nano(absl::ToUnixNanos(span.begin + to_system_time));
  to.set_end_time_unix_nano(absl::ToUnixNanos(span.end + to_system_time));
  for (const SpanAttribute& attribute : span.attributes) {
    otlp::KeyValue& pair = *to.add_attributes();
    pair.set_key(attribute.key);
    Fill(attribute, *pair.mutable_value());
  }
  if (!span.error.empty()) {
    to.mutable_status()->set_code(otlp::SpanStatus::CODE_ERROR);
    to.mutable_status()->set_message(ReplaceInvalidUtf8(span.error));
  }
  to.set_flags(kSampled | kSaysWhetherRemote |
               (span.parent_is_remote ? kParentIsRemote : 0));
}

}  // namespace

otlp::ExportTraceServiceRequest ToOtlp(const std::vector<Span>& spans,
                                       const TracingPairs& resource,
                                       absl::string_view version,
                                       absl::Duration to_system_time) {
  otlp::ExportTraceServiceRequest request;
  otlp::ResourceSpans& of_server = *request.add_resource_spans();
  for (const auto& [key, value] : resource) {
    otlp::KeyValue& pair = *of_server.mutable_resource()->add_attributes();
    pair.set_key(ReplaceInvalidUtf8(key));
    pair.mutable_value()->set_string_value(ReplaceInvalidUtf8(value));
  }
  otlp::ScopeSpans& scope = *of_server.add_scope_spans();
  scope.mutable_scope()->set_name("attend");
  scope.mutable_scope()->set_version(std::string(version));
  for (const Span& span : spans) {
    Fill(span, to_system_time, *scope.add_spans());
  }
  return request;
}

}  // namespace attend
