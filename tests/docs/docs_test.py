"""README.md and docs/: what they say exists.

    docs_test.py ATTEND ATTEND_SERVER    the binaries
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text(encoding="utf-8")
         for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
# Written from programs, which have a test of their own.
PROGRAMS = {path: path.read_text(encoding="utf-8")
            for path in sorted((ROOT / "docs/api").glob("*.md"))}
USAGE_ERROR = 2  # kExitUsage
SERVER = sys.argv.pop(2)
CLIENT = sys.argv.pop(1)
# Folders of the repository, as a path in a text begins.
IN_TREE = re.compile(r"(?:\.ci|client|command_line|deploy|docs|engine|models|proto|server|"
                     r"tests)/[\w./-]*$")
# Flags of Google Benchmark, which the programs in tests/bench have, too.
BENCHMARK_FLAGS = {"--benchmark_filter", "--benchmark_min_time"}


def without_blocks(page):
    return re.sub(r"```.*?```", "", page, flags=re.DOTALL)


def inline_code(page):
    return re.findall(r"`([^`\n]+)`", without_blocks(page))


def shell_lines(page):
    """Commands as lists of words, without comments and variables before them."""
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words:
                yield words


def anchors(page):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in headings}


def flags(words):
    return {word.split("=")[0] for word in words if word.startswith("--")}


def server_help():
    return subprocess.run([SERVER, "--help"], capture_output=True, text=True,
                          check=True).stdout


def server_flags():
    return set(re.findall(r"^  (--[\w-]+)", server_help(), re.MULTILINE))


def metrics():
    """Names of all metrics but those of the process."""
    return {name for path in (ROOT / "server/observability").glob("*.cc")
            for name in re.findall(r'"(attend_\w+)"', path.read_text())}


class LinksTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for path, page in (PAGES | PROGRAMS).items():
            found = re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))
            found += re.findall(r'<img src="([^"]+)"', page)
            for link in found:
                if link.startswith("https://"):
                    continue
                count += 1
                with self.subTest(page=path.name, link=link):
                    file, _, anchor = link.partition("#")
                    target = (path.parent / file).resolve() if file else path
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(PAGES[target]))
        self.assertGreater(count, 50)

    def test_paths_exist(self):
        count = 0
        for path, page in PAGES.items():
            words = inline_code(page)
            words += [word for line in shell_lines(page) for word in line]
            for word in filter(IN_TREE.match, words):
                count += 1
                with self.subTest(page=path.name, path=word):
                    self.assertTrue((ROOT / word).exists())
        self.assertGreater(count, 40)

    def test_every_page_is_reached_from_the_readme(self):
        for path in PAGES | PROGRAMS:
            if path.name != "README.md":
                with self.subTest(page=path.name):
                    self.assertIn(f"({path.relative_to(ROOT)})",
                                  PAGES[ROOT / "README.md"])


class ApiTest(unittest.TestCase):
    def test_everything_is_documented(self):
        page = PAGES[ROOT / "docs/api.md"]
        self.assertGreater(page.count("\n| "), 200)
        # A group of fields needs no meaning of its own, other rows do.
        self.assertEqual(re.findall(r"^\| [^*].*\|  \|$", page, re.MULTILINE), [])


class FamiliesTest(unittest.TestCase):
    def test_the_table_has_every_family_once(self):
        listed = re.findall(r"^\| `([^`]+)` \| [^|]+ \| `attend [^`]+` \|$",
                            PAGES[ROOT / "docs/models.md"], re.MULTILINE)
        source = ROOT / "engine/families/load_family.cc"
        loaded = re.findall(r'\{"([^"]+)", Load\w+\}', source.read_text())
        self.assertGreater(len(loaded), 20)
        self.assertEqual(sorted(listed), sorted(loaded))


class RepositoriesTest(unittest.TestCase):
    def test_every_family_has_the_checkpoint_of_a_repository(self):
        rows = re.findall(r"^\| `([^`]+)` \| (\S+/[^|]+) \| `([^`]+)` \|$",
                          PAGES[ROOT / "docs/models.md"], re.MULTILINE)
        for model_type, _, checkpoint in rows:
            with self.subTest(checkpoint):
                path = ROOT / "tests/golden" / checkpoint / "config.json"
                self.assertEqual(json.loads(path.read_text())["model_type"],
                                 model_type)
        source = ROOT / "engine/families/load_family.cc"
        loaded = re.findall(r'\{"([^"]+)", Load\w+\}', source.read_text())
        self.assertEqual({name for name, _, _ in rows}, set(loaded))


class ModelTypesTest(unittest.TestCase):
    def setUp(self):
        page = PAGES[ROOT / "docs/model_types.md"]
        # Heads of tables have no status.
        self.rows = re.findall(
            r"^\| `([^`]+)` \| [^|]+ \| ((?!status)\w+) \|([^|]*)\|$", page,
            re.MULTILINE)
        source = ROOT / "engine/families/load_family.cc"
        self.loaded = re.findall(r'\{"([^"]+)", Load\w+\}', source.read_text())

    def test_equal_are_those_that_load(self):
        equal = [name for name, status, _ in self.rows if status == "equal"]
        self.assertEqual(sorted(equal), sorted(self.loaded),
                         "docs/model_types.md has a row for each family")

    def test_each_that_is_equal_has_a_checkpoint(self):
        golden = {json.loads(path.read_text()).get("model_type") for path in
                  (ROOT / "tests/golden").glob("*/*/config.json")
                  if (path.parent / "expected.json").exists()}
        self.assertEqual(set(self.loaded) - golden, set())

    def test_others_say_what_is_missing(self):
        self.assertGreater(len(self.rows), 70)
        for name, status, missing in self.rows:
            with self.subTest(name):
                self.assertIn(status, ("equal", "refused"))
                self.assertEqual(status == "refused", bool(missing.strip()))


class CommandsTest(unittest.TestCase):
    def test_the_client_takes_every_command(self):
        commands = {tuple(shlex.split(code)) for page in PAGES.values()
                    for code in inline_code(page) if code.startswith("attend ")}
        commands |= {tuple(words) for page in PAGES.values()
                     for words in shell_lines(page) if words[0] == "attend"}
        self.assertGreater(len(commands), 20)
        for command in sorted(commands):
            with self.subTest(shlex.join(command)):
                self.check_client(list(command[1:]))

    def check_client(self, words):
        with tempfile.TemporaryDirectory() as directory:
            for sign in "<", ">":  # the shell's
                if sign in words:
                    at = words.index(sign)
                    del words[at:at + 2]
            if "--ca" in words:
                self.make_certificates(directory)
            for option in {"--file", "--json-schema", "--grammar"} & {*words}:
                name = words[words.index(option) + 1]
                (pathlib.Path(directory) / name).write_text("A line.\n")
            # Nobody listens there: what fails is the call, not the usage.
            there = ["--address", "127.0.0.1:1", "--timeout", "50ms"]
            if words[0] == "top":  # takes a URL
                words = [word for word in words if "://" not in word]
                there = ["http://127.0.0.1:1", "--timeout", "50ms"]
            if words[0] == "convert":  # the directory is not there
                there = []
            result = subprocess.run(
                [CLIENT, *words, *there],
                capture_output=True, text=True, timeout=60, cwd=directory,
                input="A\tline.\n")
        self.assertNotIn(result.returncode, (0, USAGE_ERROR), result.stderr)

    def make_certificates(self, directory):
        """As the page says that they are made."""
        commands = [words for words in shell_lines(
            PAGES[ROOT / "docs/security.md"]) if words[0] == "openssl"]
        self.assertGreater(len(commands), 3)
        for words in commands:
            subprocess.run(words, cwd=directory, check=True,
                           capture_output=True, timeout=60)

    def test_the_server_takes_every_command(self):
        commands = [words[1:] for page in PAGES.values()
                    for words in shell_lines(page)
                    if pathlib.Path(words[0]).name == "attend-server"]
        self.assertGreater(len(commands), 2)
        for flags_and_values in commands:
            with self.subTest(shlex.join(flags_and_values)):
                self.check_server(*flags_and_values)

    def test_the_server_takes_every_file_of_options(self):
        blocks = [block for page in PAGES.values()
                  for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            with self.subTest(block), tempfile.NamedTemporaryFile() as file:
                file.write(block.encode())
                file.flush()
                self.check_server("--config", file.name)

    def check_server(self, *words):
        # Options are read first; no model is loaded.
        result = subprocess.run([SERVER, *words, "--version"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_measuring_programs_have_every_flag(self):
        known = server_flags() | BENCHMARK_FLAGS
        count = 0
        for path, page in PAGES.items():
            for words in shell_lines(page):
                if re.search(r"/attend-\w+-bench$", words[0]):
                    count += 1
                    with self.subTest(page=path.name,
                                      command=shlex.join(words)):
                        self.assertLessEqual(flags(words), known)
        self.assertGreater(count, 2)

    def test_every_script_is_listed(self):
        for folder in ROOT / "tests/bench", ROOT / "tests/attack":
            listed = re.findall(r"^\| `(\w+\.py)` \|",
                                (folder / "README.md").read_text(),
                                re.MULTILINE)
            with self.subTest(folder=folder.name):
                self.assertEqual(
                    sorted(listed),
                    sorted(path.name for path in folder.glob("*.py")))

    def test_scripts_have_every_flag(self):
        count = 0
        for path, page in PAGES.items():
            for words in shell_lines(page):
                script = next((word for word in words
                               if word.startswith("tests/bench/")), None)
                if script is None:
                    continue
                count += 1
                text = (ROOT / script).read_text()
                if "attend_processes.add_options" in text:
                    text += (ROOT / "tests/bench/harness/attend_processes.py"
                             ).read_text()
                known = set(re.findall(r'"(--[\w-]+)"', text))
                with self.subTest(page=path.name, command=shlex.join(words)):
                    self.assertLessEqual(flags(words), known)
        self.assertGreater(count, 10)

    # These pages are about the server, and how clients reach it.
    def test_named_flags_variables_and_metrics_exist(self):
        known = metrics() | server_flags()
        known |= set(re.findall(r"ATTEND_\w+", server_help()))
        for command in "models", "top":
            client_help = subprocess.run([CLIENT, command, "--help"], text=True,
                                         capture_output=True, check=True).stdout
            known |= set(re.findall(r"--[\w-]+|ATTEND_\w+", client_help))
        count = 0
        for name in ("operations.md", "security.md", "glossary.md",
                     "protocols.md"):
            for code in inline_code(PAGES[ROOT / "docs" / name]):
                words = re.findall(r"(?<!\S)--[\w-]+|\bATTEND_\w+", code)
                if re.fullmatch(r"attend_\w+", code):
                    words = [code]
                for word in words:
                    count += 1
                    with self.subTest(page=name, word=word):
                        self.assertIn(word, known)
        self.assertGreater(count, 50)

    def test_every_metric_is_explained(self):
        named = set(inline_code(PAGES[ROOT / "docs/operations.md"]))
        self.assertGreater(len(metrics()), 15)
        self.assertEqual(metrics() - named, set())


if __name__ == "__main__":
    unittest.main()
