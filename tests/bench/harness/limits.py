"""The machine's limits, and how Attend's time divides."""

import json
import subprocess

# Bytes of a packed weight: codes, and the scales of their group.
PACKED_BYTES = {"int4": 20 / 32, "int8": 131 / 128, "bf16": 2, "f32": 4}
# int4 is multiplied by the instructions of int8.
MULTIPLIED = {"int4": "int8"}
KINDS = {
    "products": ("matmul", "logits", "head"),
    "attention": ("attention", "self_attention", "cross_attention", "write_kv",
                  "rotary", "keys_values", "norm_heads", "spread_heads"),
    "epilogues": ("epilogue", "operand", "norm", "feed_forward"),
}


def measure(build, flags=()):
    """Memory's bytes a second, and FLOP a second of products by dtype. `flags` are
    those of Attend, as the number of threads."""
    out = json.loads(subprocess.run(
        [build / "tests/bench/attend-ops-bench", "--benchmark_format=json",
         "--benchmark_filter=^layer_norm/f32/1/", *flags],
        check=True, capture_output=True, text=True).stdout)
    rates = {name: float(value.split()[0]) * 1e9
             for name, value in out["context"].items()
             if str(value).endswith("GFLOP/s")}
    return out["benchmarks"][0]["memory_gb_per_second"] * 1e9, rates


def of_memory(rate, dtype, weights, steps, seconds):
    """The share of the memory's rate at which steps read weights."""
    return weights * PACKED_BYTES[dtype] * steps / seconds / rate


def of_products(rates, dtype, products, seconds):
    """The share of the rate of products; a product and a sum are two FLOP."""
    return 2 * products / seconds / rates[MULTIPLIED.get(dtype, dtype)]


def division(answer):
    """Shares of products, attention, epilogues and the rest in the time of a job
    that asked for "ops"."""
    found = {kind: sum(answer["op_seconds"].get(name, 0) for name in names)
             / answer["seconds"] for kind, names in KINDS.items()}
    return found | {"rest": 1 - sum(found.values())}


HEADER = f"{'of limit':>8} " + " ".join(f"{kind:>9}" for kind in (*KINDS, "rest"))


def line(row):
    """The columns of HEADER: "share" and "division" of a row; empty without."""
    parts = row.get("division", {})
    share = f"{row['share']:.2f}" if "share" in row else ""
    return f"{share:>8} " + " ".join(
        f"{parts[kind]:>9.0%}" if kind in parts else " " * 9
        for kind in (*KINDS, "rest"))
