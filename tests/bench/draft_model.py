#!/usr/bin/env python3
"""What a draft model gains where it agrees, and costs where it does not.

    python3 tests/bench/draft_model.py [--dtype int8]

Random weights in the shape of SmolLM2-135M, one stream. The draft model has the
first layers of the model, whose other layers add nothing: both choose the same
tokens. Then a model of other weights drafts. Ids that repeat themselves are no
text, so --prompt-lookup=false. CPU time of the engine without the draft model,
divided by that with it: the median of pairs in turn, all with the same ids.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy
import safetensors.numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIDDEN, WIDTH, HEADS, KV_HEADS, HEAD, VOCAB = 576, 1536, 9, 3, 64, 49152


def layer(random, index, scale):
    """Tensors of a layer; what it adds is multiplied by `scale`."""
    def matrix(rows, columns, factor=1.0):
        numbers = random.standard_normal((rows, columns), numpy.float32)
        return (factor / columns ** 0.5 * numbers).astype(numpy.float16)
    name = f"model.layers.{index}."
    ones = numpy.ones(HIDDEN, numpy.float16)
    return {
        name + "self_attn.q_proj.weight": matrix(HEADS * HEAD, HIDDEN),
        name + "self_attn.k_proj.weight": matrix(KV_HEADS * HEAD, HIDDEN),
        name + "self_attn.v_proj.weight": matrix(KV_HEADS * HEAD, HIDDEN),
        name + "self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD, scale),
        name + "mlp.gate_proj.weight": matrix(WIDTH, HIDDEN),
        name + "mlp.up_proj.weight": matrix(WIDTH, HIDDEN),
        name + "mlp.down_proj.weight": matrix(HIDDEN, WIDTH, scale),
        name + "input_layernorm.weight": ones,
        name + "post_attention_layernorm.weight": ones,
    }


def write(folder, layers, active, seed):
    """A model; layers after the first `active` add nothing."""
    random = numpy.random.default_rng(seed)
    table = random.standard_normal((VOCAB, HIDDEN), numpy.float32)
    tensors = {
        "model.embed_tokens.weight": table.astype(numpy.float16),
        "model.norm.weight": numpy.ones(HIDDEN, numpy.float16),
    }
    for index in range(layers):
        tensors |= layer(random, index, float(index < active))
    folder.mkdir(parents=True)
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"],
        "hidden_size": HIDDEN, "intermediate_size": WIDTH,
        "num_hidden_layers": layers, "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS, "head_dim": HEAD,
        "vocab_size": VOCAB, "max_position_embeddings": 2048,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2}
    # Not the table of tokens, by which each token would follow itself.
    head = numpy.random.default_rng(seed + 1)
    tensors["lm_head.weight"] = head.standard_normal(
        (VOCAB, HIDDEN), numpy.float32).astype(numpy.float16)
    (folder / "config.json").write_text(json.dumps(config))
    safetensors.numpy.save_file(tensors, folder / "model.safetensors",
                                metadata={"format": "pt"})


class Engine:
    """attend-engine-bench, which answers a line with a line."""

    def __init__(self, program, model, draft, options):
        command = [program, f"--model={model}", "--prompt-lookup=false",
                   f"--dtype={options.dtype}", f"--threads={options.threads}",
                   "--kv-cache-bytes=64MiB"]
        if draft:
            command.append(f"--draft={draft}")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, source, options):
        job = {"sources": [source], "max_new_tokens": options.tokens,
               "min_new_tokens": options.tokens, "outputs": True}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["outputs"], answer["cpu_seconds"], answer["steps"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def compare(name, model, draft, options):
    engines = [Engine(options.engine, model, d, options) for d in (None, draft)]
    random = numpy.random.default_rng(5)
    ratios, steps = [], []
    for turn in range(options.rounds):
        source = random.integers(3, VOCAB, 32).tolist()
        order = engines if turn % 2 == 0 else engines[::-1]
        answers = {engine: engine.run(source, options) for engine in order}
        (ids, without, _), (same, with_draft, count) = (
            answers[engine] for engine in engines)
        assert ids == same, name
        ratios.append(without / with_draft)
        steps.append(count)
    for engine in engines:
        engine.close()
    print(f"{name}: {statistics.median(ratios[1:]):.2f} times as fast, "
          f"{options.tokens / statistics.median(steps[1:]):.1f} tokens a step",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--engine",
        default=ROOT / "build/release/tests/bench/attend-engine-bench")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layers", type=int, default=3,
                        help="of the draft model; the model has 30")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write(folder / "model", 30, options.layers, seed=1)
        write(folder / "draft", options.layers, options.layers, seed=1)
        write(folder / "other", options.layers, options.layers, seed=2)
        compare("always agrees", folder / "model", folder / "draft", options)
        compare("never agrees", folder / "model", folder / "other", options)


if __name__ == "__main__":
    main()
