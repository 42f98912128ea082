"""prose_check.py finds what it bans, and its counts only fall."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import prose_check

SCRIPT = pathlib.Path(__file__).with_name("prose_check.py")
# One for each pattern of TURNS, in its order.
BAD_TURNS = (
    "Tables beside the model are read.", "The file is opened anew.",
    "The server goes on with the old one.", "The weakness is mended.",
    "The download is taken up later.", "Whoever calls needs a key.",
    "Clients wait, so many calls may run.", "All rows but for the first pass.",
    "It is the same with them.", "A comma is cut behind a word.",
    "The numbers of a vector are floats.", "Results are in other numbers.",
    "Models whose numbers are finite load.", "Rows are spread by matrices.",
    "The precise columns are last.", "Keys lie in fours.",
    "It takes bf16, else f32.")
BAD_OPENERS = (
    "Of memory others may have more.", "What is left is dropped.",
    "Whether a row is finite.", "Those that wait are ended.",
    "Which rows are computed.", "Who cancels ends it.", "Whose key it is.",
    "How many rows there are.", "A call. What comes later is dropped.")
GOOD = (
    "How to read the tables.", "What is a tenant?", "Offers are made.",
    "However it ends, memory is freed.", "The server runs behind a proxy.",
    "Nothing else is read.", "If one fails, nobody else.",
    "The file of tenants has so many as 4,096 keys.", "Attention goes first.")


def of_sentence(sentence):
    return list(prose_check.findings(sentence))


class FindingsTest(unittest.TestCase):

    def test_each_turn_is_found_by_its_own_pattern(self):
        self.assertEqual(len(BAD_TURNS), len(prose_check.TURNS))
        for sentence, turn in zip(BAD_TURNS, prose_check.TURNS):
            with self.subTest(sentence):
                self.assertRegex(sentence, turn)
                self.assertEqual(len(of_sentence(sentence)), 1)

    def test_openers_are_found(self):
        for text in BAD_OPENERS:
            with self.subTest(text):
                self.assertEqual(len(of_sentence(text)), 1)

    def test_other_sentences_pass(self):
        for sentence in GOOD:
            with self.subTest(sentence):
                self.assertEqual(of_sentence(sentence), [])


class TextsTest(unittest.TestCase):

    def lines(self, paragraphs):
        return [line for line, text in paragraphs if of_sentence(text)]

    def test_pages(self):
        page = "\n".join((
            "# What is read", "", "A text of two lines. What", "it has.", "",
            "```sh", "# What is run", "```", "* Fine.", "* Of a list.", "",
            "| field | what it does |", "|---|---|", "| `of` | fine |",
            "<!-- conformance x -->", "| a | of tests |",
            "<!-- end of conformance x -->", "**Whether** it is bold."))
        self.assertEqual(
            self.lines(prose_check.paragraphs_of_page(page)),
            [1, 3, 10, 12, 18])

    def test_comments(self):
        source = "\n".join((
            "// Returns a row. Of", "// rows that exist.", "int row;",
            'const char* text = "What is text";', "int a;  // of the row",
            "//", "// Fine:", "// - Whether it is an item.", "int b;  // a row"))
        self.assertEqual(
            self.lines(prose_check.paragraphs_of_code(source)), [1, 5, 8])


class CountsTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        (self.root / "tests").mkdir()
        (self.root / "engine/ops").mkdir(parents=True)
        self.write_counts({})

    def write_counts(self, counts):
        (self.root / prose_check.COUNTS).write_text(json.dumps(counts))

    def counts(self):
        return json.loads((self.root / prose_check.COUNTS).read_text())

    def check(self, *options):
        return subprocess.run([sys.executable, "-B", SCRIPT, self.root, *options],
                              capture_output=True, text=True, check=False)

    def write_comments(self, number):
        (self.root / "engine/ops/row.h").write_text(
            "// What a row has.\nint row;\n" * number)

    def test_a_text_without_a_count_has_no_finding(self):
        self.assertEqual(self.check().returncode, 0)
        (self.root / "README.md").write_text("Fine.\n\nWhat is left is dropped.\n")
        failed = self.check()
        self.assertEqual(failed.returncode, 1)
        self.assertIn("README.md:3: What is left", failed.stdout)

    def test_a_count_is_a_limit(self):
        self.write_counts({"engine/ops": 2})
        for number, code in ((1, 0), (2, 0), (3, 1)):
            with self.subTest(number):
                self.write_comments(number)
                self.assertEqual(self.check().returncode, code)

    def test_lower_never_raises(self):
        self.write_counts({"engine/ops": 2, "docs/gone.md": 4})
        self.write_comments(3)
        self.assertEqual(self.check("--lower").returncode, 1)
        self.assertEqual(self.counts(), {"engine/ops": 2})
        self.write_comments(1)
        self.check("--lower")
        self.assertEqual(self.counts(), {"engine/ops": 1})
        self.write_comments(0)
        self.check("--lower")
        self.assertEqual(self.counts(), {})


if __name__ == "__main__":
    unittest.main()
