"""Spans of a server, read by the receiver that OpenTelemetry generates from its
own definitions, under the traces of OpenTelemetry's SDK. See run.sh."""

import concurrent.futures
import json
import os
import threading
import time
import unittest
import urllib.request

import grpc
from conformance import ROOT
from opentelemetry import propagate, trace
from opentelemetry.proto.collector.trace.v1 import (
    trace_service_pb2, trace_service_pb2_grpc)
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.sdk.trace import TracerProvider, sampling
from served import TIMEOUT, Server

SPAN = trace_pb2.Span
REMOTE_PARENT = (trace_pb2.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
                 | trace_pb2.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps the spans that it gets, with their resources."""

    def __init__(self):
        self.changed = threading.Condition()
        self.spans = []
        self.resources = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(
            self, self.server)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def Export(self, request, context):
        with self.changed:
            for resource in request.resource_spans:
                self.resources.append(values(resource.resource.attributes))
                for scope in resource.scope_spans:
                    self.spans += scope.spans
            self.changed.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    def of_trace(self, context, count):
        """The spans of a trace by name; waits until there are that many."""
        trace_id = context.trace_id.to_bytes(16, "big")
        limit = time.monotonic() + TIMEOUT
        with self.changed:
            while True:
                found = {span.name: span for span in self.spans
                         if span.trace_id == trace_id}
                if len(found) >= count:
                    return found
                if not self.changed.wait(limit - time.monotonic()):
                    raise AssertionError(f"only {sorted(found)}")


def values(attributes):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value"))
            for pair in attributes}


def string_field(number, text):
    """A field of a message in protobuf's wire format; short texts."""
    return bytes([number << 3 | 2, len(text)]) + text.encode()


class OtlpTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.collector = Collector()
        os.environ.update({
            "OTEL_EXPORTER_OTLP_ENDPOINT":
                f"http://127.0.0.1:{cls.collector.port}",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
            "OTEL_BSP_SCHEDULE_DELAY": "20"})
        cls.server = Server({"en-de": ROOT / "models/en-de"})
        cls.channel = grpc.insecure_channel(cls.server.address)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.close()
        cls.collector.server.stop(None)

    def caller(self, sampler=sampling.ALWAYS_ON):
        return TracerProvider(sampler=sampler).get_tracer("test")

    def translate(self):
        """In the caller's span of now."""
        headers = {}
        propagate.inject(headers)
        call = self.channel.unary_unary("/attend.v1.Attend/Translate")
        call(string_field(2, "Two dogs are playing in the snow.")
             + string_field(5, "de"), timeout=TIMEOUT,
             metadata=list(headers.items()))

    def test_a_call_is_a_child_of_its_caller(self):
        with self.caller().start_as_current_span("caller") as span:
            self.translate()
        context = span.get_span_context()
        spans = self.collector.of_trace(context, 5)
        call = spans["attend.v1.Attend/Translate"]
        self.assertEqual(call.kind, SPAN.SPAN_KIND_SERVER)
        self.assertEqual(call.parent_span_id, context.span_id.to_bytes(8, "big"))
        self.assertEqual(call.flags & REMOTE_PARENT, REMOTE_PARENT)
        self.assertEqual(call.status.code, trace_pb2.Status.STATUS_CODE_UNSET)
        self.assertGreaterEqual(call.start_time_unix_nano, span.start_time)
        self.assertLessEqual(call.end_time_unix_nano, span.end_time + 10**9)
        said = values(call.attributes)
        self.assertEqual(said["rpc.system"], "grpc")
        self.assertEqual(said["rpc.service"], "attend.v1.Attend")
        self.assertEqual(said["rpc.method"], "Translate")
        self.assertEqual(said["rpc.grpc.status_code"], 0)
        self.assertEqual(said["attend.model"], "en-de")
        self.assertGreater(said["attend.output_tokens"], 5)
        for name in "tokenise", "queue", "encode", "decode":
            with self.subTest(span=name):
                self.assertEqual(spans[name].kind, SPAN.SPAN_KIND_INTERNAL)
                self.assertEqual(spans[name].parent_span_id, call.span_id)
        decode = values(spans["decode"].attributes)
        self.assertGreater(decode["attend.steps"], 0)
        self.assertGreaterEqual(decode["attend.batch_rows"], 1)
        self.assertEqual(decode["attend.batch_inputs"], 1)

    def test_calls_over_http_are_seen_too(self):
        with self.caller().start_as_current_span("caller") as span:
            headers = {"Content-Type": "application/json"}
            propagate.inject(headers)
            body = json.dumps({"prompt": "A man is riding a bicycle."}).encode()
            with urllib.request.urlopen(urllib.request.Request(
                    f"http://127.0.0.1:{self.server.http_port}/tokenize", body,
                    headers), timeout=TIMEOUT):
                pass
        spans = self.collector.of_trace(span.get_span_context(), 2)
        said = values(spans["POST /tokenize"].attributes)
        self.assertEqual(said["http.request.method"], "POST")
        self.assertEqual(said["http.response.status_code"], 200)

    def test_what_the_caller_does_not_sample_is_not_exported(self):
        with self.caller(sampling.ALWAYS_OFF).start_as_current_span("no") as no:
            self.translate()
        with self.caller().start_as_current_span("yes") as yes:
            self.translate()
        self.collector.of_trace(yes.get_span_context(), 5)
        unsampled = no.get_span_context().trace_id.to_bytes(16, "big")
        self.assertNotIn(unsampled, [s.trace_id for s in self.collector.spans])

    def test_the_resource_says_which_server_it_is(self):
        with self.caller().start_as_current_span("caller") as span:
            self.translate()
        self.collector.of_trace(span.get_span_context(), 5)
        resource = self.collector.resources[0]
        self.assertEqual(resource["service.name"], "attend")
        self.assertEqual(resource["deployment.environment"], "test")
        self.assertIn("service.version", resource)
        self.assertIn("service.instance.id", resource)


if __name__ == "__main__":
    unittest.main()
