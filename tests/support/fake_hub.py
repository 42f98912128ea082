#!/usr/bin/env python3
"""A hub of models, as Hugging Face's answers, with faults.

    fake_hub.py DIRECTORY [CERTIFICATE KEY]

Prints its port and that of the other server, which has the large files, as the
hub's does: http://127.0.0.1:PORT (with a certificate https) and
http://127.0.0.1:OTHER. Both are proxies for all hosts, too, which have the same
models. Ends when nobody reads its output.

The model bundled/en-de is DIRECTORY, and bundled/bin-only the one in
tests/golden. Every other NAME is one of MODELS, and its
owner is the fault: see the function of that name in Faults. GET /journal has a
line for each request since the last one: METHOD PATH RANGE TOKEN. After GET
/forget nobody has asked for anything yet.
"""

import hashlib
import http.server
import json
import os
import pathlib
import re
import select
import ssl
import sys
import threading
import urllib.parse

COMMITS = ["c0ffee" + str(i) * 34 for i in range(2)]
# Not of one byte over and over, so that each part is told from others.
WEIGHTS = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(4096))
INDEX = json.dumps({"weight_map": {"a": "one.safetensors",
                                   "b": "two.safetensors"}}).encode()
SMALL = {"config.json": b'{"model_type": "marian"}', "tokenizer.json": b"{}"}
MODELS = {
    "plain": {
        **SMALL, "model.safetensors": WEIGHTS, "vocab.json": b"",
        "source.spm": b"spm", "chat_template.jinja": b"{{ messages }}",
        "1_Pooling/config.json": b"{}", "2_Dense/model.safetensors": b"dense",
        "pytorch_model.bin": b"pickle", "modeling.py": b"code",
        "README.md": b"words", "onnx/model.onnx": b"onnx",
        "onnx/config.json": b"{}", "other.safetensors": b"other",
        "../up.json": b"{}", "/etc/passwd.json": b"{}", ".hidden.json": b"{}",
        "a/../b.json": b"{}", "tf_model.h5.index.json": b"{}"},
    "shards": {**SMALL, "model.safetensors.index.json": INDEX,
               "one.safetensors": b"one", "two.safetensors": b"two",
               "three.safetensors": b"three"},
    "evil-index": {**SMALL, "model.safetensors.index.json":
                   b'{"weight_map": {"a": "../../up.safetensors"}}'},
    "quants": {"m-Q4.gguf": b"four", "m-Q8.gguf": b"eight",
               "big-00001-of-00002.gguf": b"1",
               "big-00002-of-00002.gguf": b"2"},
    "adapted": {**SMALL, "model.safetensors": b"weights",
                "adapter_config.json": b"{}", "adapter_model.bin": b"lora"},
    "torch": {**SMALL, "pytorch_model.bin": b"torch",
              "2_Dense/pytorch_model.bin": b"dense",
              "sparse_linear.pt": b"sparse", "colbert_linear.pt": b"tokens",
              "2_Dense/sparse_linear.pt": b"no", "optimizer.pt": b"no",
              "artifact.metadata": b"{}",
              "flax_model.msgpack": b"flax"},
    "torch-shards": {**SMALL, "pytorch_model.bin.index.json":
                     b'{"weight_map": {"a": "pytorch_model-1-of-1.bin"}}',
                     "pytorch_model-1-of-1.bin": b"one",
                     "training_args.bin": b"pickle"},
    "folders": {"modules.json": b"[]", "0_Transformer/config.json": b"{}",
                "0_Transformer/pytorch_model.bin": b"torch",
                "0_Transformer/vocab.txt": b"words",
                "1_Pooling/config.json": b"{}", "onnx/model.safetensors": b"no"},
    "router": {
        "modules.json": b"[]", "router_config.json": b"{}",
        "query_0_StaticEmbedding/model.safetensors": b"table",
        "query_0_StaticEmbedding/tokenizer.json": b"{}",
        "document_0_Transformer/config.json": b"{}",
        "document_0_Transformer/model.safetensors.index.json": INDEX,
        "document_0_Transformer/one.safetensors": b"one",
        "document_0_Transformer/two.safetensors": b"two",
        "1_Router/router_config.json": b"{}",
        "1_Router/document_0_Dense/model.safetensors": b"dense",
        "1_Router/a/0_Dense/model.safetensors": b"no"},
    "no-weights": {"modules.json": b"[]", "config.json": b"{}",
                   "1_Dense/model.safetensors": b"dense"},
    "flax": {**SMALL, "flax_model.msgpack": b"flax"},
    "adapter": {"adapter_config.json": b"{}",
                "adapter_model.safetensors": b"weights"},
    "ct2": {**SMALL, "model.bin": b"numbers",
            "shared_vocabulary.txt": b"words"},
    "bare": {"model.safetensors": b"weights"},
}


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def is_large(path):
    return path.endswith((".safetensors", ".gguf", ".bin"))


class Faults:
    """What an owner's models have: functions of a request, true if they have
    answered it. `count` is how often the server was asked for that path."""

    @staticmethod
    def secret(request, count):
        token = request.headers.get("Authorization")
        if request.place == "other" or token == "Bearer s3cret":
            return False
        return request.fail(403 if token else 401)

    @staticmethod
    def missing(request, count):
        return request.fail(404)

    @staticmethod
    def busy(request, count):
        return count < 2 and request.fail(429, {"Retry-After": "0"})

    @staticmethod
    def broken(request, count):
        return count < 2 and request.fail(500)

    @staticmethod
    def down(request, count):
        return request.fail(503)

    @staticmethod
    def cut(request, count):
        return request.weights and count == 0 and request.part(50_000)

    @staticmethod
    def stalled(request, count):
        return request.weights and count == 0 and request.part(50_000, True)

    @staticmethod
    def norange(request, count):
        del request.headers["Range"]
        return Faults.cut(request, count)

    @staticmethod
    def badrange(request, count):
        request.shift = int(count > 0)
        return Faults.cut(request, count)

    @staticmethod
    def wrong(request, count):
        request.change = lambda data: b"?" + data[1:]
        return False

    @staticmethod
    def endless(request, count):
        request.change = lambda data: data + data
        return False

    @staticmethod
    def nohash(request, count):
        request.tag = '"v1"'
        return False

    @staticmethod
    def nosize(request, count):
        request.size = "many"
        return False

    @staticmethod
    def flood(request, count):
        return request.place == "list" and request.reply(b"x" * (17 << 20))

    @staticmethod
    def page(request, count):
        return request.place == "list" and request.reply(b"<html>")

    @staticmethod
    def badcommit(request, count):
        request.commit = "../../../../up"
        return False

    @staticmethod
    def loop(request, count):
        return request.place == "list" and request.fail(
            307, {"Location": request.path})

    @staticmethod
    def away(request, count):
        if request.place != "list" or request.headers["Host"] in request.other:
            return False
        return request.fail(307, {"Location": request.other + request.path})

    @staticmethod
    def renamed(request, count):
        if request.place == "other":
            return False
        return request.fail(307, {"Location": request.path.replace(
            "renamed/", "new/", 1)})

    @staticmethod
    def moving(request, count):
        if request.place == "list":
            request.commit = COMMITS[count % 2]
        return False

    @staticmethod
    def fading(request, count):
        if COMMITS[1] in request.path:
            return request.fail(503)
        return Faults.moving(request, count)


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    bundled = {}  # the files of bundled/NAME
    other = ""  # the URL of the other server
    journal = []
    counts = {}
    lock = threading.Lock()

    def do_GET(self):
        self.path = re.sub("^http://[^/]+", "", self.path)
        if self.path == "/journal":
            lines = "\n".join(Hub.journal)
            Hub.journal.clear()
            return self.reply(lines.encode())
        if self.path == "/forget":
            Hub.journal.clear()
            Hub.counts.clear()
            return self.reply(b"")
        token = self.headers.get("Authorization", "-")
        with Hub.lock:
            Hub.journal.append(
                f"{self.command} {self.path} {self.headers.get('Range', '-')} "
                f"{token.removeprefix('Bearer ')}")
            key = (self.command, self.path)
            count = Hub.counts.get(key, 0)
            Hub.counts[key] = count + 1
        self.answer(urllib.parse.unquote(self.path.partition("?")[0]), count)

    do_HEAD = do_GET

    def answer(self, path, count):
        self.commit, self.tag, self.size = COMMITS[0], None, None
        self.shift, self.change = 0, lambda data: data
        for self.place, form in (
                ("list", r"/api/models/([^/]+)/([^/]+)/revision/(.+)"),
                ("tree", r"/api/models/([^/]+)/([^/]+)/tree/(.+)"),
                ("file", r"/([^/]+)/([^/]+)/resolve/([^/]+)/(.+)"),
                ("other", r"/large/([^/]+)/([^/]+)/([^/]+)/(.+)")):
            match = re.fullmatch(form, path)
            if match:
                break
        else:
            return self.fail(404)
        self.owner, self.name = match[1], match[2]
        self.weights = self.place == "other" and match[4] == "model.safetensors"
        fault = getattr(Faults, self.owner, None)
        if fault and fault(self, count):
            return None
        files = (self.bundled if self.owner == "bundled" else MODELS)[self.name]
        if self.place == "list":
            return self.reply(json.dumps({
                "id": f"{self.owner}/{self.name}", "sha": self.commit,
                "siblings": [{"rfilename": f} for f in files]}).encode())
        if self.place == "tree":  # huggingface_hub asks for it
            return self.reply(json.dumps([
                {"type": "file", "path": f, "oid": git_hash(data),
                 "size": len(data)} for f, data in files.items()]).encode())
        if match[4] not in files:
            return self.fail(404)
        return self.send_file(match[3], match[4], files[match[4]])

    def send_file(self, commit, path, data):
        if self.place == "other":
            return self.send_part(self.change(data))
        large = is_large(path)
        tag = self.tag or '"%s"' % (hashlib.sha256(data).hexdigest() if large
                                    else git_hash(data))
        size = self.size or str(len(data))
        head = {"X-Repo-Commit": commit, "X-Linked-Size": size}
        if not large:
            return self.reply(data, {**head, "ETag": tag})
        return self.fail(302, {
            **head, "X-Linked-Etag": tag, "ETag": '"of the redirect"',
            "Location": f"{self.other}/large/{self.owner}/{self.name}/"
                        f"{commit}/{path}?key=signed"})

    def send_part(self, data):
        begin = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not begin:
            return self.reply(data)
        at = int(begin[1]) + self.shift
        return self.reply(data[at:], {
            "Content-Range": f"bytes {at}-{len(data) - 1}/{len(data)}"}, 206)

    def reply(self, data, headers={}, status=200):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
        return True

    def fail(self, status, headers={}):
        return self.reply(b"words about it", headers, status)

    def part(self, count, wait=False):
        """The head and the first bytes of the answer; then the connection is
        closed, or waits for the client to go."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(WEIGHTS)))
        self.end_headers()
        self.wfile.write(WEIGHTS[:count])
        self.wfile.flush()
        if wait:
            self.rfile.read(1)
        self.close_connection = True
        return True

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ssl.SSLError):
            pass  # the client is as it should be

    def log_message(self, *_):
        pass


def main():
    golden = pathlib.Path(__file__).parents[1] / "golden/marian/bin-only"
    Hub.bundled = {
        name: {p.name: p.read_bytes() for p in folder.iterdir()}
        for name, folder in (("en-de", pathlib.Path(sys.argv[1])),
                             ("bin-only", golden))}
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
               for _ in range(2)]
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*sys.argv[2:])
        servers[0].socket = context.wrap_socket(servers[0].socket,
                                                server_side=True)
    ports = [server.server_address[1] for server in servers]
    Hub.other = f"http://127.0.0.1:{ports[1]}"
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*ports, flush=True)
    poll = select.poll()
    poll.register(1, select.POLLERR)
    poll.poll()
    os._exit(0)


main()
