"""The unit of systemd, and what the server tells systemd."""

import configparser
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import unittest.mock

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
            found = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", str(copy)],
                capture_output=True, text=True)
            self.assertEqual((found.returncode, found.stderr), (0, ""))
            subprocess.run(
                ["systemd-analyze", "security", "--offline=true",
                 "--threshold=15", str(copy)], check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()
