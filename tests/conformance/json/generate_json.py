#!/usr/bin/env python3
"""Generates JSON under 40 schemas, and checks each text with `jsonschema`.

    tests/conformance/json/run.sh ATTEND_SERVER FOLDER               # as a test
    tests/conformance/json/run.sh ATTEND_SERVER FOLDER --model DIR --count 25

starts the server and runs this script. Without --model the model is
tests/golden/evaluation, which knows nothing of JSON: what it draws is as odd as
a schema allows. Every text must parse and be valid, those too that reach the
most new tokens.
"""

import argparse
import collections
import json
import pathlib
import shutil
import tempfile

import grpc
import jsonschema

from attend.v1 import attend_pb2, attend_pb2_grpc
from schemas import SCHEMAS
from served import Server

CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER
ROOT = pathlib.Path(__file__).resolve().parents[3]


def longer_evaluation_model(folder):
    """Its 48 positions are too few for texts."""
    model = pathlib.Path(folder) / "evaluation"
    shutil.copytree(ROOT / "tests/golden/evaluation", model)
    config = json.loads((model / "config.json").read_text())
    config["max_position_embeddings"] = 2000
    (model / "config.json").write_text(json.dumps(config))
    return model


def generate(stub, schema, mode, count, seed):
    request = attend_pb2.GenerateRequest()
    request.inputs.add(text="A JSON value: ")
    params = request.params
    params.max_new_tokens = 400
    params.constraint.json_schema = json.dumps(schema)
    if mode == "sampled":
        params.do_sample = True
        params.top_k = 0
        params.seed = seed
        params.num_return_sequences = count
    else:
        params.num_beams = params.num_return_sequences = count
    result = stub.Generate(request).results[0]
    if result.status.code != 0:
        raise ValueError(result.status.message)
    return result.choices


def problem(choice, schema):
    try:
        jsonschema.validate(json.loads(choice.text), schema,
                            jsonschema.Draft202012Validator,
                            format_checker=CHECKER)
    except (ValueError, jsonschema.ValidationError) as e:
        return str(e).split("\n")[0]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", help="a checkpoint's directory")
    parser.add_argument("--count", type=int, default=3,
                        help="texts a schema that are sampled (default 3)")
    args = parser.parse_args()
    texts, limited, bad, different = 0, 0, 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        model = args.model or longer_evaluation_model(folder)
        server = Server({"model": model}, "--kv-cache-bytes=1GiB")
        stub = attend_pb2_grpc.AttendStub(grpc.insecure_channel(server.address))
        try:
            for seed, (name, schema) in enumerate(SCHEMAS.items()):
                choices = list(generate(stub, schema, "sampled", args.count, seed))
                choices += generate(stub, schema, "beams", 2, 0)
                for choice in choices:
                    texts += 1
                    limited += (choice.finish_reason ==
                                attend_pb2.FINISH_REASON_MAX_LENGTH)
                    different[choice.text] += 1
                    if wrong := problem(choice, schema):
                        bad += 1
                        print(f"{name}: {wrong}: {choice.text!r}")
        finally:
            server.close()
    print(f"{texts} texts of {len(SCHEMAS)} schemas, {len(different)} different, "
          f"{limited} ended by the limit, {bad} not valid")
    raise SystemExit(1 if bad else 0)


main()
