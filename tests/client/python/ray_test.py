"""attend.ray on a cluster of Ray of several nodes on this machine. A node dies
in the middle, or the job does; the results are complete, in order, and those of
a plain client. README.md says how to run it."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import attend.ray
import pyarrow.parquet
import ray
from ray.cluster_utils import Cluster

TIMEOUT = 120
# A path of its own, by which servers of this test are found.
MODEL = os.environ.setdefault("ATTEND_LINKED_MODEL", os.path.join(
    tempfile.mkdtemp(), "model"))
SERVER = attend.ray.Server(
    MODEL, ["--dtype=f32", "--kv-cache-bytes=64MiB"], threads=2,
    program=os.environ["ATTEND_SERVER"])
WORDS = ("dog", "cat", "man", "woman", "child", "horse", "bird")
TEXTS = [f"The {WORDS[number % 7]} number {number} sees a "
         f"{WORDS[number // 7 % 7]}." for number in range(800)]
OPTIONS = {"num_beams": 1, "max_new_tokens": 24}
JOB = """
import sys, ray, attend.ray, ray_test
ray.init(address=sys.argv[1])
ray_test.compute(sys.argv[2], sys.argv[3:])
"""


class NotedTranslate(attend.ray.Translate):
    """Says on which node a row was computed."""

    OUTPUT = "translation"

    def __call__(self, table):
        node = ray.get_runtime_context().get_node_id()
        made = super().__call__(table)
        return made.append_column("node", [[node] * made.num_rows])


def compute(folder, inputs):
    return attend.ray.transform_files(
        inputs, folder, attend.ray.Translate, server=SERVER, **OPTIONS)


def wait_until(condition):
    limit = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > limit:
            raise RuntimeError("the time is over")
        time.sleep(0.02)


def servers():
    """The processes of servers that stages of this test have started."""
    found = subprocess.run(["pgrep", "-f", "--", f"--model={SERVER.model} "],
                           capture_output=True, text=True)
    return found.stdout.split()


class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.symlink(os.path.abspath(os.environ["ATTEND_MODEL"]), MODEL)
        cls.addClassCleanup(shutil.rmtree, os.path.dirname(MODEL))
        with attend.ray.Translate(SERVER, **OPTIONS) as stage:
            cls.expected = list(stage({"text": TEXTS})["translation"])

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.cluster = Cluster()
        self.addCleanup(self.cluster.shutdown)
        # The driver's node has no room for a server.
        self.add_node(1)
        self.nodes = {node.node_id: node for node in
                      (self.add_node(3), self.add_node(3))}
        self.addCleanup(ray.shutdown)

    def add_node(self, cpus):
        return self.cluster.add_node(num_cpus=cpus, include_dashboard=False,
                                     object_store_memory=100 << 20)

    def connect(self):
        ray.init(address=self.cluster.address, log_to_driver=False)

    def inputs(self):
        paths = []
        for at in range(0, len(TEXTS), 50):
            paths.append(self.folder / f"{at:05}.txt")
            paths[-1].write_text("\n".join(TEXTS[at:at + 50]))
        return list(map(str, paths))

    def check_files(self, out):
        made = [text for path in sorted(out.glob("*.parquet")) for text in
                pyarrow.parquet.read_table(path)["translation"].to_pylist()]
        self.assertEqual(made, self.expected)
        self.assertEqual([path.name for path in out.iterdir()
                          if path.suffix != ".parquet"], ["_attend.json"])

    def test_a_node_dies_in_the_middle(self):
        self.connect()
        data = ray.data.from_items(
            [{"text": text, "id": at} for at, text in enumerate(TEXTS)],
            override_num_blocks=4)
        made = attend.ray.transform(data, NotedTranslate, server=SERVER,
                                    rows_per_task=50, **OPTIONS)
        rows = []
        for row in made.iter_rows():
            rows.append(row)
            if len(rows) == 100:
                self.assertTrue(servers())
                self.cluster.remove_node(self.nodes.pop(rows[0]["node"]),
                                         allow_graceful=False)
        self.assertEqual([row["id"] for row in rows], list(range(len(TEXTS))))
        self.assertEqual([row["text"] for row in rows], TEXTS)
        self.assertEqual([row["translation"] for row in rows], self.expected)
        self.assertEqual(rows[-1]["node"], *self.nodes)
        wait_until(lambda: not servers())

    def test_a_node_dies_while_files_are_computed(self):
        self.connect()
        out = self.folder / "out"

        def kill():
            wait_until(lambda: [*out.glob("*.parquet")])
            self.cluster.remove_node(self.nodes.popitem()[1],
                                     allow_graceful=False)

        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            killed = threads.submit(kill)
            summary = compute(str(out), self.inputs())
            killed.result()
        self.assertEqual(summary, attend.ray.Summary(16, 0, len(TEXTS)))
        self.check_files(out)

    def test_a_job_that_was_killed_goes_on(self):
        out = self.folder / "out"
        inputs = self.inputs()
        job = subprocess.Popen(
            [sys.executable, "-c", JOB, self.cluster.address, str(out),
             *inputs], cwd=pathlib.Path(__file__).parent,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: [*out.glob("*.parquet")])
        job.kill()
        job.wait()
        wait_until(lambda: not servers())  # Ray ends the job's actors
        before = {path: path.stat().st_mtime_ns for path in
                  out.glob("*.parquet")}
        self.assertLess(len(before), len(inputs))
        self.connect()
        summary = compute(str(out), inputs)
        self.assertEqual(summary, attend.ray.Summary(
            len(inputs) - len(before), len(before),
            len(TEXTS) - 50 * len(before)))
        self.check_files(out)
        self.assertEqual({path: path.stat().st_mtime_ns for path in before},
                         before)


if __name__ == "__main__":
    unittest.main()
