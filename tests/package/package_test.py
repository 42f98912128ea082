#!/usr/bin/env python3
"""Installs Attend, and builds and runs a program outside against the install.

    package_test.py CMAKE BUILD    the program cmake, and a build of Attend
"""

import os
import pathlib
import re
import shlex
import shutil
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


def run_quietly(*command):
    """Gives what it says on standard error."""
    return subprocess.run([str(word) for word in command], text=True,
                          capture_output=True, check=True).stderr


def grpc_prefixes():
    """Where the build has its gRPC from; none for Debian's."""
    cache = pathlib.Path(BUILD, "CMakeCache.txt").read_text()
    return re.findall(r"^ATTEND_GRPC_PREFIX:\w+=(.+)$", cache, re.MULTILINE)


def examples():
    """A program of the examples in C++: those of a page are one function."""
    includes, functions = {"#include <iostream>"}, []
    for i, name in enumerate(("README.md", "docs/clients.md")):
        page = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```cpp\n(.*?)^```$", page,
                            re.DOTALL | re.MULTILINE)
        lines = "".join(blocks).splitlines()
        includes.update(line for line in lines if line.startswith("#"))
        body = [line for line in lines if not line.startswith("#")]
        functions += [f"void Page{i}() {{", *body, "}"]
    return "\n".join([*sorted(includes), *functions, ""])


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
        program = self.scratch / "examples.cc"
        program.write_text(examples(), encoding="utf-8")
        run(CMAKE, "-G", "Ninja", "-S", ROOT / "tests/package/project",
            "-B", build, f"-DCMAKE_PREFIX_PATH={prefixes}",
            f"-DEXAMPLES={program}")
        run(CMAKE, "--build", build)
        address = self.serve()
        translation = run(build / "translate", address, TEXT)
        self.assertIn("Hunde", translation)
        self.assertEqual(translation, run(
            self.prefix / "bin/attend", "translate", "--address", address,
            TEXT))

    def targets_of(self, source, *options):
        """Those that a build has; of ours the client's, and no others."""
        build = self.scratch / source.name
        prefixes = ";".join(grpc_prefixes())
        run(CMAKE, "-G", "Ninja", "-S", source, "-B", build,
            f"-DCMAKE_PREFIX_PATH={prefixes}", *options)
        targets = run(CMAKE, "--build", build, "--", "-t", "targets", "all")
        self.assertRegex(targets, r"\battend_client\b")
        for other in "attend-server", "attend_matmul", "client_test":
            self.assertNotIn(other, targets)
        return targets

    def test_a_project_that_has_ours_in_a_folder_has_the_client(self):
        project = ROOT / "tests/package/project"
        targets = self.targets_of(project, f"-DATTEND={ROOT}",
                                  f"-DEXAMPLES={project}/translate.cc")
        self.assertRegex(targets, r"\btranslate\b")

    def test_the_client_alone_can_be_built(self):
        targets = self.targets_of(ROOT, "-DATTEND_CLIENT_ONLY=ON")
        self.assertRegex(targets, r"\binstall\b")

    def test_headers_need_no_other_of_ours(self):
        include = self.prefix / "include/attend"
        headers = [path for path in include.rglob("*.h")]
        self.assertIn(include / "client/cpp/lib/client.h", headers)
        for header in headers:
            for name in re.findall(r'^#include "((?:client|attend)/[^"]+)"',
                                   header.read_text(), re.MULTILINE):
                self.assertTrue((include / name).exists(),
                                f"{header} includes {name}")

    def complete(self, program, *words):
        """What bash offers after these words, the last of which is begun."""
        script = self.prefix / "share/bash-completion/completions" / program
        quoted = " ".join(shlex.quote(word) for word in (program, *words))
        function = "_" + program.replace("-", "_")
        return run("bash", "-c",
                   f"source {shlex.quote(str(script))}; COMP_WORDS=({quoted}); "
                   f"COMP_CWORD={len(words)}; {function}; "
                   'echo "${COMPREPLY[*]}"').split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("attend", "tra"), ["translate"])
        self.assertEqual(self.complete("attend", "translate", "--bea"),
                         ["--beams"])
        self.assertEqual(
            self.complete("attend", "generate", "--early-stopping", ""),
            ["true", "false", "never"])
        self.assertEqual(
            self.complete("attend", "generate", "--early-stopping", "=", "n"),
            ["never"])
        # Names of files.
        self.assertEqual(self.complete("attend", "generate", "--file", ""), [])
        self.assertEqual(self.complete("attend", "generate", "x"), [])
        self.assertEqual(self.complete("attend-server", "--max-ru"),
                         ["--max-running"])
        self.assertEqual(self.complete("attend-server", "--completion", "z"),
                         ["zsh"])

    def test_shells_and_man_have_what_they_read(self):
        share = self.prefix / "share"
        for program in "attend", "attend-server":
            page = (share / "man/man1" / f"{program}.1").read_text()
            helps = [run(self.prefix / "bin" / program, "--help")]
            if program == "attend":
                helps += [run(self.prefix / "bin/attend", command, "--help")
                          for command in ("generate", "chat", "bench")]
            flags = set(re.findall(r"--[a-z][\w-]+", " ".join(helps)))
            self.assertGreater(len(flags), 30)
            for flag in flags - {"--name"}:
                self.assertIn(flag, page.replace("\\-", "-"))
            for shell, path in (
                    ("zsh", f"zsh/site-functions/_{program}"),
                    ("fish", f"fish/vendor_completions.d/{program}.fish")):
                self.assertIn("--help" if shell == "zsh" else "-l help",
                              (share / path).read_text())
                if shutil.which(shell):
                    run(shell, "-n", share / path)
            if shutil.which("groff"):
                self.assertEqual(run_quietly(
                    "groff", "-man", "-ww", "-z", "-Tascii",
                    share / "man/man1" / f"{program}.1"), "")

    def test_nothing_names_the_build(self):
        for path in self.prefix.rglob("*.cmake"):
            text = path.read_text()
            for place in (str(ROOT) + os.sep, str(BUILD) + os.sep):
                self.assertNotIn(place, text, path)


if __name__ == "__main__":
    unittest.main()
