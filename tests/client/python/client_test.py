"""The methods of attend.Client and attend.aio.Client. Started by
python_client_test.sh."""

import asyncio
import contextlib
import inspect
import io
import os
import pathlib
import pickle
import re
import tempfile
import unittest

import attend
import numpy
from attend.v1 import attend_pb2 as pb
from served import TIMEOUT, ServedTest

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
TEXT = "A brown dog is running along the beach."
OTHER = "Where is the nearest train station?"
# What the methods give a request themselves.
OWN = {"inputs", "pairs", "documents", "texts", "sequences", "query", "params", "questions",
       "encoding", "kinds", "per_token", "return_documents", "format"}
METHODS = [name for name, _ in inspect.getmembers(
    attend.Client, inspect.isfunction) if not name.startswith("_")]


class ClientTest(ServedTest):

    model = os.environ["ATTEND_MODEL"]
    flags = ("--model-control=explicit",)

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.models = {
            name: cls.with_tokenizer(pathlib.Path(directory.name) / name)
            for name in ("bert-4x-labels", "bert-tokens", "bert-mask",
                         "bert-reranker", "bert-inference", "bert-spans")}
        cls.models["colbert"] = GOLDEN / "sentence" / "colbert"
        super().setUpClass()
        cls.client = attend.Client(cls.address)
        cls.addClassCleanup(cls.client.close)

    @staticmethod
    def with_tokenizer(folder):
        """A golden checkpoint that reads text."""
        folder.mkdir()
        for path in (*(GOLDEN / "families" / folder.name).iterdir(),
                     *(GOLDEN / "text").glob("tokenizer*")):
            (folder / path.name).symlink_to(path)
        return folder

    def test_generate(self):
        first, second = self.client.generate([TEXT, OTHER])
        raw = self.stub.Generate(pb.GenerateRequest(
            inputs=[pb.Input(text=TEXT), pb.Input(text=OTHER)]),
            timeout=TIMEOUT).results
        for found, expected in ((first, raw[0]), (second, raw[1])):
            self.assertEqual(found.text, expected.choices[0].text)
            self.assertEqual(found.ids, list(expected.choices[0].ids))
            self.assertEqual(found.finish_reason, "eos")
        self.assertEqual(self.client.generate(TEXT)[0].text, first.text)
        best, = self.client.generate(attend.Input(text=TEXT), num_beams=3,
                                     num_return_sequences=3)
        self.assertEqual(len(set(best.texts)), 3)
        self.assertEqual(best.texts[0], best.text)
        word = first.text.split()[2]
        cut, = self.client.generate(TEXT, stop_strings=[word])
        self.assertEqual(cut.finish_reason, "stop_sequence")
        self.assertEqual(cut.text, first.text[:first.text.index(word)])

    def test_stream(self):
        self.assertEqual("".join(self.client.stream(TEXT)),
                         self.client.generate(TEXT)[0].text)

    def test_translate(self):
        document = f"{TEXT} {OTHER}"
        whole, = self.client.translate(document)
        first, second = self.client.generate([TEXT, OTHER])
        self.assertEqual(whole.text, f"{first.text} {second.text}")
        parts = list(self.client.translate_stream(document))
        self.assertEqual(len(parts), 2)
        self.assertEqual("".join(parts), whole.text)
        page, = self.client.translate(["<p>A <b>dog</b> runs.</p>"],
                                      format="html", glossary={"dog": "Dackel"})
        self.assertIn("<b>Dackel</b>", page.text)

    def test_score(self):
        german = self.client.generate(TEXT)[0]
        right, wrong = self.client.score([(TEXT, german.text),
                                          (TEXT, "Es regnet.")])
        self.assertGreater(right.log_prob, wrong.log_prob)
        self.assertAlmostEqual(sum(right.log_probs), right.log_prob, 4)
        self.assertEqual(right.ids, german.ids)

    def test_embed(self):
        vectors = self.client.embed([TEXT, OTHER, TEXT], normalize=True)
        width = self.client.model().embedding_width
        self.assertEqual(vectors.shape, (3, width))
        self.assertEqual(vectors.dtype, numpy.float32)
        numpy.testing.assert_allclose(
            numpy.linalg.norm(vectors, axis=1), 1, 1e-5)
        numpy.testing.assert_array_equal(vectors[0], vectors[2])
        raw = self.stub.Embed(pb.EmbedRequest(
            inputs=[pb.Input(text=OTHER)], normalize=True), timeout=TIMEOUT)
        numpy.testing.assert_array_equal(
            vectors[1], numpy.float32(raw.results[0].values))
        of_tokens, = self.client.embed_tokens(TEXT)
        ids = self.client.tokenize(TEXT)[0].ids
        self.assertEqual(of_tokens.shape, (len(ids), width))

    def test_embed_sparse_and_multi_vector(self):
        weights, = self.client.embed_sparse("the dog", model="bert-mask")
        raw = self.stub.Embed(pb.EmbedRequest(
            model="bert-mask", inputs=[pb.Input(text="the dog")],
            kinds=[pb.EMBEDDING_KIND_SPARSE]), timeout=TIMEOUT)
        sparse = raw.results[0].sparse
        self.assertEqual(weights, dict(zip(sparse.ids, sparse.weights)))
        self.assertGreater(min(weights.values()), 0)
        vectors, = self.client.embed_multi_vector("the dog", model="colbert",
                                                  role="query")
        self.assertEqual(vectors.shape, (13, 7))
        numpy.testing.assert_allclose(
            numpy.linalg.norm(vectors, axis=1), 1, 1e-5)

    def test_classify(self):
        for source in ("the dog runs", attend.pair("the dog", "runs")):
            found, = self.client.classify(source, model="bert-4x-labels")
            scores = list(found.labels.values())
            self.assertGreater(len(scores), 1)
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertAlmostEqual(sum(scores), 1, 4)
        one, two = self.client.classify(["the dog", "tea"], top_k=1,
                                        model="bert-tokens")
        self.assertEqual([(token.piece, token.begin, token.end)
                          for token in one.tokens],
                         [("the", 0, 3), ("dog", 4, 7)])
        self.assertEqual([len(token.labels) for token in two.tokens], [1])

    def test_spans_and_labels_of_the_request(self):
        found, = self.client.classify(
            "the dog", model="bert-tokens", aggregation="simple",
            ignore_labels=[""])
        self.assertEqual([span.text for span in found.spans], ["the", "dog"])
        found, = self.client.classify(
            "the dog runs " * 90, model="bert-tokens", aggregation="first",
            ignore_labels=[""], stride=9)
        self.assertEqual(found.spans[-1].end, 90 * 13 - 1)
        found, = self.client.classify(
            "the dog", model="bert-inference", multi_label=True,
            candidate_labels=["tea", "ball"], hypothesis_template="a {}")
        self.assertEqual(set(found.labels), {"tea", "ball"})

    def test_answer(self):
        first, second = self.client.answer(
            [("who runs?", "the dog runs"), ("who runs?", "tea")],
            model="bert-spans", top_k=2, allow_no_answer=True)
        self.assertEqual(len(first), 2)
        self.assertGreater(first[0].score, first[1].score)
        for answer in first:
            self.assertEqual(answer.text,
                             "the dog runs"[answer.begin:answer.end])
        self.assertEqual({answer.text for answer in second}, {"tea", ""})

    def test_fill_mask(self):
        found, = self.client.fill_mask("the [MASK] runs", model="bert-mask",
                                       top_k=3)
        mask, = found.masks
        self.assertEqual(len(mask), 3)
        self.assertGreater(mask[0].log_prob, mask[2].log_prob)
        self.assertEqual(found.text, f"the {mask[0].piece} runs")

    def test_rerank(self):
        documents = ["the dog runs", "a cup of tea", "two children play"]
        found = self.client.rerank("a dog", documents, model="bert-reranker")
        self.assertEqual(sorted(entry.index for entry in found), [0, 1, 2])
        scores = [entry.score for entry in found]
        self.assertEqual(scores, sorted(scores, reverse=True))
        for entry in found:
            self.assertEqual(entry.document, documents[entry.index])
        best, = self.client.rerank("a dog", documents, model="bert-reranker",
                                   top_n=1)
        self.assertEqual(best, found[0])

    def test_tokenize(self):
        found, = self.client.tokenize(TEXT)
        self.assertEqual(len(found.ids), len(found.pieces))
        self.assertEqual(
            self.client.detokenize([found.ids], side="source"), [TEXT])
        self.assertEqual(self.client.generate(attend.tokens(found.ids))[0].text,
                         self.client.generate(TEXT)[0].text)

    def test_models(self):
        names = [model.name for model in self.client.models()]
        self.assertEqual(names, ["en-de", *self.models])
        self.assertEqual(self.client.model("bert-mask").family, "bert")
        with attend.Client(self.address, model="bert-tokens") as client:
            self.assertTrue(client.classify("tea")[0].tokens)
            self.assertEqual(client.model().name, "en-de")

    def test_one_input_fails(self):
        with self.assertRaises(attend.errors.InvalidArgument) as raised:
            self.client.generate([TEXT, attend.tokens([-1])])
        error = raised.exception
        self.assertEqual(error.index, 1)
        self.assertIn("ids[0] is -1", str(error))
        good, bad = error.results
        self.assertEqual(good.text, self.client.generate(TEXT)[0].text)
        self.assertIs(bad, error)
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_errors(self):
        for kind, message, call in (
            (attend.errors.NotFound, "model 'x'",
             lambda: self.client.generate(TEXT, model="x")),
            (attend.errors.InvalidArgument, "temperature",
             lambda: self.client.generate(TEXT, do_sample=True, temperature=-1)),
            (attend.errors.InvalidArgument, "ids",
             lambda: list(self.client.stream(attend.tokens([-1])))),
            (attend.errors.InvalidArgument, "cannot classify",
             lambda: self.client.classify(TEXT)),
            (TypeError, "Generate has no option 'beams'",
             lambda: self.client.generate(TEXT, beams=2)),
            (TypeError, "Embed has no option 'num_beams'",
             lambda: self.client.embed(TEXT, num_beams=2)),
            (ValueError,
             "format is 'pdf', must be one of text, html, xml, markdown",
             lambda: self.client.translate(TEXT, format="pdf")),
        ):
            with self.assertRaisesRegex(kind, message):
                call()

    def long_work(self):
        """More than the tests wait for."""
        return dict(inputs=[TEXT] * 64, min_new_tokens=400, max_new_tokens=400)

    def test_deadline(self):
        with self.assertRaises(attend.errors.DeadlineExceeded):
            self.client.generate(**self.long_work(), timeout=0.1)
        with attend.Client(self.address, timeout=0.1) as client:
            with self.assertRaises(attend.errors.DeadlineExceeded):
                client.generate(**self.long_work())

    def test_the_program_in_the_readme(self):
        page = (GOLDEN.parents[1] / "README.md").read_text(encoding="utf-8")
        block, = [block for block in re.findall(r"```python\n(.*?)```", page,
                                                re.DOTALL)
                  if "import attend\n" in block]
        said = io.StringIO()
        names = {}
        with contextlib.redirect_stdout(said):
            exec(block.replace("localhost:50051", self.address), names)
        self.assertEqual(said.getvalue(),
                         self.client.generate("How are you?")[0].text)
        self.assertEqual(names["vectors"].shape[0], 2)

    def test_asyncio(self):
        async def run():
            async with attend.aio.Client(self.address) as client:
                found = await asyncio.gather(
                    *(client.generate(text) for text in (TEXT, OTHER)))
                parts = [part async for part in client.stream(TEXT)]
                with self.assertRaises(attend.errors.NotFound):
                    await client.model("x")
                with self.assertRaises(attend.errors.DeadlineExceeded):
                    await client.generate(**self.long_work(), timeout=0.1)
                vectors = await client.embed([TEXT, OTHER])
                task = asyncio.ensure_future(
                    client.generate(**self.long_work()))
                await client.models()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            return [result.text for result, in found], "".join(parts), vectors

        texts, streamed, vectors = asyncio.run(run())
        self.assertEqual(texts, [result.text for result in
                                 self.client.generate([TEXT, OTHER])])
        self.assertEqual(streamed, texts[0])
        numpy.testing.assert_array_equal(
            vectors, self.client.embed([TEXT, OTHER]))

    def test_models_come_and_go(self):
        name = "bert-mask"
        self.assertEqual(self.client.load_model(name).name, name)
        self.assertEqual(self.client.load_model(name, 1, timeout=30).version, 1)
        self.assertEqual(self.client.load_model(f"{name}@1").version, 1)
        self.client.set_alias("canary", {name: 9, f"{name}@1": 1})
        self.assertIn(self.client.model("canary").name, (name, f"{name}@1"))
        self.client.set_alias("canary", {})
        self.client.unload_model(f"{name}@1")
        for missing in ("canary", f"{name}@1"):
            with self.assertRaises(attend.errors.NotFound):
                self.client.model(missing)

        async def asynchronously():
            async with attend.aio.Client(self.address) as client:
                with self.assertRaises(attend.errors.NotFound):
                    await client.unload_model("none")
                return await client.load_model(name)
        self.assertEqual(asyncio.run(asynchronously()).name, name)


class DeclarationsTest(unittest.TestCase):

    def test_checkers_of_types_read_the_package(self):
        package = pathlib.Path(attend.__file__).parent
        self.assertTrue((package / "py.typed").exists())

    def test_asyncio_has_the_same_methods(self):
        for name in METHODS:
            one, other = (inspect.signature(getattr(kind, name))
                          for kind in (attend.Client, attend.aio.Client))
            self.assertEqual(one.parameters, other.parameters, name)

    def test_each_field_is_an_option(self):
        params = set(pb.GenerationParams.DESCRIPTOR.fields_by_name)
        self.assertEqual(
            params, set(attend.options.Params.__annotations__))
        for kind in ("Generate", "Translate", "Score", "Embed", "Classify",
                     "FillMask", "Answer", "Rerank", "Tokenize",
                     "Detokenize"):
            fields = getattr(pb, f"{kind}Request").DESCRIPTOR.fields_by_name
            options = getattr(attend.options, f"{kind}Options")
            self.assertEqual(
                set(fields) - OWN,
                set(options.__annotations__) - OWN
                - (params if "params" in fields else set())
                - set(attend.options.CallOptions.__annotations__), kind)


if __name__ == "__main__":
    unittest.main()
