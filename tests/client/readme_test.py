"""The README's table of families and its commands.

    readme_test.py ATTEND    the client's binary
"""

import pathlib
import re
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
USAGE_ERROR = 2  # kExitUsage
CLIENT = sys.argv.pop(1)


def table():
    """Of each row the family and the command."""
    return re.findall(r"^\| `([^`]+)` \| [^|]+ \| `(attend [^`]+)` \|$", README,
                      re.MULTILINE)


def families():
    source = ROOT / "engine/families/load_family.cc"
    return re.findall(r'\{"([^"]+)", Load\w+\}', source.read_text())


def shell_commands():
    """Commands in blocks that read no file of the reader's."""
    return [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
            for line in block.splitlines()
            if line.startswith("attend ") and not re.search(r"--file|[<>|]",
                                                            line)]


class ReadmeTest(unittest.TestCase):
    def test_the_table_has_every_family_once(self):
        self.assertEqual(sorted(family for family, _ in table()),
                         sorted(families()))

    def test_the_client_takes_every_command(self):
        commands = [command for _, command in table()] + shell_commands()
        self.assertGreater(len(commands), 15)
        for command in commands:
            with self.subTest(command):
                # Nobody listens there: what fails is the call, not the usage.
                result = subprocess.run(
                    [CLIENT, *shlex.split(command)[1:], "--address",
                     "127.0.0.1:1", "--timeout", "50ms"],
                    capture_output=True, text=True, timeout=60)
                self.assertNotIn(result.returncode, (0, USAGE_ERROR),
                                 result.stderr)


if __name__ == "__main__":
    unittest.main()
