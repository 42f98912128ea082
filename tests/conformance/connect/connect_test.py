"""attend.v1 over HTTP, by clients that know nothing of Attend: Connect's own for
Node.js, and curl. Started by run.sh."""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time
import unittest

from conformance import ROOT, Table
from served import TIMEOUT, Server

CLIENT = pathlib.Path(os.environ["ATTEND_CONNECT_CLIENT"])
DESCRIPTORS = os.environ["ATTEND_DESCRIPTORS"]
NODE, CURL = "@connectrpc/connect-node", "curl"
ENGLISH = "Two dogs are playing in the snow."
GERMAN = "Zwei Hunde spielen im Schnee."
MODELS = {"en-de": ROOT / "models/en-de"}
LONG = {"inputs": [{"text": ENGLISH}],
        "params": {"minNewTokens": 400, "maxNewTokens": 400, "numBeams": 1}}
table = Table("connect.md", "connect")


def node(server, case, given=None, binary=False):
    """The outcome of a case of client.mjs: {"answer": ...} or {"error": ...}."""
    done = subprocess.run(
        ["node", CLIENT, DESCRIPTORS, f"http://127.0.0.1:{server.http_port}",
         "binary" if binary else "json", case, json.dumps(given or {})],
        capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def curl(server, path, *options):
    """The status and the body of an answer."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", str(TIMEOUT),
         "--write-out", "\n%{http_code}",
         f"http://127.0.0.1:{server.http_port}/{path}", *options],
        capture_output=True, text=True, check=True)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


def post(server, method, body, *options):
    return curl(server, f"attend.v1.Attend/{method}", "--header",
                "Content-Type: application/json", "--data", body, *options)


def as_f32(choices):
    """Results, with their numbers as the 32 bits that they were: JSON has as few
    digits as tell one from another."""
    return json.loads(json.dumps(choices),
                      parse_float=lambda text: struct.pack("f", float(text)))


def translation(answer):
    return answer["results"][0]["choices"][0]["text"]


class OpenTest(unittest.TestCase):
    """A server that needs no keys."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(MODELS)
        cls.addClassCleanup(cls.server.close)

    @table.row("`ListModels`, ...", NODE, "every method of the service has a route")
    def test_every_method(self):
        codes = node(self.server, "everyMethod")["answer"]
        self.assertGreater(len(codes), 10)
        self.assertEqual(codes.pop("ListModels"), "ok")
        self.assertEqual(codes.pop("GetModel"), "ok")
        self.assertLessEqual(set(codes.values()), {"InvalidArgument"}, codes)

    @table.row("`Generate`", NODE, "messages in JSON and in protobuf's bytes")
    def test_unary(self):
        request = {"inputs": [{"text": ENGLISH}, {"text": ""}],
                   "params": {"logProbs": True}}
        answers = []
        for binary in False, True:
            answer = node(self.server, "unary", {
                "method": "generate", "request": {
                    "inputs": [{"input": {"case": "text", "value": ENGLISH}}],
                    "params": {"logProbs": True}}}, binary)["answer"]
            answers.append(as_f32(answer["results"][0]["choices"]))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0][0]["text"], GERMAN)
        _, same = post(self.server, "Generate", json.dumps(request))
        self.assertEqual(as_f32(json.loads(same)["results"][0]["choices"]),
                         answers[0])

    @table.row("`GenerateStream`", NODE, "chunks, whose texts are that of `Generate`")
    def test_stream(self):
        text = {"input": {"case": "text", "value": ENGLISH}}
        request = {"inputs": [text, text], "params": {"numBeams": 1}}
        for binary in False, True:
            chunks = node(self.server, "stream", {"request": request},
                          binary)["answer"]
            texts = ["", ""]
            for chunk in chunks:
                texts[chunk.get("input", 0)] += chunk.get("text", "")
            self.assertEqual(texts, [GERMAN, GERMAN])
            ends = [chunk for chunk in chunks if "status" in chunk]
            self.assertEqual([end["usage"]["sourceTokens"] for end in ends],
                             [9, 9])

    @table.row("`Generate`", NODE, "50 calls at once")
    def test_concurrent(self):
        request = {"inputs": [{"input": {"case": "text", "value": ENGLISH}}]}
        answers = node(self.server, "concurrent",
                       {"requests": [request] * 50})["answer"]
        self.assertEqual([translation(answer) for answer in answers],
                         [GERMAN] * 50)

    @table.row("errors", NODE, "codes and messages, of a call and of a stream")
    def test_errors(self):
        for case in "unary", "stream":
            for request, code, message in [
                    ({"model": "none"}, "NotFound", "model 'none' is not served"),
                    ({}, "InvalidArgument", "inputs")]:
                error = node(self.server, case, {
                    "method": "generate", "request": request})["error"]
                self.assertEqual(error["code"], code)
                self.assertIn(message, error["message"])

    @table.row("deadlines", NODE, "`Connect-Timeout-Ms` ends a call and a stream")
    def test_deadline(self):
        request = {**LONG, "inputs": [
            {"input": {"case": "text", "value": ENGLISH}}] * 64}
        for case in "unary", "stream":
            error = node(self.server, case, {
                "method": "generate", "request": request,
                "timeoutMs": 5})["error"]
            self.assertEqual(error["code"], "DeadlineExceeded")

    @table.row("cancellation", NODE, "a stream that is aborted computes no more")
    def test_cancelled(self):
        request = {**LONG, "inputs": [
            {"input": {"case": "text", "value": ENGLISH}}]}
        error = node(self.server, "cancelled", {"request": request})["error"]
        self.assertEqual(error["code"], "Canceled")
        limit = time.monotonic() + TIMEOUT
        wanted = ('code="CANCELLED",method="/attend.v1.Attend/GenerateStream"',
                  'attend_running_sequences{model="en-de"} 0')
        while not all(text in self.server.metrics() for text in wanted):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)

    @table.row("`Generate`", CURL, "names of fields as in the proto, and as in JSON")
    def test_curl(self):
        for params in '{"num_beams": 2}', '{"numBeams": 2}':
            status, body = post(
                self.server, "Generate",
                f'{{"inputs": [{{"text": "{ENGLISH}"}}], "params": {params}}}')
            self.assertEqual(status, 200)
            self.assertEqual(translation(json.loads(body)), GERMAN)

    @table.row("errors", CURL, "unknown and wrong fields are named")
    def test_curl_errors(self):
        for body, message in [
                ('{"inputs": [{"txt": "a"}]}', "inputs[0].txt is not a field"),
                ('{"priority": "high"}', 'priority is "high", must be an integer'),
                ('{"inputs": [', "not valid json")]:
            status, text = post(self.server, "Generate", body)
            self.assertEqual(status, 400)
            error = json.loads(text)
            self.assertEqual(error["code"], "invalid_argument")
            self.assertIn(message, error["message"])

    @table.row("definitions", CURL, "`/attend/v1/attend.proto` is the file of the server")
    def test_proto(self):
        for name in "attend/v1/attend.proto", "inference/grpc_service.proto":
            status, body = curl(self.server, name)
            self.assertEqual(status, 200)
            self.assertEqual(body, (ROOT / "proto" / name).read_text("utf-8"))


class KeysTest(unittest.TestCase):
    """A server that needs keys, and limits the calls of a tenant."""

    @classmethod
    def setUpClass(cls):
        tenants = tempfile.NamedTemporaryFile("w", suffix=".json")
        cls.addClassCleanup(tenants.close)
        digest = hashlib.sha256(b"secret").hexdigest()
        json.dump({"tenants": [{"name": "one", "keys": [digest],
                                "calls_per_second": 0.01, "call_burst": 2}]},
                  tenants)
        tenants.flush()
        cls.server = Server(MODELS, f"--tenants={tenants.name}")
        cls.addClassCleanup(cls.server.close)

    @table.row("keys and limits", NODE, "`Authorization: Bearer`; a tenant's limit, and "
               "when to come again")
    def test_keys_and_limits(self):
        def ask(headers):
            return node(self.server, "unary", {
                "method": "listModels", "request": {}, "headers": headers})
        for headers in {}, {"Authorization": "Bearer other"}:
            self.assertEqual(ask(headers)["error"]["code"], "Unauthenticated")
        right = {"Authorization": "Bearer secret"}
        for _ in range(2):
            self.assertIn("models", ask(right)["answer"])
        error = ask(right)["error"]
        self.assertEqual(error["code"], "ResourceExhausted")
        self.assertRegex(error["retry"]["retryDelay"], r"^[\d.]+s$")
        self.assertGreater(int(error["retryAfter"]), 0)


if __name__ == "__main__":
    table.main()
