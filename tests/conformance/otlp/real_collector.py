"""Spans of a server, read by OpenTelemetry's collector, unmodified. By hand, as Go
has to build it first (run.sh in this folder makes the environment):

    tests/conformance/otlp/run.sh ATTEND_SERVER FOLDER real_collector.py

FOLDER keeps the collector, too. It has the receiver of OTLP, and prints what it
gets by its exporter `debug`.
"""

import collections
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock

import grpc
from conformance import ROOT
from served import TIMEOUT, Server

VERSION = "v0.165.0"
MODULES = "go.opentelemetry.io/collector"
FOLDER = pathlib.Path(os.environ["ATTEND_COLLECTOR_FOLDER"]) / VERSION
BUILDER = f"""
dist: {{name: collector, output_path: {FOLDER}}}
receivers: [gomod: {MODULES}/receiver/otlpreceiver {VERSION}]
exporters: [gomod: {MODULES}/exporter/debugexporter {VERSION}]
"""
CONFIG = """
receivers: {{otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{debug: {{verbosity: detailed, use_internal_logger: false}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{traces: {{receivers: [otlp], exporters: [debug]}}}}
"""
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
# Text "Two dogs are playing." into "de": a TranslateRequest.
REQUEST = b"\x12\x15Two dogs are playing.\x2a\x02de"
PHASES = ("tokenise", "queue", "encode", "decode")


def build():
    program = FOLDER / "collector"
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        config = FOLDER / "builder.yaml"
        config.write_text(BUILDER)
        subprocess.run(["go", "run", f"{MODULES}/cmd/builder@{VERSION}",
                        "--config", config], check=True)
    return program


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Printed:
    """What `debug` prints, as spans: their fields by name, and `attributes`, and
    `resource`, which is the same of those that came together."""

    FIELD = re.compile(r"^    (\w[\w ]*?)\s*: (.*)$")
    ATTRIBUTE = re.compile(r"^     -> ([\w.]+): \w+\((.*)\)$")

    def __init__(self):
        self.spans = []
        self.attributes = self.resource = {}

    def add(self, line):
        if line.startswith("ResourceSpans #"):
            self.attributes = self.resource = {}
        elif line.startswith("Span #"):
            self.attributes = {}
            self.spans.append({"attributes": self.attributes,
                               "resource": self.resource})
        elif found := self.ATTRIBUTE.match(line):
            self.attributes[found[1]] = found[2]
        elif self.spans and (found := self.FIELD.match(line)):
            self.spans[-1][found[1]] = found[2]


class Collector:
    """Runs until close()."""

    def __init__(self, program):
        self.port = free_port()
        self.config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        self.config.write(CONFIG.format(port=self.port))
        self.config.flush()
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program, f"--config=file:{self.config.name}"], text=True,
            stdout=subprocess.PIPE, stderr=self.log)
        self.changed = threading.Condition()
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            grpc.channel_ready_future(channel).result(TIMEOUT)

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()

    def spans(self, count):
        """Waits until there are that many, with their last attribute."""
        limit = time.monotonic() + TIMEOUT
        with self.changed:
            while True:
                printed = Printed()
                for line in self.lines:
                    printed.add(line)
                # An export ends with an empty line.
                if len(printed.spans) >= count and self.lines[-1] == "":
                    return printed.spans
                if not self.changed.wait(limit - time.monotonic()):
                    self.log.seek(0)
                    raise AssertionError(f"{self.lines}\n{self.log.read()}")

    def close(self):
        self.process.terminate()
        self.process.wait(TIMEOUT)
        self.reader.join()
        self.process.stdout.close()
        self.log.close()
        self.config.close()


class RealCollectorTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.program = build()

    def spans_of_a_translation(self, **variables):
        collector = Collector(self.program)
        self.addCleanup(collector.close)
        with unittest.mock.patch.dict(os.environ, {
                "OTEL_EXPORTER_OTLP_ENDPOINT":
                    f"http://127.0.0.1:{collector.port}",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
                **variables}):
            server = Server({"en-de": ROOT / "models/en-de"})
        self.addCleanup(server.close)
        with grpc.insecure_channel(server.address) as channel:
            channel.unary_unary("/attend.v1.Attend/Translate")(
                REQUEST, timeout=TIMEOUT,
                metadata=[("traceparent", f"00-{TRACE}-{CALLER}-01")])
        return collector.spans(1 + len(PHASES))

    def check(self, spans):
        self.assertEqual(
            collections.Counter(span["Name"] for span in spans),
            collections.Counter(["attend.v1.Attend/Translate", *PHASES]))
        spans = {span["Name"]: span for span in spans}
        call = spans["attend.v1.Attend/Translate"]
        self.assertEqual(call["Parent ID"], CALLER)
        self.assertEqual(call["Kind"], "Server")
        self.assertEqual(call["Status code"], "Unset")
        for name, value in {"rpc.system": "grpc", "rpc.method": "Translate",
                            "rpc.grpc.status_code": "0",
                            "attend.model": "en-de"}.items():
            self.assertEqual(call["attributes"][name], value)
        self.assertGreater(int(call["attributes"]["attend.output_tokens"]), 2)
        for name in PHASES:
            self.assertEqual(spans[name]["Parent ID"], call["ID"])
            self.assertEqual(spans[name]["Kind"], "Internal")
        for span in spans.values():
            self.assertEqual(span["Trace ID"], TRACE)
            self.assertLessEqual(span["Start time"], span["End time"])
            self.assertEqual(span["resource"]["service.name"], "attend")
            self.assertEqual(span["resource"]["deployment.environment"], "test")

    def test_spans_of_a_translation(self):
        self.check(self.spans_of_a_translation())

    def test_compressed(self):
        self.check(self.spans_of_a_translation(
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip"))


if __name__ == "__main__":
    unittest.main()
