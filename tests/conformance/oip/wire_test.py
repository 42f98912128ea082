"""The messages of proto/inference are those that a client was built with: the
same names, numbers and types.

    wire_test.py MODULE     of the client, with its descriptor
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2, descriptor_pool

PROTO = pathlib.Path(__file__).resolve().parents[3] / "proto"
MODULE = sys.argv.pop(1)
# Of the Open Inference Protocol; Triton has no such field.
NOT_TRITONS = {"ModelMetadataResponse.properties",
               "ModelMetadataResponse.PropertiesEntry"}
KSERVE = MODULE.startswith("kserve")


def our_files():
    """In a pool of their own: the client has registered the same names."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}",
             "--include_imports", f"--descriptor_set_out={out.name}",
             "inference/grpc_service.proto"], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return [pool.FindFileByName(file.name) for file in files.file]


def all_messages(files):
    todo = [message for file in files
            for message in file.message_types_by_name.values()]
    while todo:
        message = todo.pop()
        yield message
        todo += message.nested_types


def shape(field):
    kind = field.message_type or field.enum_type
    return (field.number, field.type, field.is_repeated,
            kind.full_name if kind else None)


class WireTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = our_files()
        cls.theirs = importlib.import_module(MODULE).DESCRIPTOR

    def service(self, files):
        return next(file.services_by_name["GRPCInferenceService"]
                    for file in files if file.services_by_name)

    def test_fields(self):
        count = 0
        for message in all_messages(self.ours):
            try:
                other = self.theirs.pool.FindMessageTypeByName(
                    message.full_name)
            except KeyError:
                name = message.full_name.removeprefix("inference.")
                self.assertTrue(KSERVE or name in NOT_TRITONS, name)
                continue  # of calls that its client does not have
            for field in message.fields:
                name = field.full_name.removeprefix("inference.")
                if name in NOT_TRITONS or self.is_only_ours(name, other):
                    continue
                count += 1
                with self.subTest(name):
                    self.assertEqual(
                        shape(field), shape(other.fields_by_name[field.name]))
        self.assertGreater(count, 35)

    def is_only_ours(self, name, other):
        """KServe's messages lack fields, and those of loading are others."""
        return KSERVE and (name.startswith("RepositoryModel") or
                           name.partition(".")[2] not in other.fields_by_name)

    def test_methods(self):
        mine = self.service(self.ours).methods_by_name
        others = self.service([self.theirs]).methods_by_name
        both = set(mine) & set(others)
        self.assertGreater(len(both), 7)
        for name in both:
            with self.subTest(name):
                for of in ("input_type", "output_type"):
                    self.assertEqual(getattr(mine[name], of).full_name,
                                     getattr(others[name], of).full_name)
                self.assertEqual(
                    (mine[name].client_streaming, mine[name].server_streaming),
                    (others[name].client_streaming,
                     others[name].server_streaming))


if __name__ == "__main__":
    unittest.main(verbosity=2)
