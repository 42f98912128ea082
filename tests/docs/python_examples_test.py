"""The examples in Python of README.md and docs/, and the calls by grpcurl, from a
server with the bundled model, and one that chats as `smollm2`.

    python_examples_test.py PACKAGE    attend, openai or tritonclient: whose

The package is installed. Started by the scripts that install them:
tests/client/python, tests/conformance/openai and oip.
"""

import ast
import asyncio
import contextlib
import importlib
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import unittest

from page_examples import ROOT, blocks, commands

sys.path.append(str(ROOT / "tests/conformance"))
from served import TIMEOUT, Server  # noqa: E402

PACKAGE = sys.argv[1]
# Whose an example is: the first that fits. Those of clusters are run by hand
# (tests/client/python/README.md).
KINDS = {"clusters": r"\bray\.|\battend\.(ray|spark)\b", "openai": r"\bopenai\.",
         "tritonclient": r"\btritonclient\.", "attend": r"\b(attend|client)\."}
FEWEST = {"attend": 6, "openai": 2, "tritonclient": 1}
PAGE = "<p>A dog sleeps.</p>"
SHORTER = ("max_new_tokens=64", "max_new_tokens=4")  # for the model that chats


def kind(code):
    return next((name for name, pattern in KINDS.items()
                 if re.search(pattern, code)), None)


def run(code, names):
    """What the code prints, and the value of its last expression."""
    tree = ast.parse(code)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign(
            [ast.Name("last", ast.Store())], tree.body[-1].value), tree.body[-1])
        ast.fix_missing_locations(tree)
    program = compile(tree, "example", "exec",
                      flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        # A coroutine if the code awaits.
        running = eval(program, names)  # pylint: disable=eval-used
        if inspect.iscoroutine(running):
            asyncio.run(running)
    return printed.getvalue(), names.get("last")


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server({"en-de": ROOT / "models/en-de",
                             "smollm2": ROOT / "tests/golden/evaluation"},
                            "--default-model=en-de", "--threads=1")
        cls.addClassCleanup(cls.server.close)

    def here(self, code):
        """The example with the addresses of this server."""
        for address in ("localhost:50051", "attend.example:50051",
                        "10.0.0.1:50051"):
            code = code.replace(address, self.server.address)
        code = code.replace(*SHORTER).replace(
            "10.0.0.2:50051", f"localhost:{self.server.port}")
        return code.replace("localhost:8080",
                            f"127.0.0.1:{self.server.http_port}")

    def test_python(self):
        examples = blocks("python")
        for page, code in examples:
            self.assertIsNotNone(kind(code), (page, code))
        ours = [example for example in examples if kind(example[1]) == PACKAGE]
        self.assertGreaterEqual(len(ours), FEWEST[PACKAGE])
        for page, code in ours:
            with self.subTest(page=page, code=code):
                self.check(code)

    def check(self, code):
        names = {PACKAGE: importlib.import_module(PACKAGE), "asyncio": asyncio,
                 "page": PAGE}
        if PACKAGE == "attend":
            model = "smollm2" if "attend.chat(" in code else None
            names["client"] = names["attend"].Client(self.server.address,
                                                     model=model)
            self.addCleanup(names["client"].close)
            importlib.import_module("attend.aio")
        printed, last = run(self.here(code), names)
        for said in re.findall(r"^ *print\(.*\)  # (.+)$", code, re.MULTILINE):
            self.assertIn(said, " ".join(printed.split()))
        if isinstance(last, str):
            printed += last
        if "How are you?" in code:
            self.assertIn("Wie geht es", printed)
        if "Dackel" in code:
            self.assertRegex(last[0].text, "^<p>.*Dackel.*</p>$")
        if type(last).__name__ == "Client":
            with last:
                self.assertEqual(len(last.models()), 2)

    @unittest.skipUnless(PACKAGE == "attend", "needs grpcio-reflection")
    def test_grpcurl(self):
        calls = commands("grpcurl")
        self.assertGreaterEqual(len(calls), 3)
        for page, line in calls:
            with self.subTest(page=page, line=line):
                words = shlex.split(self.here(line))
                call = (self.grpcurl if shutil.which("grpcurl") else
                        self.as_grpcurl)
                answer = json.loads(call(words))
                result = answer["results"][0]
                self.assertEqual(result["status"].get("code", 0), 0, result)
                self.assertTrue(result.get("choices") or result["values"])
                if "regex" in line:
                    self.assertRegex(result["choices"][0]["text"],
                                     r"^\d{4}-\d{2}$")

    def grpcurl(self, words):
        return subprocess.run(words, capture_output=True, text=True, check=True,
                              timeout=TIMEOUT).stdout

    def as_grpcurl(self, words):
        """What grpcurl does with these words: the types of the call are asked of
        the server, by reflection."""
        import grpc
        from google.protobuf import descriptor_pool, json_format, message_factory
        from grpc_reflection.v1alpha import (
            proto_reflection_descriptor_database as reflection)

        plain, option, text, address, path = words[1:]
        self.assertEqual((plain, option), ("-plaintext", "-d"))
        service, _, method = path.rpartition("/")
        with grpc.insecure_channel(address) as channel:
            pool = descriptor_pool.DescriptorPool(
                reflection.ProtoReflectionDescriptorDatabase(channel))
            found = pool.FindServiceByName(service).methods_by_name[method]
            request, response = (
                message_factory.GetMessageClass(each)
                for each in (found.input_type, found.output_type))
            call = channel.unary_unary(f"/{service}/{method}",
                                       request.SerializeToString,
                                       response.FromString)
            return json_format.MessageToJson(
                call(json_format.Parse(text, request()), timeout=TIMEOUT))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
