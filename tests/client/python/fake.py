"""A server of attend.v1 in Python that fails as it is told to."""

import concurrent.futures
import threading
import time

import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1 import attend_pb2_grpc
from attend.v1 import status_details_pb2 as details
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def pushback(milliseconds):
    return ("grpc-retry-pushback-ms", str(milliseconds))


def retry_info(seconds, code=grpc.StatusCode.RESOURCE_EXHAUSTED):
    """google.rpc.RetryInfo in google.rpc.Status, as a trailer."""
    info = details.RetryInfo()
    info.retry_delay.FromNanoseconds(int(seconds * 1e9))
    status = details.StatusDetails(code=code.value[0], message="full")
    status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo",
                       value=info.SerializeToString())
    return ("grpc-status-details-bin", status.SerializeToString())


class FakeServer(attend_pb2_grpc.AttendServicer):
    """Answers with its name. The first calls fail with `failures`: each a code
    and trailers. `seen` has the metadata of each call; `remaining` its time;
    `params` what streams have. Each stream begins with the next of
    `beginnings`, characters as tokens (None: and ends there), and each other call waits for the next
    of `delays`, in seconds. `model` is what it says it serves."""

    def __init__(self, name="fake", failures=(), credentials=None):
        self.name = name
        self.failures = list(failures)
        self.seen, self.remaining = [], []
        self.params, self.beginnings, self.delays = [], [], []
        self.model = pb.Model()
        self.details = "failed"
        self.ended = threading.Event()  # a call of stream_for_ever
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        self.health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)
        self.health.set("", SERVING)
        attend_pb2_grpc.add_AttendServicer_to_server(self, self.server)
        free = "127.0.0.1:0"
        port = (self.server.add_secure_port(free, credentials) if credentials
                else self.server.add_insecure_port(free))
        self.address = f"127.0.0.1:{port}"
        self.server.start()

    def stop(self):
        # A few seconds at most: seldom, grpcio does not set the event.
        self.server.stop(0).wait(5)

    def note(self, context):
        self.seen.append(dict(context.invocation_metadata()))
        self.remaining.append(context.time_remaining())

    def fail(self, context):
        if self.failures:
            code, *trailers = self.failures.pop(0)
            context.set_trailing_metadata(trailers)
            context.abort(code, self.details)

    def Generate(self, request, context):
        self.note(context)
        if self.delays:
            time.sleep(self.delays.pop(0))
        self.fail(context)
        return pb.GenerateResponse(results=[
            pb.GenerateResult(choices=[pb.Choice(text=self.name)])])

    def GetModel(self, request, context):
        return self.model

    def GenerateStream(self, request, context):
        self.note(context)
        if request.inputs[0].text == "for ever":
            context.add_callback(self.ended.set)
            while context.is_active():
                yield pb.GenerateChunk(text="a")
            return
        self.params.append(request.params)
        if self.beginnings:
            for text in self.beginnings.pop(0):
                if text is None:
                    return
                yield pb.GenerateChunk(text=text, ids=map(ord, text))
        self.fail(context)
        yield pb.GenerateChunk(text=self.name)
