"""Programs that continue prompts as peers: a process for each setting, in the
environment of the program."""

import dataclasses
import json
import subprocess

from peers import environments, processes


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    environment: str   # and the module that calls it, beside this one
    precisions: dict   # the same number of bits as Attend's, by its own name
    # Of memory, for a weight: while it runs in a dtype of Attend's, and while its
    # model is made.
    bytes_to_run: dict
    bytes_to_make: float
    # Of one the best is not known before. Each is measured.
    settings: tuple = ("",)


RUNTIMES = [
    Runtime("llama.cpp", "llama_cpp",
            {"int4": "Q4_0", "int8": "Q8_0", "bf16": "BF16", "f32": "F32"},
            {"int4": 0.6, "int8": 1.1, "bf16": 2, "f32": 4}, 0.5,
            ("", "flash attention")),
    Runtime("ik_llama.cpp", "ik_llama_cpp",
            {"int4": "Q4_0", "int8": "Q8_0", "bf16": "BF16"},
            {"int4": 0.6, "int8": 1.1, "bf16": 2}, 0.5,
            ("", "flash attention")),
    Runtime("CTranslate2", "ctranslate2",
            {"int8": "int8", "f32": "float32"}, {"int8": 5, "f32": 8}, 8),
    Runtime("OpenVINO GenAI", "openvino_genai",
            {"int8": "int8", "bf16": "bf16", "f32": "f32"},
            {"int8": 1.2, "bf16": 4, "f32": 4}, 4),
    Runtime("ONNX Runtime GenAI", "onnxruntime_genai",
            {"int8": "int8", "f32": "fp32"}, {"int8": 1.2, "f32": 4}, 8),
    Runtime("vLLM", "vllm",
            {"int8": "int8", "bf16": "bfloat16", "f32": "float32"},
            {"int8": 3, "bf16": 4, "f32": 8}, 1),
]


class Peer:
    """Runs jobs (see serve.py)."""

    def __init__(self, runtime, setting, dtype, sources, models, folder):
        """`sources` are the files that it makes its model of, kept in `models`;
        `folder` has the environments."""
        precision = runtime.precisions[dtype]
        self.name = " ".join(filter(None, [runtime.name, precision, setting]))
        # What it says of itself, a page or more, tells why it ended.
        self.log = open(models / f"{self.name}.log", "w", encoding="utf-8")
        self.process = processes.start(
            "decoders.serve",
            [runtime.environment, precision, setting,
             models / f"{runtime.environment}-{precision}", *sources],
            environment=environments.variables(runtime.environment, folder),
            python=environments.python(runtime.environment, folder), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def run(self, job):
        answer = None
        if self.process.poll() is None:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name}: exit code {self.process.wait()}, "
                               f"see {self.log.name}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def peers(dtype, names, sources, models, folder):
    """Those of `names` that have numbers of so many bits."""
    return [Peer(runtime, setting, dtype, sources, models, folder)
            for runtime in RUNTIMES
            if runtime.name in names and dtype in runtime.precisions
            for setting in runtime.settings]
