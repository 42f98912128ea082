"""Files that a bulk job computes, each whole or not at all. Ray is not needed.
Started by python_client_test.sh."""

import gzip
import json
import pathlib
import tempfile
import unittest

import pyarrow
import pyarrow.parquet
from attend import _parts


class PartsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.out = self.folder / "out"

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str)
                         else content)
        return str(path)

    def parquet(self, name, table, **options):
        path = str(self.folder / name)
        pyarrow.parquet.write_table(table, path, **options)
        return path

    @staticmethod
    def capitals(tables):
        for table in tables:
            texts = table["text"].to_pylist()
            yield table.append_column("made", pyarrow.array(
                [text and text.upper() for text in texts], pyarrow.string()))

    def plan(self, inputs, **settings):
        return _parts.plan(inputs, str(self.out), settings)

    def convert(self, parts, stream=None):
        return sum(_parts.convert(part, "text", stream or self.capitals)
                   for part in parts)

    def made(self, name):
        return pyarrow.parquet.read_table(self.out / name).to_pydict()

    def read(self, path, column="text"):
        return pyarrow.concat_tables(_parts.read(path, column)).to_pydict()

    def test_a_job_goes_on_with_what_is_missing(self):
        inputs = [self.write(f"{name}.txt", f"{name}1\n{name}2\n")
                  for name in "abc"]
        first = self.plan(inputs, beams=4)
        self.assertEqual(len(first.missing), 3)
        self.assertEqual(self.convert(first.missing[1:2]), 2)
        again = self.plan(inputs, beams=4)
        self.assertEqual(again.missing, first.missing[::2])
        self.assertEqual(again.done, 1)
        before = (self.out / "b.parquet").stat()
        self.convert(again.missing)
        self.assertEqual(self.plan(inputs, beams=4).missing, [])
        self.assertEqual((self.out / "b.parquet").stat().st_ino, before.st_ino)
        for name in "abc":
            self.assertEqual(self.made(f"{name}.parquet"), {
                "text": [f"{name}1", f"{name}2"],
                "made": [f"{name}1".upper(), f"{name}2".upper()]})

    def test_a_part_is_whole_or_is_not_there(self):
        path = self.write("a.txt", "line\n" * 3 * _parts.ROWS)
        part, = self.plan([path]).missing

        def fails(tables):
            for number, table in enumerate(self.capitals(tables)):
                if number == 2:
                    raise KeyError("in the middle")
                yield table

        with self.assertRaises(KeyError):
            self.convert([part], fails)
        self.assertEqual([each.name for each in self.out.iterdir()],
                         [_parts.MANIFEST])
        # What was killed leaves a file, which is not taken for a result.
        left = self.out / f"a.parquet.77{_parts.UNDER_WAY}"
        left.write_bytes(b"PAR1")
        self.assertEqual(self.plan([path]).missing, [part])
        self.assertEqual(self.convert([part]), 3 * _parts.ROWS)
        _parts.clean(str(self.out))
        self.assertEqual({each.name for each in self.out.iterdir()},
                         {_parts.MANIFEST, "a.parquet"})

    def test_another_job_is_not_mixed_into_the_folder(self):
        a = self.write("a.txt", "1\n")
        self.plan([a], beams=4, served=["en-de", "--dtype=int8"])
        for settings, name in (
                ({"beams": 5, "served": ["en-de", "--dtype=int8"]}, "beams=4"),
                ({"served": ["en-de", "--dtype=int8"]}, "not None"),
                ({"beams": 4, "served": ["en-de"]}, "served="),
                ({"beams": 4, "served": ["en-de", "--dtype=int8"],
                  "seed": 1}, "seed=None, not 1")):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                self.plan([a], **settings)
        same = {"beams": 4, "served": ("en-de", "--dtype=int8")}
        b = self.write("b.txt", "1\n")
        self.assertEqual(len(self.plan([a, b], **same).missing), 2)
        self.plan([a], **same)  # fewer
        self.write("b.txt", "12\n")
        with self.assertRaisesRegex(ValueError, "b.parquet=2, not 3"):
            self.plan([a, b], **same)

    def test_a_manifest_that_is_none(self):
        a = self.write("a.txt", "1\n")
        self.out.mkdir()
        for text in "", "{", "[]", "{}", '{"settings": [], "bytes": {}}':
            (self.out / _parts.MANIFEST).write_text(text)
            with self.subTest(text), self.assertRaisesRegex(
                    ValueError, _parts.MANIFEST):
                self.plan([a])

    def test_inputs_that_cannot_be(self):
        a = self.write("a.txt", "1\n")
        other = self.parquet("a.parquet", pyarrow.table({"text": ["1"]}))
        with self.assertRaisesRegex(ValueError, "would both be .*a.parquet"):
            self.plan([a, other])
        with self.assertRaisesRegex(FileNotFoundError, "no.txt"):
            self.plan([str(self.folder / "no.txt")])
        with self.assertRaisesRegex(ValueError, r"'.*\.csv' must end"):
            self.read(self.write("a.csv", ""))
        for name, content in (("b.txt", b"caf\xe9\n"), ("b.parquet", b"PAR1"),
                              ("b.jsonl", b'{"text": "a"}\n{"text": '),
                              ("c.jsonl", b'{"text": 1}\n'),
                              ("b.txt.gz", b"no gzip")):
            with self.subTest(name), self.assertRaisesRegex(
                    (ValueError, OSError), name):
                self.read(self.write(name, content))

    def test_lines(self):
        text = "a\r\n\nb\u2028c\rd\n" + "x\n" * _parts.ROWS + "end"
        lines = ["a\r", "", "b\u2028c\rd", *["x"] * _parts.ROWS, "end"]
        self.assertEqual(self.read(self.write("a.txt", text), "line"),
                         {"line": lines})
        packed = self.write("b.txt.gz", gzip.compress(text.encode()))
        self.assertEqual(self.read(packed), {"text": lines})
        self.assertEqual(self.read(self.write("c.txt", "")), {"text": []})

    def test_lines_of_json(self):
        rows = [{"text": "2026-01-01", "id": 1}, {"text": None, "id": 2},
                {"id": 3}]
        path = self.write("a.jsonl", "\n".join(map(json.dumps, rows)))
        self.assertEqual(self.read(path), {
            "text": ["2026-01-01", None, None], "id": [1, 2, 3]})
        self.assertNotIn("line", self.read(path, "line"))
        self.assertEqual(self.read(self.write("b.jsonl", " \n")), {"text": []})

    def test_parquet_of_many_rows_and_of_none(self):
        table = pyarrow.table({"text": [str(row) for row in range(10000)],
                               "more": [[row] for row in range(10000)]})
        path = self.parquet("a.parquet", table, row_group_size=777)
        self.assertEqual(self.read(path), table.to_pydict())
        empty = self.parquet("b.parquet", table.slice(0, 0))
        part, = self.plan([empty]).missing
        self.assertEqual(self.convert([part]), 0)
        self.assertEqual(pyarrow.parquet.read_schema(part.target).names,
                         ["text", "more", "made"])


if __name__ == "__main__":
    unittest.main()
