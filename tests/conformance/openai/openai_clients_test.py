"""OpenAI's API and those beside it, by clients that others wrote. See run.sh."""

import asyncio
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import typing
import unittest
import urllib.request

import cohere
import langchain_openai
import openai
import pydantic
from conformance import ROOT
from guidellm_test import GuidellmTest  # noqa: F401, it is run, too
from langchain_core.messages import HumanMessage
from lm_eval_test import LmEvalTest  # noqa: F401, it is run, too
from openai_table import CHAT_PATH, COMPLETIONS, TABLE
from openapi_spec_validator import validate
from served import TIMEOUT, Server

PYTHON, NODE = "`openai` (Python)", "`openai` (Node.js)"
LANGCHAIN, COHERE = "`langchain-openai`", "`cohere`"
HAYSTACK = "`haystack-ai`"
TRANSLATOR, CHAT, ENCODER = "en-de", "smollm2-135m", "all-minilm-l6-v2"
FETCHED = pathlib.Path(os.environ["ATTEND_MODELS"])  # by models/fetch.py
HELLO = [{"role": "user", "content": "Say hello."}]
CAPITAL = "The capital of France is"
CITIES = ["Paris", "Rome", "Oslo"]
WEATHER = {"type": "function", "function": {
    "name": "weather", "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {
        "city": {"enum": CITIES}}, "required": ["city"]}}}
CALL_WEATHER = {"type": "function", "function": {"name": "weather"}}


class Answer(pydantic.BaseModel):
    """What a model may be held to say."""
    city: typing.Literal["Paris", "Rome", "Oslo"]
    days: typing.Annotated[int, pydantic.Field(ge=1, le=7)]


class ClientsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server({
            TRANSLATOR: ROOT / "models/en-de",
            CHAT: FETCHED / f"{CHAT}.gguf", ENCODER: FETCHED / ENCODER})
        cls.url = f"http://127.0.0.1:{cls.server.http_port}"
        cls.base = f"{cls.url}/v1"
        cls.client = openai.OpenAI(base_url=cls.base, api_key="none",
                                   max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.close()

    def chat(self, **fields):
        return self.client.chat.completions.create(
            **{"model": CHAT, "messages": HELLO, "max_tokens": 12,
               "temperature": 0, **fields})

    def complete(self, **fields):
        return self.client.completions.create(
            **{"model": CHAT, "prompt": CAPITAL, "max_tokens": 5,
               "temperature": 0, **fields})

    def post(self, path, body):
        """To a path that the clients do not know."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.load(answer)

    @TABLE.row("GET /v1/models", PYTHON, "all models, and one")
    def test_models(self):
        names = [model.id for model in self.client.models.list()]
        self.assertEqual(names, [TRANSLATOR, CHAT, ENCODER])
        self.assertEqual(self.client.models.retrieve(CHAT).object, "model")

    @TABLE.row(CHAT_PATH, PYTHON, "`logprobs` and `top_logprobs`")
    def test_chat(self):
        answer = self.chat(logprobs=True, top_logprobs=3)
        choice = answer.choices[0]
        self.assertEqual(choice.message.role, "assistant")
        tokens = choice.logprobs.content
        self.assertEqual(answer.usage.completion_tokens, len(tokens))
        for token in tokens:
            self.assertEqual(len(token.top_logprobs), 3)
            self.assertLessEqual(token.logprob, 0)
        self.assertEqual(choice.message.content, "".join(
            bytes(token.bytes).decode() for token in tokens
            if not token.token.startswith("<|")))

    @TABLE.row(CHAT_PATH, PYTHON, "a stream with the same text and `usage`")
    def test_chat_stream(self):
        whole = self.chat()
        chunks = list(self.chat(stream=True,
                                stream_options={"include_usage": True}))
        self.assertEqual(chunks[-1].usage, whole.usage)
        self.assertEqual(whole.choices[0].message.content, "".join(
            chunk.choices[0].delta.content or ""
            for chunk in chunks if chunk.choices))

    @TABLE.row(CHAT_PATH, PYTHON, "`n` and `seed`: the same choices again")
    def test_samples(self):
        texts = [[choice.message.content for choice in
                  self.chat(n=3, seed=7, temperature=1.2).choices]
                 for _ in range(2)]
        self.assertEqual(*texts)
        self.assertGreater(len(set(texts[0])), 1)

    @TABLE.row(CHAT_PATH, PYTHON, "`stop`")
    def test_stop(self):
        text = self.chat().choices[0].message.content
        choice = self.chat(stop=[text[3:6]]).choices[0]
        self.assertEqual(choice.message.content, text[:3])
        self.assertEqual(choice.finish_reason, "stop")

    @TABLE.row(CHAT_PATH, PYTHON,
               "`tools`: `tool_choice: none`, and an error for a template that "
               "knows none")
    def test_tools(self):
        answer = self.chat(tools=[WEATHER], tool_choice="none")
        self.assertIsNone(answer.choices[0].message.tool_calls)
        with self.assertRaisesRegex(openai.BadRequestError, "knows no tools"):
            self.chat(tools=[WEATHER])

    @TABLE.row(CHAT_PATH, PYTHON, "`tool_choice`: `required`, and a certain "
               "function, whole and streamed")
    def test_tool_choice(self):
        for choice in ("required", CALL_WEATHER):
            fields = {"tools": [WEATHER], "tool_choice": choice,
                      "parallel_tool_calls": False, "max_tokens": 60}
            [call] = self.chat(**fields).choices[0].message.tool_calls
            self.assertEqual(call.function.name, "weather")
            self.assertIn(json.loads(call.function.arguments)["city"], CITIES)
            [streamed] = [
                call.function for chunk in self.chat(**fields, stream=True)
                for call in chunk.choices[0].delta.tool_calls or []]
            self.assertEqual(streamed.name, "weather")
            self.assertEqual(streamed.arguments, call.function.arguments)

    @TABLE.row(CHAT_PATH, PYTHON, "`response_format`: `parse()` of a class, "
               "`json_object`, an error for a bad schema")
    def test_response_format(self):
        parsed = self.client.chat.completions.parse(
            model=CHAT, messages=HELLO, temperature=0, max_tokens=60,
            response_format=Answer).choices[0].message.parsed
        self.assertIn(parsed.city, CITIES)
        self.assertLessEqual(parsed.days, 7)
        text = self.chat(response_format={"type": "json_object"})
        self.assertTrue(text.choices[0].message.content.startswith("{"))
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(response_format={"type": "json_schema", "json_schema": {
                "name": "bad", "schema": {"type": "number or so"}}})
        self.assertEqual(caught.exception.param,
                         "response_format.json_schema.schema")

    @TABLE.row(CHAT_PATH, PYTHON, "`guided_choice`, `guided_regex`, "
               "`guided_grammar`, `structured_outputs` of vLLM")
    def test_guided(self):
        def text(**fields):
            answer = self.chat(max_tokens=30, extra_body=fields)
            return answer.choices[0].message.content

        self.assertIn(text(guided_choice=CITIES), CITIES)
        self.assertRegex(text(guided_regex=r"[0-9]{3}-[a-f]{2}"),
                         re.compile(r"\A[0-9]{3}-[a-f]{2}\Z"))
        self.assertIn(text(guided_grammar='start: "yes" | "no"'),
                      ["yes", "no"])
        self.assertEqual(text(structured_outputs={"json": {"const": 7}}), "7")

    @TABLE.row(CHAT_PATH, PYTHON, "16 streams at once, `AsyncOpenAI`")
    def test_many_streams(self):
        async def one(client):
            stream = await client.chat.completions.create(
                model=CHAT, messages=HELLO, max_tokens=8, temperature=0,
                stream=True)
            return "".join([chunk.choices[0].delta.content or ""
                            async for chunk in stream])

        async def all_of_them():
            async with openai.AsyncOpenAI(base_url=self.base,
                                          api_key="none") as client:
                return await asyncio.gather(*(one(client) for _ in range(16)))

        texts = asyncio.run(all_of_them())
        self.assertEqual(len(set(texts)), 1)
        self.assertTrue(texts[0])

    @TABLE.row(COMPLETIONS, PYTHON, "`echo` with `logprobs`")
    def test_echo(self):
        choice = self.complete(logprobs=2, echo=True).choices[0]
        self.assertTrue(choice.text.startswith(CAPITAL))
        probs = choice.logprobs
        self.assertIsNone(probs.token_logprobs[0])
        self.assertEqual("".join(probs.tokens), choice.text)
        for token, place in zip(probs.tokens, probs.text_offset):
            self.assertTrue(choice.text[place:].startswith(token))

    @TABLE.row(COMPLETIONS, PYTHON, "`logit_bias`")
    def test_logit_bias(self):
        likeliest = self.complete(max_tokens=1).choices[0].text
        token = self.post("/tokenize", {"model": CHAT,
                                        "prompt": likeliest})["tokens"][0]
        other = self.complete(max_tokens=1, logit_bias={str(token): -100})
        self.assertNotEqual(other.choices[0].text, likeliest)

    @TABLE.row(COMPLETIONS, PYTHON, "batches, token ids, streams")
    def test_prompts(self):
        text = self.complete().choices[0].text
        ids = self.post("/tokenize", {"model": CHAT,
                                      "prompt": CAPITAL})["tokens"]
        batch = self.complete(prompt=[ids, ids])
        self.assertEqual([choice.text for choice in batch.choices], [text] * 2)
        self.assertEqual(text, "".join(
            chunk.choices[0].text for chunk in self.complete(stream=True)))

    @TABLE.row(COMPLETIONS, PYTHON, "a translation, with `num_beams`")
    def test_translation(self):
        answer = self.client.completions.create(
            model=TRANSLATOR, prompt="A dog runs.",
            extra_body={"num_beams": 4})
        self.assertIn("Hund", answer.choices[0].text)

    @TABLE.row("POST /v1/embeddings", PYTHON, "base64, floats, `dimensions`")
    def test_embeddings(self):
        create = self.client.embeddings.create
        texts = ["A dog runs.", "It rains."]
        packed = create(model=ENCODER, input=texts)  # base64 by itself
        lists = create(model=ENCODER, input=texts, encoding_format="float")
        for one, other in zip(packed.data, lists.data):
            self.assertEqual(len(one.embedding), 384)
            self.assertAlmostEqual(math.hypot(*one.embedding), 1, places=5)
            for a, b in zip(one.embedding, other.embedding):
                self.assertAlmostEqual(a, b, places=7)
        short = create(model=ENCODER, input=texts[0], dimensions=64)
        self.assertEqual(len(short.data[0].embedding), 64)

    @TABLE.row("errors", PYTHON, "exceptions by status; `code`, `param`")
    def test_errors(self):
        cases = [
            (openai.NotFoundError, "model_not_found", None, {"model": "gpt-9"}),
            (openai.BadRequestError, None, "temperature", {"temperature": 3}),
            (openai.BadRequestError, None, "suffix",
             {"extra_body": {"suffix": "x"}}),
            (openai.BadRequestError, "context_length_exceeded", "messages",
             {"messages": [{"role": "user",
                            "content": "many words " * 9000}]}),
        ]
        for kind, code, param, fields in cases:
            with self.assertRaises(kind) as caught:
                self.chat(**fields)
            self.assertEqual(caught.exception.code, code)
            self.assertEqual(caught.exception.param, param)
            self.assertTrue(caught.exception.request_id)

    @TABLE.row(CHAT_PATH, LANGCHAIN, "`invoke` and `stream`")
    def test_langchain_chat(self):
        chat = langchain_openai.ChatOpenAI(
            model=CHAT, temperature=0, max_tokens=8, base_url=self.base,
            api_key="none")
        text = chat.invoke([HumanMessage("Say hello.")]).content
        self.assertTrue(text)
        self.assertEqual(
            text, "".join(part.content for part in chat.stream("Say hello.")))

    @TABLE.row(CHAT_PATH, LANGCHAIN, "`with_structured_output`, by a schema "
               "and by a function")
    def test_langchain_structured(self):
        chat = langchain_openai.ChatOpenAI(
            model=CHAT, temperature=0, max_tokens=60, base_url=self.base,
            api_key="none")
        for method in ("json_schema", "function_calling"):
            answer = chat.with_structured_output(
                Answer, method=method).invoke("Where to go?")
            self.assertIsInstance(answer, Answer)

    @TABLE.row("POST /v1/embeddings", LANGCHAIN, "`embed_documents`")
    def test_langchain_embeddings(self):
        vectors = langchain_openai.OpenAIEmbeddings(
            model=ENCODER, check_embedding_ctx_length=False,
            base_url=self.base, api_key="none",
        ).embed_documents(["A dog runs.", "It rains."])
        self.assertEqual([len(vector) for vector in vectors], [384, 384])

    def check_example(self, name):
        """A program of client/examples/python, which finds a text by its vector
        and asks the model that chats about it."""
        said = subprocess.run(
            [sys.executable, ROOT / "client/examples/python" / name], text=True,
            check=True, timeout=TIMEOUT, stdout=subprocess.PIPE,
            env=os.environ | {"ATTEND_URL": self.url, "ATTEND_TOKEN": "none",
                              "HAYSTACK_TELEMETRY_ENABLED": "False"}).stdout
        self.assertRegex(said, r"\AFound: The ferry leaves from the old harbour\."
                         r"\nAnswer: .*(ferry|harbour)")

    @TABLE.row("POST /v1/embeddings, /v1/chat/completions", LANGCHAIN,
               "a chain: search, prompt, streamed answer")
    def test_langchain_example(self):
        self.check_example("with_langchain.py")

    @TABLE.row("POST /v1/embeddings, /v1/chat/completions", HAYSTACK,
               "a pipeline: embedders, retriever, prompt, generator")
    def test_haystack_example(self):
        self.check_example("with_haystack.py")

    def check_rerank(self, client):
        answer = client.rerank(
            model=ENCODER, query="A dog runs.", top_n=2,
            documents=["It rains.", "The dog is running.", "Trains are late."])
        self.assertEqual(len(answer.results), 2)
        self.assertEqual(answer.results[0].index, 1)
        self.assertGreater(answer.results[0].relevance_score,
                           answer.results[1].relevance_score)
        with self.assertRaises(cohere.NotFoundError) as caught:
            client.rerank(model="none", query="q", documents=["d"])
        self.assertIn("not served", caught.exception.body["message"])

    @TABLE.row("POST /v1/rerank", COHERE, "`Client`: best first, errors")
    def test_cohere(self):
        self.check_rerank(cohere.Client("none", base_url=self.url))

    @TABLE.row("POST /v2/rerank", COHERE, "`ClientV2`: best first, errors")
    def test_cohere_2(self):
        self.check_rerank(cohere.ClientV2("none", base_url=self.url))

    @TABLE.row("GET /openapi.json", "`openapi-spec-validator`",
               "valid OpenAPI 3.1")
    def test_openapi(self):
        with urllib.request.urlopen(f"{self.url}/openapi.json",
                                    timeout=TIMEOUT) as answer:
            document = json.load(answer)
        validate(document)
        self.assertIn("/v1/chat/completions", document["paths"])

    def node(self, case):
        subprocess.run(["node", os.environ["ATTEND_NODE_SCRIPT"], self.base,
                        case], check=True, timeout=TIMEOUT)

    @TABLE.row("GET /v1/models", NODE, "all models")
    def test_node_models(self):
        self.node("models")

    @TABLE.row(CHAT_PATH, NODE, "whole and streamed; a stream broken off")
    def test_node_chat(self):
        self.node("chat")

    @TABLE.row(COMPLETIONS, NODE, "translations")
    def test_node_completions(self):
        self.node("completions")

    @TABLE.row("POST /v1/embeddings", NODE, "vectors")
    def test_node_embeddings(self):
        self.node("embeddings")

    @TABLE.row("errors", NODE, "exceptions by status; `param`")
    def test_node_errors(self):
        self.node("errors")


if __name__ == "__main__":
    TABLE.main()
