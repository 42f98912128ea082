"""The commands of README.md's "Call it", and those of docs/ by curl, run on the
server that README.md starts.

    readme_test.py ATTEND ATTEND_SERVER    the binaries
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from page_examples import PAGES, ROOT, blocks, commands

SERVER = sys.argv.pop(2)
CLIENT = sys.argv.pop(1)
README = PAGES[0].read_text(encoding="utf-8")
SECTION = README.split("\n## Call it\n")[1].split("\n## ")[0]
LINES = [line for block in re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
         for line in block.splitlines()]
# What the commands read.
FILES = {"sentences.txt": "Two dogs play.\nA man sleeps.\n",
         "page.html": "<p>A <b>dog</b> sleeps. A man runs.</p>\n",
         "terms.tsv": "dog\tDackel\n"}
# Of commands that would take long, or never end.
SHORTER = {"--requests 1000": "--requests 20",
           "attend top": "attend top --interval 100ms --pictures 2"}
# By curl, but of a server that is started in another way or has another model;
# tests/integration makes such calls.
OTHER_SERVERS = ("/attend.v1.Admin/", "/attend.v1.Attend/Answer")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class ReadmeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.scratch = pathlib.Path(directory.name)
        for name, text in FILES.items():
            (cls.scratch / name).write_text(text, encoding="utf-8")
        programs = cls.scratch / "bin"
        programs.mkdir()
        (programs / "attend").symlink_to(CLIENT)
        cls.http_port = free_port()
        start, = [line for line in LINES if "/attend-server " in line]
        server = subprocess.Popen(
            [SERVER, *shlex.split(start)[1:], "--host=127.0.0.1", "--port=0",
             "--http-host=127.0.0.1", f"--http-port={cls.http_port}",
             "--threads=1", "--kv-cache-bytes=64MiB"],
            stderr=subprocess.PIPE, text=True, cwd=ROOT)
        cls.addClassCleanup(server.stderr.close)
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)
        for line in server.stderr:
            if "event=ready" in line:
                grpc_port = re.search(r"grpc_port=(\d+)", line)[1]
                break
        else:
            raise RuntimeError("no server")
        cls.environment = dict(
            os.environ, PATH=f"{programs}:{os.environ['PATH']}",
            ATTEND_ADDRESS=f"127.0.0.1:{grpc_port}",
            ATTEND_HTTP_URL=f"http://127.0.0.1:{cls.http_port}")

    def run_lines(self, lines):
        """Runs commands; gives each with what it printed, or wrote to a
        file."""
        results = {}
        for line in lines:
            shorter = line.replace("localhost:8080",
                                   f"127.0.0.1:{self.http_port}")
            for long, short in SHORTER.items():
                shorter = shorter.replace(long, short)
            with self.subTest(line):
                result = subprocess.run(
                    ["bash", "-c", shorter], capture_output=True, text=True,
                    timeout=120, cwd=self.scratch, env=self.environment)
                self.assertEqual(result.returncode, 0, result.stderr)
                out = result.stdout
                if ">" in shlex.split(line):
                    out = (self.scratch / shlex.split(line)[-1]).read_text()
                self.assertNotEqual(out.strip(), "")
                results[line] = out
        return results

    def test_the_client(self):
        results = self.run_lines(
            line for line in LINES if line.split()[:1] == ["attend"])
        self.assertGreater(len(results), 7)
        for line, out in results.items():
            with self.subTest(line):
                if "sentences.txt" in line:
                    self.assertEqual(len(out.splitlines()), 2)
                if "page.html" in line:
                    self.assertRegex(out, r"<p>.*<b>.*Dackel.*</b>.*</p>")
                if "--n 3" in line:
                    texts = [row.split("\t")[2] for row in out.splitlines()]
                    self.assertEqual(len(set(texts)), 3, out)

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_curl(self):
        lines = {line for _, line in commands("curl")
                 if not any(path in line for path in OTHER_SERVERS)}
        results = self.run_lines(
            line.replace("curl ", "curl --silent --show-error --fail-with-body ")
            for line in sorted(lines))
        self.assertGreater(len(results), 3)
        for line, out in results.items():
            with self.subTest(line):
                self.assertRegex(out, "Wie geht es" if "How are you?" in line
                                 else "Hund")
        # The page shows what the call that it begins with answers.
        shown, = blocks("json", [ROOT / "docs/connect.md"])
        answer = next(out for line, out in results.items()
                      if "/attend.v1.Attend/Generate" in line)
        self.assert_has(json.loads(answer), json.loads(shown[1]))

    def assert_has(self, found, shown):
        """What is shown is there; of what is empty there may be more."""
        if isinstance(shown, dict):
            for name, value in shown.items():
                self.assert_has(found[name], value)
        elif isinstance(shown, list):
            self.assertIsInstance(found, list)
            for item, value in zip(found, shown):
                self.assert_has(item, value)
        else:
            self.assertEqual(found, shown)


if __name__ == "__main__":
    unittest.main()
