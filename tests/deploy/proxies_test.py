"""The configurations of proxies. With the proxies themselves, where they are."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from deploy_files import ROOT, read_yaml

FOLDER = ROOT / "deploy/proxies"
NAMES = ["envoy.yaml", "haproxy.cfg", "nginx.conf"]
WATCH = "/grpc.health.v1.Health/Watch"
CALL = "/attend.v1.Attend/Generate"
PROGRAMS = {
    "envoy.yaml": ["envoy", "--log-level", "off", "--concurrency", "1",
                   "--base-id", "8", "-c"],
    "haproxy.cfg": ["haproxy", "-f"],
    "nginx.conf": ["nginx", "-g", "daemon off;", "-c"],
}


def path_of(program):
    """None if it is not there, or cannot be run."""
    if program == "nginx" and os.geteuid() != 0:
        return None  # its log and its scratch folders are root's
    return shutil.which(program, path=f"/usr/sbin:{os.environ['PATH']}")


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def proxy_of_nothing(name):
    """The proxy with its configuration, on a port of its own (which it yields),
    before three replicas that are not there."""
    program, *arguments = PROGRAMS[name]
    numbers = ["50050", "50051", "50052", "50053", "8081", "8082", "8083"]
    ports = dict(zip(numbers, map(str, free_ports(len(numbers)))))
    text = re.sub(r"\b(5005\d|808\d)\b", lambda found: ports[found[0]],
                  (FOLDER / name).read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text(text.replace("http {", f"pid {folder}/pid;\n"
                                     "error_log stderr crit;\nhttp {"))
        with subprocess.Popen([path_of(program), *arguments, str(path)],
                              stderr=subprocess.DEVNULL) as process:
            try:
                yield int(ports["50050"])
            finally:
                process.terminate()


def headers_of(port, path, more=()):
    """Of the answer to a call of gRPC: its status code, "" if the call is reset,
    and its headers. Another call follows; "connections" are those that it
    needed."""
    url = f"http://127.0.0.1:{port}{path}"
    call = ["--silent", "--http2-prior-knowledge", "--max-time", "20", "-H",
            "content-type: application/grpc", "-H", "te: trailers", "--request",
            "POST"]
    for _ in range(100):
        found = subprocess.run(
            ["curl", *call, "--include",
             *(word for header in more for word in ("-H", header)), url,
             "--next", *call, "--output", os.devnull, "--write-out",
             "\n\nconnections: %{num_connects}", url],
            capture_output=True, text=True)
        if found.returncode == 0:  # else nobody listens yet
            break
        time.sleep(0.1)
    parts = found.stdout.split("\n\n")
    first, *lines = parts[0].splitlines() or ["HTTP/2 "]
    return first.split(" ")[1], dict(line.split(": ", 1)
                                  for line in [*lines, parts[-1]])


class ProxiesTest(unittest.TestCase):

    def test_all_have_the_same_ports_and_replicas(self):
        self.assertEqual(sorted(path.name for path in FOLDER.iterdir()), NAMES)
        for name in NAMES:
            text = re.sub(r"^\s*#.*", "", (FOLDER / name).read_text(),
                          flags=re.MULTILINE)
            self.assertEqual(sorted(re.findall(r"\b5005\d\b", text)),
                             ["50050", "50051", "50052", "50053"], name)
            # Clients do not take the health of one replica for that of all.
            self.assertIn(WATCH, text, name)
            self.assertRegex(text, r'grpc-status\b.{0,10}\b12\b', name)

    def test_envoy_leaves_time_to_the_client(self):
        [config] = read_yaml("deploy/proxies/envoy.yaml")
        [listener] = config["static_resources"]["listeners"]
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        self.assertEqual(manager["stream_idle_timeout"], "0s")
        watch, calls = manager["route_config"]["virtual_hosts"][0]["routes"]
        self.assertEqual(watch["match"]["path"], WATCH)
        self.assertEqual(calls["route"]["timeout"], "0s")
        self.assertEqual(
            calls["route"]["max_stream_duration"]["grpc_timeout_header_max"],
            "0s")
        # What the server answered is not retried here: the client is told when.
        self.assertEqual(calls["route"]["retry_policy"]["retry_on"],
                         "connect-failure,refused-stream")

    def test_the_proxies_take_them(self):
        for program, arguments in (
                ("envoy", ["--mode", "validate", "-c", "envoy.yaml"]),
                ("haproxy", ["-c", "-f", "haproxy.cfg"]),
                ("nginx", ["-t", "-c", str(FOLDER / "nginx.conf")])):
            path = path_of(program)
            if path:
                subprocess.run([path, *arguments], cwd=FOLDER, check=True,
                               capture_output=True)

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_their_own_answers_are_those_of_grpc(self):
        """Go's client takes others for UNKNOWN, and never becomes ready."""
        for name, arguments in PROGRAMS.items():
            if not path_of(arguments[0]):
                continue
            with self.subTest(name), proxy_of_nothing(name) as port:
                for path, status in ((WATCH, "12"), (CALL, "14")):
                    code, headers = headers_of(port, path)
                    if name == "haproxy.cfg" and path == CALL:
                        self.assertEqual(code, "503")  # read as UNAVAILABLE
                        continue
                    self.assertEqual(code, "200", path)
                    self.assertEqual(headers["content-type"],
                                     "application/grpc", path)
                    self.assertEqual(headers["grpc-status"], status, path)


    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_metadata_that_no_replica_takes_ends_its_call_alone(self):
        large = [f"a{i}: {'b' * 600}" for i in range(17)]
        many = [f"a{i}: b" for i in range(95)]
        for name, arguments in PROGRAMS.items():
            if not path_of(arguments[0]):
                continue
            with self.subTest(name), proxy_of_nothing(name) as port:
                headers_of(port, CALL)  # until it listens
                for headers, status in ((large, "8"), (many, "8"),
                                        (["x-bin: %"], "3")):
                    if name == "nginx.conf" and headers is not large:
                        continue  # left to the replica
                    code, answer = headers_of(port, CALL, headers)
                    # Envoy resets streams that are too large.
                    self.assertIn((code, answer.get("grpc-status")),
                                  (("200", status), ("", None)), headers[0][:9])
                    self.assertEqual(answer["connections"], "0", headers[0][:9])


if __name__ == "__main__":
    unittest.main()
