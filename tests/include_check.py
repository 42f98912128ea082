#!/usr/bin/env python3
"""Checks that includes point down the layers, never up or sideways.

    tests/include_check.py [ROOT]

Each folder may include itself and what LAYERS lists for it. A folder that is
not listed is an error, so a new one has to find its place.
"""

import pathlib
import re
import subprocess
import sys

TENSOR = {"engine/tensor"}
COMPUTE = TENSOR | {"engine/compute"}
OPS = COMPUTE | {"engine/ops"}
CACHE = OPS | {"engine/cache"}
LAYERS_ = CACHE | {"engine/layers"}
CHECKPOINT = TENSOR | {"engine/checkpoint"}
TRANSFORMER = LAYERS_ | CHECKPOINT | {"engine/transformer"}
DECODING = OPS | {"engine/decoding"}
# What the engine looks like from above: the seam and its plain structures.
SEAM = {"engine/engine.h", "engine/decoding/generation_params.h",
        "engine/decoding/label_scores.h", "engine/decoding/output.h",
        "engine/tensor"}
SCHEDULER = SEAM | {"server/scheduler"}
OBSERVABILITY = SCHEDULER | {"server"}
PORTS = SCHEDULER | {"server/call_metrics.h", "server/model_metrics.h",
                     "server/log.h", "engine/tokenizer", "proto"}

LAYERS = {
    "engine/tensor": TENSOR,
    "engine/compute": COMPUTE,
    "engine/ops": OPS,
    "engine/cache": CACHE,
    "engine/layers": LAYERS_,
    "engine/checkpoint": CHECKPOINT,
    "engine/tokenizer": TENSOR | {"engine/tokenizer",
                                  "engine/tokenizer/rust"},
    "engine/tokenizer/rust": {"engine/tokenizer/rust"},
    "engine/transformer": TRANSFORMER,
    "engine/families": TRANSFORMER | {"engine/families",
                                      "engine/decoding/generation_params.h",
                                      "engine/decoding/label_scores.h"},
    "engine/decoding": DECODING,
    "engine": TRANSFORMER | DECODING | {"engine/families", "engine/tokenizer",
                                        "engine"},
    "server/scheduler": SCHEDULER,
    "server/http": {"server/http", "engine/tensor"},
    "server/grpc": PORTS | {"server/grpc"},
    # The program: flags and objects, and what the ports report to.
    "server": {"server", "server/grpc", "server/http", "server/scheduler",
               "engine", "engine/compute", "engine/tokenizer",
               "engine/tensor"},
    "client/cpp": {"client/cpp", "proto"},
}

# Libraries that only one place may know.
ONLY_IN = [
    (re.compile(r"^(oneapi/|engine/ops/)?dnnl"), ("engine/ops",)),
    (re.compile(r"immintrin\.h|cpuid\.h"), ("engine/ops", "engine/compute")),
    (re.compile(r"sentencepiece"), ("engine/tokenizer",)),
    (re.compile(r"^grpc"), ("server/grpc", "client/cpp", "server")),
    (re.compile(r"^prometheus/"), ("server", "server/http")),
    (re.compile(r"nlohmann/"), ("engine/checkpoint", "engine/tokenizer",
                                "client/cpp")),
]

INCLUDE = re.compile(r'^\s*#include ([<"])([^>"]+)[>"]')


def allowed(target, permitted):
    folder = str(pathlib.PurePosixPath(target).parent)
    return target in permitted or folder in permitted


def problems(root, path):
    folder = str(path.parent)
    if folder not in LAYERS:
        yield f"{path}: folder {folder} is not in LAYERS"
        return
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match[2]
        for library, places in ONLY_IN:
            if library.search(target) and folder not in places:
                yield f"{path}:{number}: {target} belongs in {places}"
        top = target.split("/")[0]
        if match[1] == '"' and top in ("engine", "server", "client", "tests"):
            if not allowed(target, LAYERS[folder]):
                yield f"{path}:{number}: {folder} may not include {target}"
        if target.startswith("attend/v1/") and "proto" not in LAYERS[folder]:
            yield f"{path}:{number}: {folder} may not include {target}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    listed = subprocess.run(
        ["git", "ls-files", "engine", "server", "client"], cwd=root,
        capture_output=True, text=True, check=True).stdout.split()
    sources = [pathlib.PurePosixPath(name) for name in listed
               if name.endswith((".h", ".cc", ".inc"))]
    found = [text for path in sources for text in problems(root, path)]
    for text in found:
        print(text)
    print(f"{len(sources)} files, {len(found)} problems")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
