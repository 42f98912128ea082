"""attend.spark in a session of Spark: the results are those of a plain client.
README.md says how to run it."""

import os
import unittest

import attend.spark
from attend._local_server import LocalServer
from attend.ray import Server
from pyspark.sql import SparkSession

SERVER = Server(os.environ["ATTEND_MODEL"],
                ["--dtype=f32", "--kv-cache-bytes=64MiB"], threads=1,
                program=os.environ["ATTEND_SERVER"])
TEXTS = [f"A dog sees {number} cats." for number in range(500)]
TEXTS[7] = None
TEXTS[300] = "word " * 2000  # too long for generate()
OPTIONS = {"num_beams": 1, "max_new_tokens": 24}


class SparkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Before there are clients: it forks, and gRPC's threads are not copied.
        cls.spark = SparkSession.builder.master("local[2]").config(
            "spark.sql.execution.arrow.maxRecordsPerBatch", 100).config(
            "spark.ui.enabled", "false").getOrCreate()
        cls.addClassCleanup(cls.spark.stop)
        cls.server = LocalServer(SERVER.command())
        cls.addClassCleanup(cls.server.close)
        cls.client = attend.Client(cls.server.address)
        cls.addClassCleanup(cls.client.close)

    def frame(self, texts):
        return self.spark.createDataFrame(
            list(enumerate(texts)), "id int, text string").repartition(3)

    def test_translate(self):
        texts = [text for at, text in enumerate(TEXTS) if at != 300]
        translate = attend.spark.translate(self.server.address, **OPTIONS)
        rows = self.frame(texts).withColumn("made", translate("text")).collect()
        known = [text for text in texts if text]
        expected = {text: result.text for at in range(0, len(known), 100)
                    for text, result in zip(
                        known[at:at + 100], self.client.translate(
                            known[at:at + 100], **OPTIONS))}
        self.assertEqual(sorted(row.id for row in rows), [*range(len(texts))])
        for row in rows:
            self.assertEqual(row.text, texts[row.id])
            self.assertEqual(row.made, expected.get(row.text))

    def test_errors(self):
        generate = attend.spark.generate(self.server.address, errors="column",
                                         **OPTIONS)
        rows = self.frame(TEXTS).withColumn("made", generate("text")).select(
            "id", "made.*").collect()
        self.assertEqual(len(rows), len(TEXTS))
        failed = {row.id: row.error for row in rows if row.error}
        self.assertEqual(list(failed), [300])
        self.assertRegex(failed[300], "^INVALID_ARGUMENT: .*limit is 512 tokens")
        self.assertEqual({row.id for row in rows if row.result is None},
                         {7, 300})
        generate = attend.spark.generate(self.server.address, **OPTIONS)
        with self.assertRaisesRegex(Exception, "limit is 512 tokens"):
            self.frame(TEXTS).withColumn("made", generate("text")).collect()


if __name__ == "__main__":
    unittest.main()
