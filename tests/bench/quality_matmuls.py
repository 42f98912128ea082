#!/usr/bin/env python3
"""Where int8 loses: the error of each matrix product of SmolLM2-135M-Instruct on
a real text.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/quality_matmuls.py

computes the model by transformers in f32, once as it is and then with operands
and weights rounded as engine/ops/matmul/operand.h says, and prints for each
kind of product (--layers: for each product)

* input, weights: the error of rounding them, as a share of their numbers;
* output: the error of the product of the two, and what it would be if rows
  were not spread;
* divergence: Kullback and Leibler's, in 1/1000, of the model's next tokens when
  only these products are in int8. A divergence of 1/1000 is 0.1 % more
  perplexity on a text that the model expects.

Shares are roots of mean squares. Attend itself is measured by
quality_perplexity.py; this script shows what its numbers could do.
"""

import argparse
import pathlib
import re
import tempfile

import torch
import transformers

from checkpoints import smollm2
from harness import attend_processes


# ------------------------------------------------ engine/ops/matmul/operand.h

GROUP = 128  # numbers with a scale of their own


def spread_block(columns):
    return next((block for block in (64, 16) if columns % block == 0), 0)


def spreading(block):
    """[block, block]: signs, then a Hadamard matrix."""
    def odd(bits):
        return bin(bits).count("1") % 2
    return torch.tensor([[(-1.0) ** (odd(i & (i >> 1) & 0b010101) + odd(i & j))
                          for j in range(block)]
                         for i in range(block)]) / block ** 0.5


def spread(rows):
    block = spread_block(rows.shape[-1])
    if not block:
        return rows
    blocks = rows.reshape(*rows.shape[:-1], -1, block)
    return (blocks @ spreading(block)).reshape(rows.shape)


def up_to_bf16(scale):
    """The least bf16 that is not below."""
    bits = scale.clamp_min(1e-30).contiguous().view(torch.int32) + 0xffff
    return (bits & -0x10000).view(torch.float32)


def rounded(rows, group=GROUP):
    """What the codes of each row of an operand stand for."""
    parts = []
    for part in rows.split(group, -1):
        scale = up_to_bf16(part.abs().amax(-1, keepdim=True) / 127)
        parts.append(torch.round(part / scale) * scale)
    return torch.cat(parts, -1)


def rounded_weights(rows, group=GROUP):
    """The same of each row of weights: codes of the group's own range, and of
    some scales the one with the least errors."""
    parts = []
    for part in rows.split(group, -1):
        lowest = part.amin(-1, keepdim=True).clamp_max(0)
        highest = part.amax(-1, keepdim=True).clamp_min(0)
        scale = up_to_bf16(highest / 255 - lowest / 255)
        best = least = None
        for _ in range(16 if part.shape[-1] < 64 else 8):
            zero = torch.round(-lowest / scale).clamp_max(255)
            codes = torch.maximum(torch.minimum(
                torch.round(part / scale), 255 - zero), -zero)
            found = codes * scale
            error = (found - part).square().sum(-1, keepdim=True)
            if best is None:
                best, least = found, error
            best = torch.where(error < least, found, best)
            least = torch.minimum(error, least)
            scale = (scale.view(torch.int32) + 0x10000).view(torch.float32)
        parts.append(best)
    return torch.cat(parts, -1)


# -------------------------------------------------------------------- measuring

def share(error, of):
    return (error.square().mean() / of.square().mean()).sqrt().item()


class Product:
    """A linear map of the model, which can compute in int8."""

    def __init__(self, name, module):
        self.name, self.module = name, module
        self.int8 = False
        self.precise = 0  # the first columns, which are rounded twice
        self.errors = None
        module.forward = self.forward

    def columns(self):
        columns = spread(self.module.weight)
        rounded_columns = rounded_weights(columns)
        some = slice(self.precise)
        rounded_columns[some] += rounded_weights(
            columns[some] - rounded_columns[some])
        return rounded_columns

    @property
    def kind(self):
        return re.sub(r".*\.\d+\.", "", self.name)

    def forward(self, rows):
        weights = self.module.weight
        exact = rows @ weights.T
        if self.int8:
            mine = rounded(spread(rows)) @ self.columns().T
            self.errors = self._errors(rows, weights, mine - exact, exact)
            exact = mine
        return exact if self.module.bias is None else exact + self.module.bias

    def _errors(self, rows, weights, error, exact):
        wide, plain = spread(rows), rows[0, :64]
        not_spread = rounded(plain) @ rounded_weights(weights).T
        columns = spread(weights)
        return (share(rounded(wide) - wide, wide),
                share(self.columns() - columns, columns),
                share(error, exact),
                share(not_spread - plain @ weights.T, plain @ weights.T))


def has_massive_channel(feed_forward):
    lengths = (feed_forward.gate_proj.weight.norm(dim=1)
               * feed_forward.up_proj.weight.norm(dim=1))
    return bool(lengths.max() > 8 * lengths.median())


def products_of(model):
    """Precise are the columns that engine/transformer says."""
    products = {name: Product(name, module)
                for name, module in model.named_modules()
                if isinstance(module, torch.nn.Linear)}
    config = model.config
    for name, module in model.named_modules():
        if (name.endswith(".self_attn")
                and config.num_key_value_heads < config.num_attention_heads):
            products[f"{name}.v_proj"].precise = module.v_proj.out_features
        if name.endswith(".mlp") and has_massive_channel(module):
            products[f"{name}.down_proj"].precise = module.down_proj.out_features
    products["lm_head"].precise = config.vocab_size // 16
    return list(products.values())


def log_probs(model, ids):
    return torch.log_softmax(model(ids).logits[0].double(), -1)


def measure(model, products, ids, expected):
    """The divergence, and the mean errors, with `products` in int8."""
    for product in products:
        product.int8 = True
    found = log_probs(model, ids)
    for product in products:
        product.int8 = False
    divergence = (expected.exp() * (expected - found)).sum(-1).mean().item()
    errors = [sum(values) / len(products)
              for values in zip(*(product.errors for product in products))]
    return divergence, errors


def line(name, divergence, errors):
    return (f"{name:<34}" + "".join(f"{error:>12.2%}" for error in errors)
            + f"{divergence * 1e3:>12.2f}")


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=pathlib.Path,
                        help="where the model is, or is kept for the next time")
    parser.add_argument("--text", type=pathlib.Path,
                        default=attend_processes.ROOT
                        / "tests/golden/en-de/sentences.en")
    parser.add_argument("--tokens", type=int, default=256,
                        help="of the text, that are computed")
    parser.add_argument("--layers", action="store_true",
                        help="a row for each product of each layer")
    return parser.parse_args()


def main():
    args = options()
    with tempfile.TemporaryDirectory() as temporary, torch.inference_mode():
        folder = args.checkpoint or pathlib.Path(temporary)
        if not (folder / "model.safetensors").exists():
            folder.mkdir(parents=True, exist_ok=True)
            smollm2.write_checkpoint(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32).eval()
        text = args.text.read_text(encoding="utf-8")
        ids = torch.tensor([tokenizer(text)["input_ids"][:args.tokens]])
        products = products_of(model)
        expected = log_probs(model, ids)
        groups = {}
        for product in products:
            name = product.name if args.layers else product.kind
            groups.setdefault(name, []).append(product)
        print(f"{'product':<34}{'input':>12}{'weights':>12}{'output':>12}"
              f"{'not spread':>12}{'divergence':>12}")
        for name, members in [*groups.items(), ("all", products)]:
            print(line(name, *measure(model, members, ids, expected)),
                  flush=True)


if __name__ == "__main__":
    main()
