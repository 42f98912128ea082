#!/usr/bin/env python3
"""Checks that a wrong include does not compile, and where libraries are known.

    tests/include_check.py ROOT BUILD

A folder's headers are found by those alone that link its target (see
attend_library in CMakeLists.txt). WRONG has an include that points up or
sideways for each layer; it must not be found with the options that the layer
is compiled with. ONLY_IN has libraries that few folders may include. Two types
of one name in the server are one to the linker: it takes the functions of
either for both.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

# A source, and a header that its folder must not reach.
WRONG = [
    ("engine/compute/team.cc", "engine/ops/matmul/matmul.h"),
    ("engine/ops/exec/exec_context.cc", "engine/ops/matmul/matmul.h"),
    ("engine/ops/matmul/matmul.cc", "engine/ops/logits/projection.h"),
    ("engine/ops/attention/attention.cc", "engine/ops/matmul/matmul.h"),
    ("engine/cache/block_pool.cc", "engine/layers/linear.h"),
    ("engine/layers/linear.cc", "engine/transformer/spec.h"),
    ("engine/json/json_file.cc", "engine/checkpoint/mapped_file.h"),
    ("engine/checkpoint/checkpoint.cc", "engine/compute/compute.h"),
    ("engine/checkpoint/checkpoint.cc",
     "engine/checkpoint/ctranslate2/ct2_model.h"),
    ("engine/families/bart.cc",
     "engine/families/ctranslate2/load_ctranslate2.h"),
    ("engine/tokenizer/text/utf8.cc", "engine/tokenizer/hf/hf_tokenizer.h"),
    ("engine/tokenizer/spm/spm_json.cc",
     "engine/tokenizer/chat/chat_template.h"),
    ("engine/transformer/decode.cc", "engine/families/shared/family.h"),
    ("engine/transformer/decode.cc", "engine/decoding/search.h"),
    ("engine/families/shared/encoder.cc", "engine/families/load_family.h"),
    ("engine/families/bart.cc", "engine/runtime/model.h"),
    ("engine/families/bart.cc", "engine/families/gguf/load_gguf.h"),
    ("engine/checkpoint/checkpoint.cc",
     "engine/checkpoint/gguf/gguf_file.h"),
    ("engine/checkpoint/gguf/gguf_file.cc",
     "engine/families/shared/family.h"),
    ("engine/tokenizer/gguf/gguf_tokenizer.cc",
     "engine/checkpoint/gguf/gguf_file.h"),
    ("engine/decoding/beam_search.cc", "engine/transformer/spec.h"),
    ("engine/decoding/constraint_rows.cc",
     "engine/grammar/grammar_compiler.h"),
    ("engine/grammar/grammar_compiler.cc", "engine/decoding/search.h"),
    ("engine/grammar/grammar_compiler.cc",
     "engine/tokenizer/hf/hf_tokenizer.h"),
    ("engine/tokenizer/sandbox/sandbox.cc",
     "engine/tokenizer/chat/chat_template.h"),
    ("engine/runtime/model.cc", "server/scheduler/request.h"),
    ("server/scheduler/worker.cc", "engine/decoding/search.h"),
    ("server/scheduler/worker.cc", "server/service/service.h"),
    ("server/observability/log.cc", "server/service/service.h"),
    ("server/hub/fetch_model.cc", "engine/runtime/model.h"),
    ("server/hub/fetch_model.cc", "server/app/options.h"),
    ("server/tracing/trace_context.cc", "server/service/service.h"),
    ("server/otlp/otlp_exporter.cc", "server/service/service.h"),
    ("server/profile/profiler.cc", "server/service/service.h"),
    ("server/profile/profiler.cc", "engine/ops/matmul/matmul.h"),
    ("server/tenants/tenants.cc", "server/service/service.h"),
    ("server/documents/document.cc", "server/service/service.h"),
    ("server/documents/document.cc", "engine/api/engine.h"),
    ("server/service/service.cc", "server/grpc/rpc_server.h"),
    ("server/service/service.cc", "engine/runtime/model.h"),
    ("server/service/service.cc", "server/inference/methods.h"),
    ("server/inference/infer.cc", "server/grpc/rpc_server.h"),
    ("server/grpc/call.cc", "server/inference/methods.h"),
    ("server/reflection/reflect.cc", "server/grpc/health.h"),
    ("server/http/http_server.cc", "server/service/service.h"),
    ("server/http_call/http_call.cc", "server/openai/openai_api.h"),
    ("server/http_call/http_call.cc", "server/grpc/rpc_server.h"),
    ("server/openai/models.cc", "server/app/options.h"),
    ("server/connect/connect_api.cc", "server/openai/openai_api.h"),
    ("server/web/web_routes.cc", "server/service/service.h"),
    ("server/libretranslate/translate.cc", "server/openai/openai_api.h"),
    ("server/tls/certificates.cc", "server/observability/log.h"),
    ("client/cpp/lib/client.cc", "client/cpp/load/load.h"),
    ("command_line/did_you_mean.cc", "client/cpp/lib/utf8.h"),
    ("client/cpp/load/load.cc", "client/cpp/cli/command.h"),
]

# Libraries that only these folders, and what is in them, may know.
ONLY_IN = [
    (re.compile(r"^oneapi/"), ("engine/ops",)),
    (re.compile(r"^(immintrin|cpuid)\.h"), ("engine/ops", "engine/compute")),
    (re.compile(r"^boost/"), ("server/http",)),
    (re.compile(r"^curl/"), ("client/cpp/top", "server/app", "server/hub")),
    (re.compile(r"^openssl/"), ("server/tls", "server/tenants",
                                 "server/http", "server/hub", "client/cpp/lib")),
    (re.compile(r"^grpc"), ("server/grpc", "server/reflection", "server/otlp",
                          "client/cpp")),
    (re.compile(r"\.grpc\.pb\.h$"), ("server/otlp", "client/cpp")),
    (re.compile(r"^xxhash"), ("client/cpp/lib",)),
    (re.compile(r"^prometheus/"), ("server/observability",)),
    (re.compile(r"^unicode/"), ("server/documents",)),
    (re.compile(r"^nlohmann/"), ("engine/json", "engine/checkpoint",
                                 "engine/families/gguf",
                                 "engine/tokenizer", "engine/grammar",
                                 "server/http_call",
                                 "server/inference", "server/connect",
                                 "server/observability", "server/profile",
                                 "client/cpp")),
]

INCLUDE = re.compile(r'^\s*#include [<"]([^>"]+)[>"]')
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)[^;{]*\{", re.M)


def library_problems(root, path):
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        for library, places in ONLY_IN:
            if (match and library.search(match[1])
                    and not path.startswith(tuple(f"{p}/" for p in places))):
                yield f"{path}:{number}: {match[1]} belongs in {places}"


def types_of_one_name(root, sources):
    """Types that two headers of the server define."""
    places = {}
    for path in sources:
        if not path.endswith(".h") or path.startswith("client/"):
            continue
        text = (root / path).read_text(encoding="utf-8")
        for name in set(TYPE.findall(text)):
            places.setdefault(name, []).append(path)
    for name, paths in places.items():
        if len(paths) > 1:
            yield f"{name} is defined in {' and '.join(paths)}"


def finds(command, header):
    """Whether a file that is compiled by the command finds the header.

    Only the folders are asked: what the header itself includes may be made by
    a build that has not run yet.
    """
    words = shlex.split(command["command"])
    options = [word for word in words[1:] if word.startswith(("-I", "-std"))]
    options += [f"-isystem{words[i + 1]}" for i, word in enumerate(words)
                if word == "-isystem"]
    compiler = next(word for word in words if re.search(r"(\+\+|g\+\+-\d+)$",
                                                        word))
    return subprocess.run(
        [compiler, *options, "-E", "-x", "c++", "-"],
        input=f'#if !__has_include("{header}")\n#error\n#endif\n',
        cwd=command["directory"], text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False).returncode == 0


def command_of_each_folder(root, build):
    """A command that compiles a file of it, or several of its files at once."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(build):
            folder = str(file.relative_to(build)).split("/CMakeFiles/")[0]
        else:
            folder = str(file.parent.relative_to(root))
        commands[folder] = entry
    return commands


def include_problems(root, build):
    commands = command_of_each_folder(root, build)
    for source, header in WRONG:
        right = re.search(r'^#include "([^"]+)"', (root / source).read_text(),
                          re.MULTILINE)[1]
        if not (root / header).exists():
            yield f"{header}: there is no such header"
        command = commands[str(pathlib.Path(source).parent)]
        if not finds(command, right):
            yield f"{source}: does not find {right}"
        if finds(command, header):
            yield f"{source}: may include {header}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    build = pathlib.Path(sys.argv[2]).resolve()
    sources = subprocess.run(
        ["git", "ls-files", "engine", "server", "client"], cwd=root,
        capture_output=True, text=True, check=True).stdout.split()
    sources = [name for name in sources if name.endswith((".h", ".cc", ".inc"))]
    found = [text for path in sources for text in library_problems(root, path)]
    found += types_of_one_name(root, sources)
    found += include_problems(root, build)
    for text in found:
        print(text)
    print(f"{len(sources)} files, {len(WRONG)} includes, {len(found)} problems")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
