#!/usr/bin/env python3
"""Installs Attend, and builds and runs a program outside against the install.

    package_test.py CMAKE BUILD    the program cmake, and a build of Attend
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE, BUILD = sys.argv.pop(1), sys.argv.pop(1)
TEXT = "Two dogs play in the snow."


def run(*command):
    result = subprocess.run([str(word) for word in command], text=True,
                            capture_output=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{command}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def grpc_prefixes():
    """Where the build has its gRPC from; none for Debian's."""
    cache = pathlib.Path(BUILD, "CMakeCache.txt").read_text()
    return re.findall(r"^ATTEND_GRPC_PREFIX:\w+=(.+)$", cache, re.MULTILINE)


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.scratch = pathlib.Path(directory.name)
        cls.prefix = cls.scratch / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    def serve(self):
        """Starts the installed server; gives its address."""
        server = subprocess.Popen(
            [self.prefix / "bin/attend-server", f"--model={ROOT}/models/en-de",
             "--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
             "--http-port=0", "--kv-cache-bytes=16MiB", "--threads=1"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for line in server.stderr:
            if "event=ready" in line:
                port = re.search(r"grpc_port=(\d+)", line)[1]
                return f"127.0.0.1:{port}"
        raise RuntimeError("no server")

    def test_an_outside_program_links_the_client(self):
        build = self.scratch / "build"
        prefixes = ";".join([str(self.prefix), *grpc_prefixes()])
        run(CMAKE, "-S", ROOT / "tests/package/project", "-B", build,
            f"-DCMAKE_PREFIX_PATH={prefixes}")
        run(CMAKE, "--build", build)
        address = self.serve()
        translation = run(build / "translate", address, TEXT)
        self.assertIn("Hunde", translation)
        self.assertEqual(translation, run(
            self.prefix / "bin/attend", "translate", "--address", address,
            TEXT))

    def test_headers_need_no_other_of_ours(self):
        include = self.prefix / "include/attend"
        headers = [path for path in include.rglob("*.h")]
        self.assertIn(include / "client/cpp/lib/client.h", headers)
        for header in headers:
            for name in re.findall(r'^#include "((?:client|attend)/[^"]+)"',
                                   header.read_text(), re.MULTILINE):
                self.assertTrue((include / name).exists(),
                                f"{header} includes {name}")

    def test_nothing_names_the_build(self):
        for path in self.prefix.rglob("*.cmake"):
            text = path.read_text()
            for place in (str(ROOT) + os.sep, str(BUILD) + os.sep):
                self.assertNotIn(place, text, path)


if __name__ == "__main__":
    unittest.main()
