"""The unit of systemd, and what the server tells systemd."""

import configparser
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import attend_server
from deploy_files import FLUSH_SECONDS, ROOT

FOLDER = ROOT / "deploy/systemd"
UNIT = FOLDER / "attend.service"


class NotifyTest(unittest.TestCase):

    def check(self, name, variable):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(name)
            manager.settimeout(60)
            command = [
                attend_server.BINARY, f"--model={ROOT}/models/en-de",
                "--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
                "--http-port=0", "--kv-cache-bytes=16MiB", "--threads=1"]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL,
                                  env={"NOTIFY_SOCKET": variable}) as server:
                self.assertEqual(manager.recv(100), b"READY=1")
                for _ in range(2):
                    self.assertEqual(manager.recv(100), b"WATCHDOG=1")
                server.send_signal(signal.SIGTERM)
                told = b"WATCHDOG=1"
                while told == b"WATCHDOG=1":
                    told = manager.recv(100)
                self.assertEqual(told, b"STOPPING=1")
                self.assertEqual(server.wait(60), 0)

    def test_what_the_server_tells(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "notify")
            self.check(path, path)

    def test_an_abstract_name(self):
        with tempfile.TemporaryDirectory() as folder:  # for a name of its own
            self.check(f"\0{folder}", f"@{folder}")

    def test_nobody_listens(self):
        for variable in "/no/where", "nonsense", "/" + 200 * "a":
            with unittest.mock.patch.dict(os.environ, NOTIFY_SOCKET=variable), \
                    attend_server.running() as ports:
                self.assertEqual(len(ports), 2)  # it is ready


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
SETTINGS = 4


def listen(address="127.0.0.1"):
    return socket.create_server((address, 0))


def port_of(listening):
    return listening.getsockname()[1]


@contextlib.contextmanager
def killed_at_the_end(process):
    """So that a test that fails does not wait for it."""
    with process:
        try:
            yield process
        finally:
            process.kill()


def start(listening, *flags, process="$$", count=None):
    """A server that finds these descriptors as systemd would hand them over."""
    # First away from where they shall be.
    moved = [fcntl.fcntl(one.fileno(), fcntl.F_DUPFD, 10) for one in listening]
    try:
        places = " ".join(f"{3 + i}<&{number} {number}<&-"
                          for i, number in enumerate(moved))
        script = (f"exec {places}; export LISTEN_PID={process}; "
                  'exec "$@"')
        number = len(moved) if count is None else count
        return killed_at_the_end(subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", attend_server.BINARY,
             f"--model={ROOT}/models/en-de", "--host=127.0.0.1",
             "--http-host=127.0.0.1", "--kv-cache-bytes=16MiB", "--threads=1",
             *flags], env={"LISTEN_FDS": str(number), "LISTEN_FDNAMES": "a"},
            pass_fds=moved, stderr=subprocess.PIPE, text=True))
    finally:
        for number in moved:
            os.close(number)


def ports(rpc, http):
    return f"--port={port_of(rpc)}", f"--http-port={port_of(http)}"


def wait_until_ready(server):
    for line in server.stderr:
        if "event=ready" in line:
            return line
    raise RuntimeError("no server")


def end(server):
    server.terminate()
    server.stderr.read()
    return server.wait(60)


def translate(port, *flags):
    return killed_at_the_end(subprocess.Popen(
        [os.environ["ATTEND_CLI"], "translate", "Two dogs run.",
         "--address", f"127.0.0.1:{port}", *flags],
        stdout=subprocess.PIPE, text=True))


def seconds_of_cpu(process):
    """Of the process, and of the kernel for it."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text()
    ticks = fields.rpartition(")")[2].split()[11:13]
    return sum(int(one) for one in ticks) / os.sysconf("SC_CLK_TCK")


def open_files(process):
    return {os.readlink(path) for path in
            pathlib.Path(f"/proc/{process}/fd").iterdir()}


def children_of(process):
    """Theirs included."""
    found = [int(path.parent.name) for path in
             pathlib.Path("/proc").glob("[0-9]*/stat")
             if int(path.read_text().rpartition(")")[2].split()[1]) == process]
    return found + [other for child in found for other in children_of(child)]


class SocketTest(unittest.TestCase):

    def setUp(self):
        self.rpc, self.http = listen(), listen()
        self.addCleanup(self.rpc.close)
        self.addCleanup(self.http.close)

    def ask_both(self):
        """Connections that ask, before anybody answers."""
        rpc = socket.create_connection(self.rpc.getsockname(), 60)
        rpc.sendall(PREFACE)
        http = socket.create_connection(self.http.getsockname(), 60)
        http.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
        return rpc, http

    def check_answers(self, rpc, http):
        with rpc, http:
            self.assertEqual(rpc.recv(9)[3], SETTINGS)
            self.assertEqual(http.recv(15), b"HTTP/1.1 200 OK")

    def test_who_comes_before_the_server_is_answered(self):
        early = self.ask_both()
        with translate(port_of(self.rpc)) as call, \
                start([self.http, self.rpc],
                      *ports(self.rpc, self.http)) as server:
            ready = wait_until_ready(server)
            self.assertIn(f"grpc_port={port_of(self.rpc)} "
                          f"http_port={port_of(self.http)}", ready)
            self.check_answers(*early)
            self.assertEqual(call.communicate(timeout=60)[0],
                             "Zwei Hunde laufen.\n")
            self.assertEqual(end(server), 0)

    def test_the_next_server_answers_who_comes_between(self):
        flags = ports(self.rpc, self.http)
        for _ in range(2):
            between = self.ask_both()
            with start([self.rpc, self.http], *flags) as server:
                wait_until_ready(server)
                self.check_answers(*between)
                self.assertEqual(end(server), 0)

    def test_with_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key = attend_server.make_certificate(folder)
            with translate(port_of(self.rpc), "--ca", cert) as call, \
                    start([self.rpc, self.http], *ports(self.rpc, self.http),
                          f"--tls-cert={cert}", f"--tls-key={key}") as server:
                wait_until_ready(server)
                self.assertEqual(call.communicate(timeout=60)[0],
                                 "Zwei Hunde laufen.\n")
                self.assertEqual(end(server), 0)

    def test_one_port_alone(self):
        with start([self.rpc], f"--port={port_of(self.rpc)}",
                   "--http-port=0") as server:
            ready = wait_until_ready(server)
            self.assertIn(f"grpc_port={port_of(self.rpc)} ", ready)
            self.assertNotIn("http_port=0 ", ready)
            self.assertEqual(end(server), 0)

    @unittest.skipUnless(socket.has_dualstack_ipv6(), "no IPv6")
    def test_all_addresses(self):
        rpc, http = [socket.create_server(
            ("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
            for _ in range(2)]
        with rpc, http, start([rpc, http], *ports(rpc, http)) as server:
            wait_until_ready(server)
            for address in "127.0.0.1", "::1":
                early = [socket.create_connection((address, port_of(one)), 60)
                         for one in (rpc, http)]
                early[0].sendall(PREFACE)
                early[1].sendall(b"GET /livez HTTP/1.0\r\n\r\n")
                self.check_answers(*early)
            self.assertEqual(end(server), 0)

    def test_several_sockets_of_the_grpc_port(self):
        with socket.create_server(("127.0.0.2", port_of(self.rpc))) as other, \
                start([self.rpc, other], f"--port={port_of(self.rpc)}",
                      "--http-port=0") as server:
            wait_until_ready(server)
            for address in self.rpc, other:
                with socket.create_connection(address.getsockname(),
                                              60) as connection:
                    connection.sendall(PREFACE)
                    self.assertEqual(connection.recv(9)[3], SETTINGS)
            self.assertEqual(end(server), 0)

    def test_its_children_have_no_sockets(self):
        with start([self.rpc, self.http],
                   *ports(self.rpc, self.http)) as server:
            wait_until_ready(server)
            held = {os.readlink(f"/proc/self/fd/{one.fileno()}")
                    for one in (self.rpc, self.http)}
            self.assertLess(held, open_files(server.pid))
            children = children_of(server.pid)
            self.assertTrue(children)
            for child in children:
                self.assertFalse(held & open_files(child), child)
            self.assertEqual(end(server), 0)

    def test_a_dead_port_is_seen(self):
        page = f"http://127.0.0.1:{port_of(self.http)}/livez"
        with start([self.rpc, self.http],
                   *ports(self.rpc, self.http)) as server:
            wait_until_ready(server)
            with urllib.request.urlopen(page, timeout=60) as answer:
                self.assertEqual(answer.status, 200)
            begin, used = time.monotonic(), seconds_of_cpu(server.pid)
            # The server's copy stops listening, too.
            self.rpc.shutdown(socket.SHUT_RDWR)
            with self.assertRaises(urllib.error.HTTPError) as dead:
                while time.monotonic() < begin + 120:
                    urllib.request.urlopen(page, timeout=60).close()
                    # The server asks its port every 5 s, and three times.
                    time.sleep(0.1)
            dead.exception.close()
            self.assertEqual(dead.exception.code, 503)
            # It does not try to accept without a pause.
            self.assertLess(seconds_of_cpu(server.pid) - used,
                            (time.monotonic() - begin) / 4)
            self.assertEqual(end(server), 0)

    def test_those_of_another_process(self):
        with start([self.rpc, self.http], "--port=0", "--http-port=0",
                   process="1") as server:
            self.assertNotIn(f"grpc_port={port_of(self.rpc)} ",
                             wait_until_ready(server))
            self.assertEqual(end(server), 0)

    def refusal(self, listening, *flags, count=None):
        with start(listening, *flags, count=count) as server:
            _, error = server.communicate(timeout=60)
            self.assertEqual(server.returncode, 2)
            return error

    def test_descriptors_that_are_no_ports(self):
        unbound = socket.socket()
        datagrams = socket.socket(type=socket.SOCK_DGRAM)
        local = socket.socket(socket.AF_UNIX)
        with unbound, datagrams, local, open("/dev/null") as file, \
                tempfile.TemporaryDirectory() as folder:
            local.bind(f"{folder}/socket")
            local.listen()
            for wrong in unbound, datagrams, local, file:
                self.assertEqual(
                    self.refusal([self.rpc, wrong],
                                 f"--port={port_of(self.rpc)}"),
                    "attend-server: descriptor 4 (LISTEN_FDS) is no socket of "
                    "TCP that listens\n")

    def test_ports_that_nobody_wants(self):
        self.assertEqual(
            self.refusal([self.rpc], "--port=1", "--http-port=2"),
            "attend-server: descriptor 3 (LISTEN_FDS) listens on port "
            f"{port_of(self.rpc)}, must be 1 (port) or 2 (http_port)\n")
        with socket.create_server(
                ("127.0.0.2", port_of(self.http))) as other:
            self.assertIn("is the second socket of port",
                          self.refusal([self.http, other], "--port=1",
                                       f"--http-port={port_of(self.http)}"))

    def test_numbers_that_are_wrong(self):
        for count in "-1", "65", "x", "99999999999", "\xff":
            self.assertIn("must be in [0, 64]",
                          self.refusal([self.rpc], count=count))
        # More than there are.
        self.assertIn("descriptor 4 (LISTEN_FDS) is no socket",
                      self.refusal([self.rpc], f"--port={port_of(self.rpc)}",
                                   count=2))


class UnitTest(unittest.TestCase):

    def setUp(self):
        unit = configparser.ConfigParser(  # a key may come twice
            strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(UNIT)
        self.service = unit["Service"]

    def test_the_file_of_options_is_read(self):
        text = (FOLDER / "attend.toml").read_text()
        self.assertTrue(attend_server.help_text(
            {"ATTEND_CONFIG": str(FOLDER / "attend.toml")}))
        drain = attend_server.seconds(
            re.search(r'^drain-timeout = "(\w+)"', text, re.M).group(1))
        self.assertGreaterEqual(int(self.service["TimeoutStopSec"]),
                                drain + FLUSH_SECONDS)

    def test_only_the_server_is_signalled(self):
        self.assertEqual(self.service["Type"], "notify")
        self.assertEqual(self.service["KillMode"], "mixed")
        self.assertGreaterEqual(int(self.service["WatchdogSec"]), 30)

    def test_sockets_are_those_of_the_options(self):
        lines = (FOLDER / "attend.socket").read_text().splitlines()
        listening = [line.split("=")[1] for line in lines
                     if line.startswith("ListenStream=")]
        options = dict(re.findall(r'^([\w-]+) = "([^"]*)"', (
            FOLDER / "attend.toml").read_text(), re.M))
        defaults = dict(re.findall(r"ATTEND_(\w*PORT), default (\d+)",
                                   attend_server.help_text()))
        self.assertEqual(listening, [
            f"{options['host']}:{defaults['PORT']}",
            f"{options['http-host']}:{defaults['HTTP_PORT']}"])
        self.assertEqual(self.service["Sockets"], "attend.socket")

    def test_models_of_a_hub_have_a_place(self):
        self.assertEqual(self.service["Environment"],
                         f"HF_HUB_CACHE=%C/{self.service['CacheDirectory']}")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd")
    def test_systemd_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "attend.service"
            copy.write_text(re.sub(
                r"^ExecStart=\S+", f"ExecStart={attend_server.BINARY}",
                UNIT.read_text(), flags=re.MULTILINE))
            shutil.copy(FOLDER / "attend.socket", folder)
            found = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", str(copy),
                 str(copy.with_suffix(".socket"))],
                capture_output=True, text=True)
            self.assertEqual((found.returncode, found.stderr), (0, ""))
            subprocess.run(
                ["systemd-analyze", "security", "--offline=true",
                 "--threshold=15", str(copy)], check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()
