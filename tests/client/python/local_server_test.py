"""The server that an actor of attend.ray has. Ray is not needed. Started by
python_client_test.sh."""

import dataclasses
import os
import select
import signal
import subprocess
import sys
import unittest
from unittest import mock

from attend._local_server import MAX_ENDS, LocalServer
from attend.ray import Server, Translate
from served import TIMEOUT

MODEL = os.environ["ATTEND_MODEL"]
SERVER = Server(MODEL, ["--dtype=f32", "--kv-cache-bytes=64MiB"], threads=1,
                program=os.environ["ATTEND_SERVER"])
TEXTS = ["How are you?", "Two dogs play."]
CHILD = """
import sys
from attend._local_server import LocalServer
server = LocalServer(sys.argv[1:])
print(server._process.pid, flush=True)
sys.stdin.read()
"""


def wait_for_end(process):
    """`process` is a descriptor of pidfd_open."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    if not poll.poll(TIMEOUT * 1000):
        raise RuntimeError("the process goes on")
    os.close(process)


class LocalServerTest(unittest.TestCase):
    def test_a_server_that_is_killed_is_started_again(self):
        with Translate(SERVER, inputs_per_call=1) as stage:
            before = list(stage({"text": TEXTS})["translation"])
            self.assertEqual(len(set(before)), 2)
            server = stage._server
            address = server.address
            for _ in range(MAX_ENDS - 1):
                process = os.pidfd_open(server._process.pid)
                server._process.kill()
                wait_for_end(process)
                after = list(stage({"text": TEXTS})["translation"])
                self.assertEqual(after, before)
                self.assertEqual(server.address, address)
            self.assertIsNone(server.failure)
            process = os.pidfd_open(server._process.pid)
            server._process.kill()
            with self.assertRaisesRegex(RuntimeError,
                                        "ended with status -9, 3 times"):
                while True:  # until the end has been noticed
                    stage({"text": TEXTS})
            os.close(process)

    def test_a_stage_that_is_closed_ends_its_server(self):
        stage = Translate(SERVER)
        process = os.pidfd_open(stage._server._process.pid)
        stage.close()
        wait_for_end(process)
        self.assertIsNone(stage._server.failure)

    def test_a_server_that_cannot_start(self):
        with self.assertRaisesRegex(RuntimeError,
                                    "(?s)ended with status 1.*/no/model"):
            LocalServer(Server("/no/model", program=SERVER.program).command())
        with self.assertRaisesRegex(FileNotFoundError, "'no-server'"):
            LocalServer(Server(MODEL, program="no-server").command())
        with self.assertRaisesRegex(RuntimeError, "status 0"):
            LocalServer(["true"])

    def test_a_server_that_is_never_ready(self):
        with self.assertRaisesRegex(RuntimeError,
                                    "sh is not ready after 0.5 s:\nloading"):
            LocalServer(["sh", "-c", "echo loading >&2; exec sleep 600"], 0.5)
        # It ends, but a process that it has started keeps its log open.
        with self.assertRaisesRegex(RuntimeError, "sh ended with status 7.*:\n"
                                    "failed"):
            LocalServer(["sh", "-c", "sleep 20 & echo failed >&2; exit 7"])

    def test_flags_and_variables_that_would_hide_the_server(self):
        hides = dataclasses.replace(SERVER, flags=[
            *SERVER.flags, "--log-level=error"])
        with mock.patch.dict(os.environ, ATTEND_TLS="true",
                             ATTEND_LOG_LEVEL="error"):
            with Translate(hides) as stage:
                self.assertTrue(stage({"text": TEXTS})["translation"][0])

    def test_a_server_ends_when_its_process_is_killed(self):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, *SERVER.command()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = os.pidfd_open(int(child.stdout.readline()))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdin.close()
        child.stdout.close()
        wait_for_end(process)


if __name__ == "__main__":
    unittest.main()
