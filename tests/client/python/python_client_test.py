"""RPCs of attend.v1 by the stubs of the package. Started by
python_client_test.sh."""

import array
import os
import unittest

import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1 import attend_pb2_grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)
from served import TIMEOUT, ServedTest

TEXT = "A brown dog is running along the beach."
OTHER = "Where is the nearest train station?"


def texts(*values):
    return [pb.Input(text=value) for value in values]


class PythonClientTest(ServedTest):

    model = os.environ["ATTEND_MODEL"]

    def generate(self, *inputs, **params):
        request = pb.GenerateRequest(inputs=inputs,
                                     params=pb.GenerationParams(**params))
        return self.stub.Generate(request, timeout=TIMEOUT)

    def assert_code(self, code, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code)
        return raised.exception

    def test_generate(self):
        response = self.generate(*texts(TEXT, OTHER))
        self.assertEqual(len(response.results), 2)
        for result in response.results:
            self.assertEqual(result.status.code, 0, result.status.message)
            self.assertTrue(result.choices[0].text)
            self.assertEqual(result.choices[0].finish_reason,
                             pb.FINISH_REASON_EOS)
            self.assertEqual(result.usage.generated_tokens,
                             len(result.choices[0].ids))
            self.assertGreater(result.timings.total.ToNanoseconds(), 0)
        self.assertNotEqual(response.results[0].choices[0].text,
                            response.results[1].choices[0].text)

    def test_generate_n_best(self):
        response = self.generate(*texts(TEXT), num_beams=3,
                                 num_return_sequences=3)
        scores = [choice.score for choice in response.results[0].choices]
        self.assertEqual(len(scores), 3)
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_stream_equals_generate(self):
        whole = self.generate(*texts(TEXT, OTHER), log_probs=True)
        request = pb.GenerateRequest(
            inputs=texts(TEXT, OTHER),
            params=pb.GenerationParams(log_probs=True))
        text, ids, log_probs, ended = ["", ""], [[], []], [[], []], [0, 0]
        for chunk in self.stub.GenerateStream(request, timeout=TIMEOUT):
            text[chunk.input] += chunk.text
            ids[chunk.input] += chunk.ids
            log_probs[chunk.input] += chunk.log_probs
            ended[chunk.input] += chunk.HasField("status")
        self.assertEqual(ended, [1, 1])
        for i, result in enumerate(whole.results):
            self.assertEqual(text[i], result.choices[0].text)
            self.assertEqual(ids[i], list(result.choices[0].ids))
            self.assertEqual(log_probs[i], list(result.choices[0].log_probs))

    def test_one_bad_input_of_a_batch(self):
        bad = pb.Input(tokens=pb.Tokens(ids=[-1]))
        response = self.generate(*texts(TEXT), bad)
        self.assertEqual(response.results[0].status.code, 0)
        self.assertEqual(response.results[1].status.code,
                         grpc.StatusCode.INVALID_ARGUMENT.value[0])

    def test_tokenize_detokenize(self):
        request = pb.TokenizeRequest(texts=[TEXT])
        tokens = self.stub.Tokenize(request, timeout=TIMEOUT).results[0]
        self.assertEqual(len(tokens.ids), len(tokens.pieces))
        back = self.stub.Detokenize(
            pb.DetokenizeRequest(sequences=[pb.Tokens(ids=tokens.ids)],
                                 side=pb.SIDE_SOURCE),
            timeout=TIMEOUT)
        self.assertEqual(back.results[0].text, TEXT)
        as_ids = self.generate(pb.Input(tokens=pb.Tokens(ids=tokens.ids)))
        as_text = self.generate(*texts(TEXT))
        self.assertEqual(as_ids.results[0].choices[0].ids,
                         as_text.results[0].choices[0].ids)

    def test_score(self):
        choice = self.generate(*texts(TEXT), log_probs=True).results[0].choices[0]
        response = self.stub.Score(
            pb.ScoreRequest(pairs=[
                pb.ScorePair(source=pb.Input(text=TEXT),
                             target=pb.Input(tokens=pb.Tokens(ids=choice.ids)))
            ]),
            timeout=TIMEOUT)
        result = response.results[0]
        self.assertEqual([entry.token.id for entry in result.tokens],
                         list(choice.ids))
        generated = [entry.token.log_prob for entry in choice.log_probs]
        # Two requests of different kinds: equal up to the rounding of float.
        self.assertAlmostEqual(result.log_prob, sum(generated),
                               delta=1e-4 * max(1, abs(result.log_prob)))

    def test_embed(self):
        request = pb.EmbedRequest(inputs=texts(TEXT, OTHER))
        as_floats = self.stub.Embed(request, timeout=TIMEOUT).results
        request.encoding = pb.EMBEDDING_FLOAT32
        as_bytes = self.stub.Embed(request, timeout=TIMEOUT).results
        width = self.stub.GetModel(pb.GetModelRequest(),
                                   timeout=TIMEOUT).embedding_width
        for one, other in zip(as_floats, as_bytes):
            self.assertEqual(len(one.values), width)
            self.assertEqual(list(one.values),
                             list(array.array("f", other.data)))
        self.assertNotEqual(as_floats[0].values, as_floats[1].values)

    def test_models(self):
        models = self.stub.ListModels(pb.ListModelsRequest(),
                                      timeout=TIMEOUT).models
        self.assertEqual(len(models), 1)
        self.assertTrue(models[0].ready)
        one = self.stub.GetModel(pb.GetModelRequest(name=models[0].name),
                                 timeout=TIMEOUT)
        self.assertEqual(one, models[0])
        self.assert_code(
            grpc.StatusCode.NOT_FOUND, lambda: self.stub.GetModel(
                pb.GetModelRequest(name="nobody"), timeout=TIMEOUT))

    def test_bad_request(self):
        error = self.assert_code(
            grpc.StatusCode.INVALID_ARGUMENT,
            lambda: self.generate(*texts(TEXT), temperature=-1.0,
                                  do_sample=True))
        self.assertIn("temperature", error.details())

    def long_request(self):
        """Many long generations: more work than the tests wait for."""
        model = self.stub.GetModel(pb.GetModelRequest(), timeout=TIMEOUT)
        length = min(400, model.max_target_tokens - 1)
        return pb.GenerateRequest(
            inputs=texts(*[TEXT] * 64),
            params=pb.GenerationParams(min_new_tokens=length,
                                       max_new_tokens=length))

    def test_deadline(self):
        request = self.long_request()
        self.assert_code(grpc.StatusCode.DEADLINE_EXCEEDED,
                         lambda: self.stub.Generate(request, timeout=0.1))

    def test_cancellation(self):
        call = self.stub.GenerateStream(self.long_request(), timeout=TIMEOUT)
        next(call)
        call.cancel()
        self.assert_code(grpc.StatusCode.CANCELLED, lambda: list(call))
        # What was cancelled does not stand in the way of the next.
        self.assertEqual(self.generate(*texts(TEXT)).results[0].status.code, 0)

    def test_request_id(self):
        request = pb.TokenizeRequest(texts=[TEXT])

        def echoed(metadata):
            _, call = self.stub.Tokenize.with_call(request, timeout=TIMEOUT,
                                                   metadata=metadata)
            both = [*call.initial_metadata(), *call.trailing_metadata()]
            return [value for key, value in both if key == "x-request-id"]

        self.assertEqual(echoed([("x-request-id", "python-7")]), ["python-7"])
        made = echoed([]) + echoed([])
        self.assertEqual(len(set(made)), 2)

    def test_health(self):
        health = health_pb2_grpc.HealthStub(self.channel)
        name = self.stub.GetModel(pb.GetModelRequest(), timeout=TIMEOUT).name
        for service in ("", name):
            request = health_pb2.HealthCheckRequest(service=service)
            serving = health_pb2.HealthCheckResponse.SERVING
            self.assertEqual(health.Check(request, timeout=TIMEOUT).status,
                             serving)
            watch = health.Watch(request, timeout=TIMEOUT)
            self.assertEqual(next(watch).status, serving)
            watch.cancel()
        self.assert_code(
            grpc.StatusCode.NOT_FOUND, lambda: health.Check(
                health_pb2.HealthCheckRequest(service="nobody"),
                timeout=TIMEOUT))

    def test_reflection(self):
        database = ProtoReflectionDescriptorDatabase(self.channel)
        self.assertIn("attend.v1.Attend", database.get_services())
        service = DescriptorPool(database).FindServiceByName("attend.v1.Attend")
        self.assertEqual(
            [method.name for method in service.methods],
            [method.name for method in
             pb.DESCRIPTOR.services_by_name["Attend"].methods])

    def test_reflection_of_the_inference_protocol(self):
        database = ProtoReflectionDescriptorDatabase(self.channel)
        name = "inference.GRPCInferenceService"
        self.assertIn(name, database.get_services())
        service = DescriptorPool(database).FindServiceByName(name)
        stream = service.FindMethodByName("ModelStreamInfer")
        self.assertTrue(stream.client_streaming and stream.server_streaming)


if __name__ == "__main__":
    unittest.main()
