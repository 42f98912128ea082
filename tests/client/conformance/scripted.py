"""Servers that answer by a script, one line of it a call; see cases.json."""

import contextlib
import socket
import subprocess
import threading

import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1 import attend_pb2_grpc
from fake import NOT_SERVING, FakeServer, pushback, retry_info
from google.protobuf import json_format

TIMEOUT = 60
NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


def trailers_of(line):
    """What a line of a script says beside its code."""
    if "pushback" in line:
        yield pushback(line["pushback"])
    if "retryInfo" in line:
        yield retry_info(line["retryInfo"], grpc.StatusCode[line["code"]])
    if "details" in line:
        yield ("grpc-status-details-bin", bytes.fromhex(line["details"]))


class ScriptedServer(FakeServer):
    """`script` has a line for each of the first calls. Others are answered, but
    those of the text `hangs_at`. Before it may be a Relay, which dies.
    `models` is what GetModel answers by turns, None: an error."""

    def __init__(self, name, script=(), serving=True, hangs_at=None,
                 dies_at=None, models=(), credentials=None):
        super().__init__(name, credentials=credentials)
        attend_pb2_grpc.add_AdminServicer_to_server(ScriptedAdmin(self),
                                                    self.server)
        self.script, self.hangs_at = list(script), hangs_at
        self.hung = False
        self.models = list(models)
        if not serving:
            self.health.set("", NOT_SERVING)
        self.relay = None
        if dies_at:
            self.relay = Relay(self.address, dies_at.encode())
            self.address = self.relay.address

    def stop(self):
        if self.relay:
            self.relay.stop()
        super().stop()

    def next_line(self, request, context):
        self.note(context)
        line = self.script.pop(0) if self.script else {}
        if request.inputs[0].text == self.hangs_at:
            self.hang(context)
        if "parts" not in line:
            self.end_badly(line, context)
        return line

    def hang(self, context):
        self.hung = True
        gone = threading.Event()
        if context.add_callback(gone.set):
            gone.wait(TIMEOUT)
        self.ended.set()

    def end_badly(self, line, context):
        if "code" in line:
            context.set_trailing_metadata(list(trailers_of(line)))
            context.abort(grpc.StatusCode[line["code"]], "failed")

    def Generate(self, request, context):
        self.next_line(request, context)
        return pb.GenerateResponse(results=[
            pb.GenerateResult(choices=[pb.Choice(text=self.name)])])

    def GetModel(self, request, context):
        model = self.models.pop(0) if self.models else None
        if model is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "there is no model")
        return json_format.ParseDict(model, pb.Model())

    def GenerateStream(self, request, context):
        line = self.next_line(request, context)
        self.params.append(request.params)
        if line.get("parts") == "for ever":
            context.add_callback(self.ended.set)
            while context.is_active():
                yield pb.GenerateChunk(text="part")
            return
        for i in range(line.get("parts", 0)):
            yield pb.GenerateChunk(text="part", ids=[i + 1])
        self.end_badly(line, context)
        yield pb.GenerateChunk(text=line.get("last", self.name))


class ScriptedAdmin(attend_pb2_grpc.AdminServicer):
    """Loads a model whose family is the name of the server."""

    def __init__(self, server):
        self._server = server

    def LoadModel(self, request, context):
        self._server.note(context)
        return pb.LoadModelResponse(model=pb.Model(family=self._server.name))

    def Profile(self, request, context):
        self._server.note(context)
        yield pb.ProfileChunk(trace=b'{"of": 1}')


class Relay:
    """Between clients and a server, until it sees some bytes: then it closes all
    connections, and takes no more."""

    def __init__(self, address, last_words):
        host, port = address.split(":")
        self.behind, self.last_words = (host, int(port)), last_words
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.lock = threading.Lock()
        self.open = [self.listener]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.behind)
                with self.lock:
                    self.open += client, server
                for pair in (client, server), (server, client):
                    threading.Thread(target=self.pass_on, args=pair,
                                     daemon=True).start()

    def pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.last_words in data:
                    self.stop()
                    return
                target.sendall(data)

    def stop(self):
        with self.lock:
            for each in self.open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self.open.clear()


def make_certificates(folder):
    """ca, server and client; the last two are signed by the first."""
    def openssl(words):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True,
                       capture_output=True)
    openssl(f"req -x509 {NEW_KEY} -subj /CN=ca -keyout ca.key -out ca.crt")
    for name in "server", "client":
        openssl(f"req {NEW_KEY} -subj /CN={name} -keyout {name}.key "
                f"-addext subjectAltName=DNS:served.test -out {name}.csr")
        openssl(f"x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key "
                f"-copy_extensions copy -out {name}.crt")


def credentials_of(folder):
    """Of a server that asks clients for certificates."""
    key, cert, ca = ((folder / name).read_bytes() for name in
                     ("server.key", "server.crt", "ca.crt"))
    return grpc.ssl_server_credentials([(key, cert)], ca, True)
