"""The calls of soak.py: threads that ask for anything, at random."""

import dataclasses
import http.client
import json
import random
import socket
import ssl
import struct
import threading
import time
import urllib.parse

import http2_frames as http2
from mutated import METHODS, connect, finish, messages, mutate

TEXTS = ("Two dogs are running through the snow.", "Hi.",
         "A man in a red shirt stands on a ladder and cleans a window. " * 4)
INITIAL_WINDOW_SIZE = 4


@dataclasses.dataclass
class Access:
    """How to reach a server. Without a CA it has no TLS."""

    address: str
    http: str  # how URLs begin
    ca: str | None
    keys: list  # of tenants; [None]: there are none


def channel_of(access, key):
    import grpc
    if access.ca is None:
        return connect(access.address)
    with open(access.ca, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    return grpc.secure_channel(
        access.address, grpc.composite_channel_credentials(
            credentials, grpc.access_token_call_credentials(key)),
        options=[("grpc.use_local_subchannel_pool", 1),
                 ("grpc.enable_retries", 0)])


class Load:
    """What one thread asks for."""

    def __init__(self, access, seed):
        from attend_client import pb  # mutated.py has made its path known
        self._pb = pb
        self._access = access
        self._random = random.Random(seed)
        self._valid = messages()
        self._key = self._random.choice(access.keys)
        url = urllib.parse.urlparse(access.http)
        self._http_host = url.hostname, url.port
        self._http_context = None
        if access.ca is not None:
            self._http_context = ssl.create_default_context(cafile=access.ca)

    def run(self, pause, end):
        over_grpc = (self._whole, self._whole, self._slow_stream,
                     self._given_up, self._deadline, self._mutated)
        over_http = (self._http_whole, self._http_stream, self._http_left,
                     self._http_mutated)
        while time.time() < end:
            self._key = self._random.choice(self._access.keys)
            if self._random.random() < 0.1:
                self._unread()
            with channel_of(self._access, self._key) as channel:
                for _ in range(self._random.randint(1, 40)):
                    if time.time() > end:
                        break
                    if self._random.random() < 0.3:
                        self._random.choice(over_http)()
                    else:
                        self._random.choice(over_grpc)(channel)
                    time.sleep(pause * self._random.random())

    def _request(self):
        pb = self._pb
        return pb.GenerateRequest(
            inputs=[pb.Input(text=self._random.choice(TEXTS))
                    for _ in range(self._random.randint(1, 6))],
            params=pb.GenerationParams(
                num_beams=self._random.choice((1, 1, 4)),
                max_new_tokens=self._random.randint(1, 60),
                log_probs=self._random.random() < 0.2)).SerializeToString()

    def _call(self, channel, name, timeout=30):
        method = channel.unary_stream(f"/attend.v1.Attend/{name}")
        return method(self._request(), timeout=timeout)

    def _whole(self, channel):
        finish(self._call(channel, "Generate"))

    def _slow_stream(self, channel):
        import grpc
        try:
            for _ in self._call(channel, "GenerateStream"):
                time.sleep(self._random.random() * 0.02)
        except grpc.RpcError:
            pass  # the queue may be full

    def _given_up(self, channel):
        call = self._call(channel, "GenerateStream")
        time.sleep(self._random.random() * 0.05)
        call.cancel()

    def _deadline(self, channel):
        finish(self._call(channel, "Generate",
                          timeout=self._random.random() * 0.05))

    def _mutated(self, channel):
        name = self._random.choice(METHODS)
        method = channel.unary_stream(f"/attend.v1.Attend/{name}")
        finish(method(mutate(self._valid[name], self._random), timeout=10))

    def _unread(self):
        """A stream over gRPC whose client lets the server send 32 bytes."""
        body = self._request()
        headers = http2.request_headers(b"/attend.v1.Attend/GenerateStream")
        if self._key:
            headers += http2.literal(b"authorization",
                                     b"Bearer " + self._key.encode())
        try:
            with http2.connect(self._access.address,
                               self._access.ca is not None) as connection:
                connection.sendall(http2.frame(
                    http2.SETTINGS, 0, 0,
                    struct.pack(">HI", INITIAL_WINDOW_SIZE, 32)))
                http2.acknowledge(connection)
                connection.sendall(
                    http2.frame(http2.HEADERS, http2.END_HEADERS, 1, headers) +
                    http2.frame(http2.DATA, http2.END_STREAM, 1,
                                struct.pack(">BI", 0, len(body)) + body))
                connection.settimeout(self._random.choice((1, 8)))
                while connection.recv(4096):
                    pass
        except OSError:
            pass

    def _post(self, path, body):
        """The connection, whose answer is not read yet."""
        kind, more = http.client.HTTPConnection, {}
        if self._http_context is not None:
            kind = http.client.HTTPSConnection
            more = {"context": self._http_context}
        connection = kind(*self._http_host, timeout=30, **more)
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection.request("POST", path, body, headers)
        return connection

    def _completion(self, stream):
        return json.dumps({
            "prompt": self._random.choice(TEXTS), "stream": stream,
            "max_tokens": self._random.randint(1, 60)}).encode()

    def _read(self, connection, size=None):
        try:
            connection.getresponse().read(size)
        except (OSError, http.client.HTTPException):
            pass
        connection.close()

    def _http_whole(self):
        if self._random.random() < 0.5:
            self._read(self._post("/v1/completions", self._completion(False)))
        else:
            self._read(self._post(
                "/attend.v1.Attend/Generate",
                json.dumps({"inputs": [
                    {"text": self._random.choice(TEXTS)}]}).encode()))

    def _http_stream(self):
        self._read(self._post("/v1/completions", self._completion(True)))

    def _http_left(self):
        """A stream of events that is read in part, or not, and closed."""
        connection = self._post("/v1/completions", self._completion(True))
        time.sleep(self._random.random() * 0.05)
        if self._random.random() < 0.5:
            self._read(connection, self._random.randint(1, 300))
        else:
            if self._random.random() < 0.5:  # by a reset
                connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
            connection.close()

    def _http_mutated(self):
        self._read(self._post(
            self._random.choice(("/v1/completions", "/v1/embeddings",
                                 "/attend.v1.Attend/GenerateStream")),
            mutate(self._completion(True), self._random)))


def load(access, seed, at_once, pause, end):
    """Runs threads until the time `end`."""
    threads = [threading.Thread(target=Load(access, f"{seed}/{i}").run,
                                args=(pause, end)) for i in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
