"""KServe's inference client, unmodified, against a server with real models."""

import importlib.metadata
import logging
import unittest

import conformance
import grpc
import models
import numpy
from kserve import InferenceGRPCClient, InferInput, InferRequest
from models import CHAT, ENCODER, TEXTS, TRANSLATOR

table = conformance.Table("protocols.md", "oip kserve")
CLIENT = ("`kserve.InferenceGRPCClient` " +
          importlib.metadata.version("kserve"))


logging.disable(logging.ERROR)  # the client's, of errors that are wanted


def texts(*values, raw):
    given = InferInput("text_input", [len(values)], "BYTES")
    given.set_data_from_numpy(
        numpy.array([value.encode() for value in values], object),
        binary_data=raw)
    return given


def request(model, *inputs, **fields):
    return InferRequest(model, list(inputs), **fields)


def output(response, name):
    return next(one for one in response.outputs if one.name == name).as_numpy()


def setUpModule():
    global server, attend
    server = models.start()
    attend = models.Attend(server.address)


def tearDownModule():
    attend.close()
    server.close()


class KServeTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = InferenceGRPCClient(server.address)

    async def asyncTearDown(self):
        await self.client.close()

    async def assert_error(self, code, words, call):
        with self.assertRaises(grpc.RpcError) as caught:
            await call
        self.assertEqual(caught.exception.code(), code)
        self.assertIn(words, caught.exception.details())

    @table.row("ServerLive, ServerReady, ModelReady", CLIENT,
               "true; of an unknown model `NOT_FOUND`")
    async def test_health(self):
        self.assertTrue(await self.client.is_server_live())
        self.assertTrue(await self.client.is_server_ready())
        for model in TRANSLATOR, CHAT, ENCODER:
            self.assertTrue(await self.client.is_model_ready(model))
        await self.assert_error(grpc.StatusCode.NOT_FOUND,
                                "'nobody' is not served",
                                self.client.is_model_ready("nobody"))

    @table.row("ModelInfer", CLIENT,
               "texts, in raw and in typed contents: the texts of `attend.v1`")
    async def test_texts(self):
        expected = [[one.choices[0].text]
                    for one in attend.generate(TEXTS)]
        for raw in True, False:
            response = await self.client.infer(
                request(TRANSLATOR, texts(*TEXTS, raw=raw), request_id="k-1"))
            self.assertEqual(response.id, "k-1")
            self.assertEqual(
                [[text.decode() for text in row]
                 for row in output(response, "text_output")], expected)

    @table.row("ModelInfer", CLIENT,
               "ids and masks, in raw and in typed contents")
    async def test_ids(self):
        ids = numpy.array([[5, 6, 7], [8, 9, 0]], numpy.int64)
        mask = numpy.array([[1, 1, 1], [1, 1, 0]], numpy.int64)
        answers = []
        for raw in True, False:
            inputs = []
            for name, values in ("input_ids", ids), ("attention_mask", mask):
                inputs.append(InferInput(name, list(values.shape), "INT64"))
                inputs[-1].set_data_from_numpy(values, binary_data=raw)
            response = await self.client.infer(request(TRANSLATOR, *inputs))
            self.assertEqual(output(response, "source_tokens").tolist(),
                             [[3], [2]])
            answers.append(output(response, "output_ids").tolist())
        self.assertEqual(answers[0], answers[1])

    @table.row("ModelInfer", CLIENT, "parameters of the request")
    async def test_parameters(self):
        response = await self.client.infer(request(
            TRANSLATOR, texts(*TEXTS, raw=True),
            parameters={"num_beams": 3, "num_return_sequences": 2,
                        "max_new_tokens": 4}))
        self.assertEqual(output(response, "output_ids").shape, (3, 2, 4))

    @table.row("ModelInfer", CLIENT,
               "vectors of an encoder, those of `attend.v1` to the bit")
    async def test_embeddings(self):
        response = await self.client.infer(
            request(ENCODER, texts(*TEXTS, raw=False)))
        self.assertEqual(output(response, "embedding").tolist(),
                         attend.embed(TEXTS))

    @table.row("ModelInfer", CLIENT, "errors with their codes and words")
    async def test_errors(self):
        await self.assert_error(
            grpc.StatusCode.NOT_FOUND, "'nobody' is not served",
            self.client.infer(request("nobody", texts("A", raw=True))))
        await self.assert_error(
            grpc.StatusCode.INVALID_ARGUMENT, "top_k is -1, must be in",
            self.client.infer(request(TRANSLATOR, texts("A", raw=True),
                                      parameters={"top_k": -1})))


if __name__ == "__main__":
    table.main()
