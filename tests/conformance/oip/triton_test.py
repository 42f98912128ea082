"""tritonclient, unmodified, against a server with real models."""

import asyncio
import importlib.metadata
import json
import queue
import time
import unittest

import conformance
import models
import numpy
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from models import CHAT, ENCODER, TEXTS, TRANSLATOR, pb
from served import TIMEOUT, Server
from tritonclient.utils import InferenceServerException

table = conformance.Table("protocols.md", "oip tritonclient")
VERSION = importlib.metadata.version("tritonclient")
SYNC = f"`tritonclient.grpc` {VERSION}"
AIO = f"`tritonclient.grpc.aio` {VERSION}"

# Parameters as a client of Triton gives them, and the same in attend.v1.
PARAMETERS = [
    ({"max_new_tokens": 5}, {"max_new_tokens": 5}),
    ({"min_new_tokens": 20, "max_new_tokens": 20},
     {"min_new_tokens": 20, "max_new_tokens": 20}),
    ({"num_beams": 4, "num_return_sequences": 3, "length_penalty": 0.6,
      "early_stopping": True},
     {"num_beams": 4, "num_return_sequences": 3, "length_penalty": 0.6,
      "early_stopping": pb.EARLY_STOPPING_TRUE}),
    ({"num_beams": 3, "early_stopping": "never"},
     {"num_beams": 3, "early_stopping": pb.EARLY_STOPPING_NEVER}),
    ({"do_sample": True, "temperature": 0.8, "top_k": 20, "top_p": 0.9,
      "min_p": 0.01, "seed": 7},
     {"do_sample": True, "temperature": 0.8, "top_k": 20, "top_p": 0.9,
      "min_p": 0.01, "seed": 7}),
    ({"repetition_penalty": 1.3, "presence_penalty": 0.5,
      "frequency_penalty": 0.25, "no_repeat_ngram_size": 2},
     {"repetition_penalty": 1.3, "presence_penalty": 0.5,
      "frequency_penalty": 0.25, "no_repeat_ngram_size": 2}),
    ({"bad_words": '[{"ids": [5, 6]}]', "stop_ids": "[9]",
      "stop_strings": '["Schnee", "Auto"]'},
     {"bad_words": [pb.Tokens(ids=[5, 6])], "stop_ids": [9],
      "stop_strings": ["Schnee", "Auto"]}),
    ({"prefix_text": "Hallo"}, {"prefix_text": "Hallo"}),
    ({"prefix_tokens": '{"ids": [40, 41]}'},
     {"prefix_tokens": pb.Tokens(ids=[40, 41])}),
    ({"log_probs": True, "top_log_probs": 3},
     {"log_probs": True, "top_log_probs": 3}),
    ({"suppress_tokens": "[7, 8]", "begin_suppress_tokens": "[10]",
      "logit_bias": '{"9": -2.5}'},
     {"suppress_tokens": [7, 8], "begin_suppress_tokens": [10],
      "logit_bias": {9: -2.5}}),
]


def tensor(name, values, datatype="BYTES"):
    if datatype == "BYTES":
        values = numpy.array([value.encode() for value in values], object)
    values = numpy.asarray(values)
    given = triton.InferInput(name, values.shape, datatype)
    given.set_data_from_numpy(values)
    return given


def texts(*values):
    return [tensor("text_input", values)]


def text_outputs(result):
    return [[text.decode() for text in row]
            for row in result.as_numpy("text_output")]


def final(result):
    parameters = result.get_response().parameters
    return parameters["triton_final_response"].bool_param


def setUpModule():
    global server, attend
    server = models.start()
    attend = models.Attend(server.address)


def tearDownModule():
    attend.close()
    server.close()


class TritonTest(unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(server.address)
        self.addCleanup(self.client.close)

    def infer(self, model, inputs, **options):
        return self.client.infer(model, inputs, client_timeout=TIMEOUT,
                                 **options)

    def assert_error(self, status, words, call):
        with self.assertRaises(InferenceServerException) as caught:
            call()
        self.assertEqual(caught.exception.status(), f"StatusCode.{status}")
        self.assertIn(words, caught.exception.message())

    @table.row("ServerLive, ServerReady, ModelReady", SYNC,
               "true; of an unknown model `NOT_FOUND`")
    def test_health(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        for model in TRANSLATOR, CHAT, ENCODER:
            self.assertTrue(self.client.is_model_ready(model))
            self.assertTrue(self.client.is_model_ready(model, "1"))
        self.assert_error("NOT_FOUND", "'nobody' is not served",
                          lambda: self.client.is_model_ready("nobody"))

    @table.row("ServerMetadata, ModelMetadata, ModelConfig", SYNC,
               "tensors, limits, extensions; metadata and configuration agree")
    def test_metadata(self):
        self.assertIn("statistics",
                      self.client.get_server_metadata().extensions)
        for model, output, streams in [(TRANSLATOR, "text_output", True),
                                       (CHAT, "text_output", True),
                                       (ENCODER, "embedding", False)]:
            metadata = self.client.get_model_metadata(model)
            config = self.client.get_model_config(model).config
            self.assertEqual(metadata.versions, ["1"])
            self.assertEqual(metadata.inputs[0].name, "text_input")
            self.assertEqual(metadata.outputs[0].name, output)
            self.assertEqual([given.name for given in metadata.inputs],
                             [given.name for given in config.input])
            # What is embedded is computed in turns, however many there are.
            self.assertEqual(config.max_batch_size, 256 if streams else 131072)
            self.assertEqual(config.model_transaction_policy.decoupled,
                             streams)

    @table.row("RepositoryIndex", SYNC, "all models, and that they are ready")
    def test_repository_index(self):
        index = self.client.get_model_repository_index()
        self.assertEqual([(model.name, model.version, model.state)
                          for model in index.models],
                         [(model, "1", "READY")
                          for model in (TRANSLATOR, CHAT, ENCODER)])

    @table.row("RepositoryModelLoad, RepositoryModelUnload", SYNC,
               "`UNAVAILABLE`, as of a Triton whose models are fixed")
    def test_repository_control(self):
        for call in self.client.load_model, self.client.unload_model:
            self.assert_error("UNAVAILABLE",
                              "explicit model load / unload is not allowed",
                              lambda call=call: call(TRANSLATOR))

    @table.row("ModelInfer", SYNC,
               "a batch of texts of different lengths: texts, ids and reasons "
               "of `attend.v1`")
    def test_batch_of_texts(self):
        result = self.infer(TRANSLATOR, texts(*TEXTS), request_id="r-1")
        self.assertEqual(result.get_response().id, "r-1")
        ids = result.as_numpy("output_ids")
        lengths = result.as_numpy("output_lengths")
        for i, expected in enumerate(attend.generate(TEXTS)):
            choice = expected.choices[0]
            self.assertEqual(text_outputs(result)[i], [choice.text])
            self.assertEqual(ids[i][0][:lengths[i][0]].tolist(), choice.ids)
            self.assertEqual(result.as_numpy("source_tokens")[i][0],
                             expected.usage.source_tokens)
            self.assertEqual(result.as_numpy("finish_reason")[i][0], b"eos")

    @table.row("ModelInfer", SYNC,
               "shape `[n, 1]`, as Triton's own models take texts")
    def test_column_of_texts(self):
        column = numpy.array([[text.encode()] for text in TEXTS], object)
        given = triton.InferInput("text_input", column.shape, "BYTES")
        given.set_data_from_numpy(column)
        self.assertEqual(
            text_outputs(self.infer(TRANSLATOR, [given])),
            [[result.choices[0].text]
             for result in attend.generate(TEXTS)])

    @table.row("ModelInfer", SYNC,
               "ids with an attention mask, with lengths, and in INT32 and "
               "INT64: the bits of texts")
    def test_ids(self):
        answer = attend.stub.Tokenize(
            pb.TokenizeRequest(model=TRANSLATOR, texts=TEXTS),
            timeout=TIMEOUT).results
        rows = [list(result.ids) for result in answer]
        longest = max(map(len, rows))
        lengths = [len(row) for row in rows]
        mask = [[1] * n + [0] * (longest - n) for n in lengths]
        padded = [row + [0] * (longest - len(row)) for row in rows]
        expected = self.infer(TRANSLATOR, texts(*TEXTS),
                              parameters={"log_probs": True})
        for datatype in "INT32", "INT64":
            kind = numpy.dtype(datatype.lower())
            ids = tensor("input_ids", numpy.array(padded, kind), datatype)
            for beside in (tensor("attention_mask", numpy.array(mask, kind),
                                  datatype),
                           tensor("sequence_lengths",
                                  numpy.array(lengths, kind), datatype)):
                result = self.infer(TRANSLATOR, [ids, beside],
                                    parameters={"log_probs": True})
                for name in "text_output", "output_ids", "log_probs":
                    self.assertEqual(result.as_numpy(name).tolist(),
                                     expected.as_numpy(name).tolist())

    @table.row("ModelInfer", SYNC,
               "parameters of generation (beams, samples, penalties, lists, "
               "prefixes, biases): the results of `attend.v1`, "
               "log-probabilities to the bit")
    def test_parameters(self):
        for given, params in PARAMETERS:
            with self.subTest(given):
                result = self.infer(TRANSLATOR, texts(*TEXTS),
                                    parameters=given)
                expected = attend.generate(
                    TEXTS, params=pb.GenerationParams(**params))
                self.assertEqual(
                    text_outputs(result),
                    [[choice.text for choice in one.choices]
                     for one in expected])
                if "log_probs" in given:
                    self.check_log_probs(result, expected)

    def check_log_probs(self, result, expected):
        values = result.as_numpy("log_probs")
        top_ids = result.as_numpy("top_ids")
        for i, one in enumerate(expected):
            for t, token in enumerate(one.choices[0].log_probs):
                self.assertEqual(values[i][0][t], token.token.log_prob)
                self.assertEqual(top_ids[i][0][t].tolist(),
                                 [top.id for top in token.top])

    @table.row("ModelInfer", SYNC,
               "alignments of a translator, those of `attend.v1` to the bit")
    def test_alignments(self):
        expected = attend.generate(TEXTS, alignments=pb.ALIGNMENTS_SOFT)
        result = self.infer(TRANSLATOR, texts(*TEXTS),
                            parameters={"alignments": "soft"})
        best = result.as_numpy("alignment")
        weights = result.as_numpy("alignment_weights")
        for i, one in enumerate(expected):
            alignment = one.choices[0].alignment
            tokens, sources = len(alignment.source), len(one.source_tokens)
            self.assertEqual(best[i][0][:tokens].tolist(), alignment.source)
            self.assertEqual(
                weights[i][0][:tokens, :sources].flatten().tolist(),
                alignment.weights)
            self.assertEqual(
                result.as_numpy("token_end")[i][:sources].tolist(),
                [token.end for token in one.source_tokens])

    @table.row("ModelInfer", SYNC, "parameters as tensors")
    def test_parameter_tensors(self):
        limits = numpy.full((len(TEXTS), 1), 3, numpy.int32)
        result = self.infer(TRANSLATOR, texts(*TEXTS) + [
            tensor("max_new_tokens", limits, "INT32"),
            tensor("stop_strings", ["nie", "nimmer"])])
        self.assertEqual(result.as_numpy("output_lengths").tolist(),
                         [[3]] * len(TEXTS))

    @table.row("ModelInfer", SYNC, "only the outputs that are asked for")
    def test_requested_outputs(self):
        result = self.infer(TRANSLATOR, texts(*TEXTS), outputs=[
            triton.InferRequestedOutput("text_output")])
        self.assertEqual([output.name for output in
                          result.get_response().outputs], ["text_output"])

    @table.row("ModelInfer", SYNC,
               "a conversation, by the model's chat template")
    def test_chat(self):
        messages = [{"role": "user",
                     "content": "What is the capital of France?"}]
        expected = attend.stub.Generate(pb.GenerateRequest(
            model=CHAT, params=pb.GenerationParams(max_new_tokens=20),
            inputs=[pb.Input(chat=pb.Chat(messages=[
                pb.ChatMessage(**message) for message in messages]))]),
            timeout=TIMEOUT).results[0].choices[0].text
        self.assertIn("Paris", expected)
        result = self.infer(
            CHAT, [tensor("chat_input", [json.dumps({"messages": messages})])],
            parameters={"max_new_tokens": 20})
        self.assertEqual(text_outputs(result), [[expected]])

    @table.row("ModelInfer", SYNC,
               "a decoder-only model, padded on the left, with echo and "
               "log-probabilities of the prompt")
    def test_prompt(self):
        ids = numpy.array([[0, 0, 504, 3575, 1610, 28]], numpy.int32)
        mask = numpy.array([[0, 0, 1, 1, 1, 1]], numpy.int32)
        parameters = {"max_new_tokens": 8, "echo": True,
                      "prompt_log_probs": True}
        padded = self.infer(CHAT, [tensor("input_ids", ids, "INT32"),
                                   tensor("attention_mask", mask, "INT32")],
                            parameters=parameters)
        bare = self.infer(CHAT, [tensor("input_ids", ids[:, 2:], "INT32")],
                          parameters=parameters)
        self.assertEqual(bare.as_numpy("prompt_ids").tolist(),
                         ids[:, 2:].tolist())
        for name in "text_output", "output_ids", "prompt_log_probs":
            self.assertEqual(padded.as_numpy(name).tolist(),
                             bare.as_numpy(name).tolist())

    @table.row("ModelInfer", SYNC,
               "vectors of an encoder, those of `attend.v1` to the bit")
    def test_embeddings(self):
        result = self.infer(ENCODER, texts(*TEXTS))
        self.assertEqual(result.as_numpy("embedding").tolist(),
                         attend.embed(TEXTS))
        self.assertEqual(result.as_numpy("embedding").shape, (3, 384))
        short = self.infer(ENCODER, texts(*TEXTS), parameters={
            "dimensions": 64, "normalize": True})
        self.assertEqual(short.as_numpy("embedding").tolist(),
                         attend.embed(TEXTS, dimensions=64,
                                           normalize=True))

    @table.row("ModelInfer", SYNC,
               "scores of targets, and vectors of tokens (parameter `task`)")
    def test_tasks(self):
        targets = [result.choices[0].text
                   for result in attend.generate(TEXTS)]
        expected = attend.stub.Score(pb.ScoreRequest(
            model=TRANSLATOR, pairs=[
                pb.ScorePair(source=pb.Input(text=source),
                             target=pb.Input(text=target))
                for source, target in zip(TEXTS, targets)]),
            timeout=TIMEOUT).results
        result = self.infer(TRANSLATOR, [*texts(*TEXTS),
                                         tensor("target_text", targets)],
                            parameters={"task": "score"})
        self.assertEqual(result.as_numpy("scores").tolist(),
                         [[one.log_prob] for one in expected])
        result = self.infer(ENCODER, texts(*TEXTS),
                            parameters={"task": "embed_tokens"})
        self.assertEqual(result.as_numpy("token_embedding").shape[2], 384)

    @table.row("ModelInfer", SYNC,
               "the same model answers whole and in a stream")
    def test_unary_beside_stream(self):
        whole = text_outputs(self.infer(TRANSLATOR, texts(TEXTS[2])))
        with Stream(self.client) as stream:
            stream.send(TRANSLATOR, texts(TEXTS[2]))
            self.assertEqual(stream.texts(1), {"": whole[0][0]})

    @table.row("ModelInfer", SYNC, "gzip and deflate, both ways")
    def test_compression(self):
        for algorithm in "gzip", "deflate":
            result = self.infer(TRANSLATOR, texts(*TEXTS),
                                compression_algorithm=algorithm)
            self.assertEqual(len(text_outputs(result)), 3)

    @table.row("ModelInfer", SYNC, "`priority` and `timeout` of the client")
    def test_priority_and_timeout(self):
        result = self.infer(TRANSLATOR, texts(*TEXTS), priority=1,
                            timeout=60_000_000)
        self.assertEqual(len(text_outputs(result)), 3)
        self.assert_error("INVALID_ARGUMENT", "'priority' is 22, must be in",
                          lambda: self.infer(TRANSLATOR, texts("A"),
                                             priority=22))
        self.assert_error(
            "DEADLINE_EXCEEDED", "",
            lambda: self.infer(CHAT, texts("A story:"), timeout=50_000,
                               parameters={"max_new_tokens": 1200,
                                           "min_new_tokens": 1200}))

    @table.row("ModelInfer", SYNC,
               "errors name tensor or parameter, value and limit")
    def test_errors(self):
        def infer(*inputs, model=TRANSLATOR, **options):
            return lambda: self.infer(model, list(inputs) or texts("A"),
                                      **options)

        wrong = "INVALID_ARGUMENT"
        cases = [
            (wrong, "temperature is 1000, must be in (0, 100]",
             infer(parameters={"temperature": 1000})),
            (wrong, "'temperatur' is unknown; the parameters of this task",
             infer(parameters={"temperatur": 1})),
            (wrong, "num_beams is 99, must be in [1, 32]",
             infer(parameters={"num_beams": 99})),
            (wrong, "output 'logits' is unknown; the outputs of task",
             infer(outputs=[triton.InferRequestedOutput("logits")])),
            (wrong, "'sequence_end' is set, but models keep nothing",
             infer(sequence_id=5)),
            (wrong, "input[0] has 601 tokens, limit is 512",
             infer(*texts("a " * 600))),
            (wrong, "input 'text_input' has 300 entries, must be 1 to 256",
             infer(*texts(*["a"] * 300))),
            (wrong, "there is no input 'text_input'",
             infer(tensor("INPUT0", ["a"]))),
            (wrong, "datatype is INT32, must be BYTES",
             infer(tensor("text_input", numpy.array([1], numpy.int32),
                          "INT32"))),
            (wrong, "input_ids[0][1] is 70000, must be in [0,",
             infer(tensor("input_ids", numpy.array([[5, 70000]], numpy.int32),
                          "INT32"))),
            ("NOT_FOUND", "model 'nobody' is not served", infer(model="nobody")),
            ("NOT_FOUND", "model 'en-de' has no version '7'",
             infer(model_version="7")),
        ]
        for status, words, call in cases:
            with self.subTest(words):
                self.assert_error(status, words, call)

    @table.row("ModelInfer", SYNC,
               "an input that fails fails the request, or is told in "
               "`status_code` beside results of the others")
    def test_partial_failure(self):
        inputs = texts(TEXTS[0], "a " * 600)
        self.assert_error("INVALID_ARGUMENT", "input[1] has 601 tokens",
                          lambda: self.infer(TRANSLATOR, inputs))
        result = self.infer(TRANSLATOR, inputs, outputs=[
            triton.InferRequestedOutput(name) for name in
            ("text_output", "status_code", "status_message")])
        self.assertEqual(result.as_numpy("status_code").tolist(), [[0], [3]])
        self.assertEqual(text_outputs(result)[0][0],
                         attend.generate(TEXTS[:1])[0].choices[0].text)

    @table.row("ModelStatistics", SYNC, "requests, inputs and times go up")
    def test_statistics(self):
        # A server of its own: no other test's calls are counted.
        alone = Server({TRANSLATOR: models.BUNDLED})
        self.addCleanup(alone.close)
        client = triton.InferenceServerClient(alone.address)
        self.addCleanup(client.close)

        def statistics():
            [model] = client.get_inference_statistics(TRANSLATOR).model_stats
            return model

        self.assertEqual(statistics().inference_count, 0)
        client.infer(TRANSLATOR, texts(*TEXTS), client_timeout=TIMEOUT)
        # A call is counted after its answer has left.
        limit = time.monotonic() + TIMEOUT
        while not statistics().inference_stats.success.count:
            self.assertLess(time.monotonic(), limit)
        after = statistics()
        self.assertEqual(after.inference_count, len(TEXTS))
        self.assertEqual(after.inference_stats.success.count, 1)
        self.assertGreater(after.execution_count, 0)
        self.assertGreater(after.inference_stats.compute_infer.ns, 0)
        self.assertEqual(
            {model.name for model in
             self.client.get_inference_statistics().model_stats},
            {TRANSLATOR, CHAT, ENCODER})

    @table.row("ModelStreamInfer", SYNC,
               "texts in parts, which joined are the whole; the last part says "
               "so")
    def test_stream(self):
        with Stream(self.client) as stream:
            stream.send(TRANSLATOR, texts(*TEXTS), request_id="all")
            parts = {i: "" for i in range(len(TEXTS))}
            results = stream.until_final(1)
            for result in results:
                index = int(result.as_numpy("batch_index")[0][0])
                parts[index] += text_outputs(result)[0][0]
            self.assertEqual([final(result) for result in results],
                             [False] * (len(results) - 1) + [True])
        self.assertEqual(list(parts.values()),
                         [result.choices[0].text
                          for result in attend.generate(TEXTS)])

    @table.row("ModelStreamInfer", SYNC,
               "parts come while others are computed: the first long before "
               "the last")
    def test_first_part(self):
        with Stream(self.client) as stream:
            start = time.monotonic()
            stream.send(CHAT, texts("Once upon a time"),
                        parameters={"max_new_tokens": 60,
                                    "min_new_tokens": 60})
            results = [stream.next()]
            first = time.monotonic() - start
            while not final(results[-1]):
                results.append(stream.next())
            last = time.monotonic() - start
        self.assertGreater(len(results), 10)
        self.assertLess(first, last / 2)

    @table.row("ModelStreamInfer", SYNC,
               "many requests for several models on one stream, each told by "
               "its id")
    def test_many_on_a_stream(self):
        with Stream(self.client) as stream:
            for i in range(50):
                stream.send(TRANSLATOR, texts(TEXTS[i % 3]),
                            request_id=f"t{i}")
            stream.send(ENCODER, texts(TEXTS[0]), request_id="e",
                        enable_empty_final_response=True)
            answers = stream.until_final(51)
        got = {f"t{i}": "" for i in range(50)}
        for result in answers:
            name = result.get_response().id
            if name == "e":
                self.assertEqual(result.as_numpy("embedding").tolist(),
                                 attend.embed(TEXTS[:1]))
            else:
                got[name] += text_outputs(result)[0][0]
        expected = [one.choices[0].text for one in attend.generate(TEXTS)]
        self.assertEqual(got, {f"t{i}": expected[i % 3] for i in range(50)})

    @table.row("ModelStreamInfer", SYNC,
               "a request that fails is told in a response; the stream goes on")
    def test_stream_errors(self):
        with Stream(self.client) as stream:
            stream.send(TRANSLATOR, texts("A"),
                        parameters={"temperature": -1})
            error = stream.next_error()
            self.assertIn("temperature is -1, must be in", str(error))
            stream.send(TRANSLATOR, texts(TEXTS[0]))
            self.assertEqual(len(stream.texts(1)), 1)

    @table.row("ModelStreamInfer", SYNC,
               "with `triton_grpc_error` the first error ends the stream with "
               "its status")
    def test_grpc_errors(self):
        stream = Stream(self.client, headers={"triton_grpc_error": "true"})
        stream.send(TRANSLATOR, texts("A"), parameters={"temperature": -1})
        self.assertEqual(stream.next_error().status(),
                         "StatusCode.INVALID_ARGUMENT")
        self.client.stop_stream()

    @table.row("ModelStreamInfer", SYNC,
               "`stream: false`: one response, with everything")
    def test_unstreamed(self):
        with Stream(self.client) as stream:
            stream.send(TRANSLATOR, texts(*TEXTS),
                        parameters={"stream": False})
            result = stream.next()
            self.assertTrue(final(result))
            self.assertEqual(len(text_outputs(result)), 3)

    @table.row("ModelStreamInfer", SYNC,
               "a cancelled stream frees its requests, which are not computed "
               "to their end")
    def test_cancelled_stream(self):
        stream = Stream(self.client)
        for i in range(4):
            stream.send(CHAT, texts("A long story:"), request_id=str(i),
                        parameters={"max_new_tokens": 1200,
                                    "min_new_tokens": 1200})
        stream.next()
        self.client.stop_stream(cancel_requests=True)
        limit = time.monotonic() + TIMEOUT
        while 'attend_running_sequences{model="smollm2"} 0' not in \
                server.metrics():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        generated = next(
            line for line in server.metrics().splitlines()
            if line.startswith('attend_generated_tokens_total{model="smollm2"'))
        self.assertLess(float(generated.split()[-1]), 1200)


class TritonAioTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = triton_aio.InferenceServerClient(server.address)

    async def asyncTearDown(self):
        await self.client.close()

    @table.row("ServerReady, ModelReady, ModelMetadata, ModelConfig, "
               "ModelStatistics, RepositoryIndex", AIO, "as above")
    async def test_calls(self):
        self.assertTrue(await self.client.is_server_ready())
        self.assertTrue(await self.client.is_model_ready(CHAT))
        metadata = await self.client.get_model_metadata(CHAT)
        self.assertEqual(metadata.platform, "attend_llama")
        config = await self.client.get_model_config(CHAT)
        self.assertEqual(config.config.backend, "attend")
        index = await self.client.get_model_repository_index()
        self.assertEqual(len(index.models), 3)
        await self.client.get_inference_statistics()

    @table.row("ModelInfer", AIO,
               "64 requests at once: each the answer of `attend.v1`")
    async def test_at_once(self):
        expected = [one.choices[0].text for one in attend.generate(TEXTS)]
        results = await asyncio.gather(*(
            self.client.infer(TRANSLATOR, texts(TEXTS[i % 3]),
                              client_timeout=TIMEOUT) for i in range(64)))
        self.assertEqual([text_outputs(result)[0][0] for result in results],
                         [expected[i % 3] for i in range(64)])

    @table.row("ModelStreamInfer", AIO,
               "texts in parts, errors beside them")
    async def test_stream(self):
        async def requests():
            yield {"model_name": TRANSLATOR, "inputs": texts(TEXTS[2]),
                   "request_id": "good"}
            yield {"model_name": "nobody", "inputs": texts("A"),
                   "request_id": "bad"}

        text, errors = "", []
        async for result, error in self.client.stream_infer(requests()):
            if error is not None:
                errors.append(str(error))
            else:
                text += text_outputs(result)[0][0]
        self.assertEqual(text,
                         attend.generate(TEXTS[2:])[0].choices[0].text)
        self.assertEqual(len(errors), 1)
        self.assertIn("'nobody' is not served", errors[0])


class Stream:
    """A stream of a client, and what comes out of it."""

    def __init__(self, client, **options):
        self.client = client
        self.answers = queue.Queue()
        client.start_stream(
            lambda result, error: self.answers.put((result, error)), **options)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.stop_stream(cancel_requests=error[0] is not None)

    def send(self, model, inputs, **options):
        self.client.async_stream_infer(model, inputs, **options)

    def next(self):
        result, error = self.answers.get(timeout=TIMEOUT)
        if error is not None:
            raise error
        return result

    def next_error(self):
        return self.answers.get(timeout=TIMEOUT)[1]

    def until_final(self, requests):
        """All responses to so many requests."""
        results = []
        while requests > 0:
            results.append(self.next())
            requests -= final(results[-1])
        return results

    def texts(self, requests):
        """The text of each request, by its id."""
        joined = {}
        for result in self.until_final(requests):
            name = result.get_response().id
            joined[name] = joined.get(name, "") + text_outputs(result)[0][0]
        return joined


if __name__ == "__main__":
    table.main()
