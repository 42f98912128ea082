"""Files that a bulk job computes, each whole or not at all. Ray is not needed.
Started by python_client_test.sh."""

import gzip
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import pyarrow
import pyarrow.parquet
from attend import _parts, _places, _tables


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

    def plan(self, inputs, folder=None, **settings):
        return _parts.plan(inputs, folder or str(self.out), settings)

    def begin(self, inputs, folder=None, **settings):
        planned = self.plan(inputs, folder, **settings)
        _parts.begin(planned)
        return planned

    def convert(self, parts, stream=None):
        return sum(_parts.convert(part, "text", stream or self.capitals)
                   for part in parts)

    def made(self, name):
        return pyarrow.parquet.read_table(self.out / name).to_pydict()

    def read(self, path, column="text"):
        return pyarrow.concat_tables(_tables.read(path, column)).to_pydict()

    def test_a_job_goes_on_with_what_is_missing(self):
        inputs = [self.write(f"{name}.txt", f"{name}1\n{name}2\n")
                  for name in "abc"]
        first = self.begin(inputs, beams=4)
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
        path = self.write("a.txt", "line\n" * 3 * _tables.ROWS)
        part, = self.begin([path]).missing

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
        left = [_places.under_way(str(self.out / name))
                for name in ("a.parquet", _parts.MANIFEST)]
        for name in left:
            pathlib.Path(name).write_bytes(b"PAR1")
        (self.out / "a.parquet").touch()  # by a loss of power
        self.assertEqual(self.plan([path]).missing, [part])
        self.assertEqual(self.convert([part]), 3 * _tables.ROWS)
        # Files of others stay.
        others = {"a.tmp", "a.parquet.77.tmp", f"b.txt.{'0' * 32}.tmp"}
        for name in others:
            (self.out / name).touch()
        (self.out / f"a.parquet.{'0' * 32}.tmp").mkdir()
        _parts.clean(str(self.out))
        self.assertEqual(
            {each.name for each in self.out.iterdir()},
            {_parts.MANIFEST, "a.parquet", f"a.parquet.{'0' * 32}.tmp",
             *others})

    def test_a_result_has_its_name_when_it_is_on_disk(self):
        part, = self.begin([self.write("a.txt", "1\n")]).missing
        synced = []

        def sync(descriptor):
            path = os.readlink(f"/proc/self/fd/{descriptor}")
            synced.append((os.path.isdir(path), os.path.exists(part.target)))

        with mock.patch.object(os, "fsync", sync):
            self.convert([part])
        self.assertEqual(synced, [(False, False), (True, True)])

    def test_another_job_is_not_mixed_into_the_folder(self):
        a = self.write("a.txt", "1\n")
        same = {"beams": 4, "served": ["en-de", "--dtype=int8"]}
        self.convert(self.begin([a], **same).missing)
        for settings, name in (
                ({**same, "beams": 5}, "beams=4"),
                ({"served": same["served"]}, "not None"),
                ({**same, "served": ["en-de"]}, "served="),
                ({**same, "seed": 1}, "seed=None, not 1")):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                self.plan([a], **settings)
        same["served"] = tuple(same["served"])
        b = self.write("b.txt", "1\n")
        self.assertEqual(len(self.begin([a, b], **same).missing), 1)
        self.begin([a], **same)  # fewer
        self.write("b.txt", "12\n")
        with self.assertRaisesRegex(ValueError, "b.parquet=2, not 3"):
            self.plan([a, b], **same)
        with self.assertRaisesRegex(ValueError, "beams=4"):
            self.plan([self.write("c.txt", "1\n")], beams=5)

    def test_a_job_without_results_may_begin_anew(self):
        a, b = (self.write(name, "1\n") for name in ("a.txt", "b.txt"))
        self.plan([a])
        self.assertFalse(self.out.exists())
        self.begin([a, b], beams=4)
        self.write("a.txt", "12\n")
        self.convert(self.begin([a], beams=5).missing)
        self.assertEqual(self.plan([a], beams=5).missing, [])
        self.assertEqual(json.loads((self.out / _parts.MANIFEST).read_text()),
                         {"settings": {"beams": 5}, "bytes": {"a.parquet": 3}})

    def test_files_of_others_are_no_results(self):
        a = self.write("a.txt", "1\n")
        self.out.mkdir()
        there = self.out / "a.parquet"
        there.write_bytes(b"PAR1")
        with self.assertRaisesRegex(ValueError, f"{there} is there"):
            self.plan([a])
        self.begin([self.write("b.txt", "1\n")])
        with self.assertRaisesRegex(ValueError, f"{there} is there"):
            self.plan([a])
        there.unlink()
        there.mkdir()
        with self.assertRaisesRegex(ValueError, f"{there} is no file"):
            self.plan([a])

    def test_a_result_never_takes_the_place_of_its_input(self):
        a = self.parquet("a.parquet", pyarrow.table({"text": ["1"]}))
        link = self.folder / "link"
        link.symlink_to(self.folder)
        for folder in (str(self.folder), f"{self.folder.as_uri()}/",
                       str(link)):
            with self.subTest(folder), self.assertRaisesRegex(
                    ValueError, f"the result of '{a}' would take its place"):
                self.plan([a], folder)

    def test_uris(self):
        path = self.write("a b%\u00fc.txt", "1\n")
        source = f"{pathlib.Path(path).as_uri()}?region=here"
        self.out.mkdir()
        folder = f"{self.out.as_uri()}?region=here"
        for given in (path, source):
            part, = self.begin([given], folder).missing
            self.assertEqual(
                part.target,
                f"{self.out.as_uri()}/a%20b%25%C3%BC.parquet?region=here")
        self.convert([part])
        self.assertEqual(self.made("a b%\u00fc.parquet")["made"], ["1"])
        self.assertEqual(self.plan([path], folder).missing, [])
        _parts.clean(folder)

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
                              ("d.jsonl", b'{"text": "\xff"}\n'),
                              ("e.jsonl", b'[]\n'),
                              ("b.txt.gz", b"no gzip")):
            with self.subTest(name), self.assertRaisesRegex(
                    (ValueError, OSError), name):
                self.read(self.write(name, content))

    def test_lines(self):
        text = "a\r\n\nb\u2028c\rd\n" + "x\n" * _tables.ROWS + "end"
        lines = ["a\r", "", "b\u2028c\rd", *["x"] * _tables.ROWS, "end"]
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
        self.assertEqual(self.read(self.write("b.jsonl", " \n")), {"text": []})
        long = "x" * 3 * _tables.BLOCK
        self.assertEqual(self.read(self.write("c.jsonl", json.dumps(
            {"text": long}))), {"text": [long]})

    def test_which_columns_lines_of_json_have(self):
        path = self.write("a.jsonl", """{"id": 1, "in": {"line": "a"}}
            {"id": 2, "other": "\\"line\\": of text"}
            {"id":\n3, "\\u006eull": null}""")
        self.assertEqual(
            list(self.read(path, "line")), ["id", "in", "other", "null"])
        self.assertEqual(self.read(path, "null")["null"], [None] * 3)
        with self.assertRaisesRegex(ValueError, f"{path} has no column 'line'"):
            _tables.check_columns(path, "line", [])
        with self.assertRaisesRegex(ValueError, f"{path} has a column 'id'"):
            _tables.check_columns(path, "other", ["made", "id"])
        _tables.check_columns(path, "other", ["made"])

    def test_times_in_json_stay_texts(self):
        row = {"text": "a", "day": "2026-01-01", "all": [
            {"at": "2026-01-01T01:02:03", "id": 1}], "no": None}
        path = self.write("a.jsonl", json.dumps(row))
        self.assertEqual(self.read(path), {
            name: [value] for name, value in row.items()})

    def test_parquet_of_many_rows_and_of_none(self):
        table = pyarrow.table({"text": [str(row) for row in range(10000)],
                               "more": [[row] for row in range(10000)]})
        path = self.parquet("a.parquet", table, row_group_size=777)
        self.assertEqual(self.read(path), table.to_pydict())
        empty = self.parquet("b.parquet", table.slice(0, 0))
        part, = self.begin([empty]).missing
        self.assertEqual(self.convert([part]), 0)
        self.assertEqual(pyarrow.parquet.read_schema(part.target).names,
                         ["text", "more", "made"])


if __name__ == "__main__":
    unittest.main()
