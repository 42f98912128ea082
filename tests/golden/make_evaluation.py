#!/usr/bin/env python3
"""Writes tests/golden/evaluation: a tiny Llama with a tokenizer, and what
lm-evaluation-harness' "hf" model makes of toy requests with them.

    python3 -m venv /tmp/evaluation
    /tmp/evaluation/bin/pip install torch==2.15.0 transformers==5.23.0 \
        numpy==2.4.6 "lm-eval[hf]==0.4.13"
    /tmp/evaluation/bin/python tests/golden/make_evaluation.py

evaluation.json: {"lm_eval", "transformers": versions, "loglikelihood":
[{"context", "continuation", "log_prob", "greedy"}], "rolling": [{"text",
"log_prob"}], "generate": [{"context", "arguments", "text"}]}.

Like make_golden.py: fixed seeds, f32, eager attention, one sequence at a time.
The tokenizer is byte-level, so that spaces belong to the words that they stand
before, and begins texts with <s>. The model takes 48 tokens.
"""

import pathlib
import shutil
from types import SimpleNamespace

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import lm_eval
from checkpoints import ENGLISH
from cases import nine
from fixture_cases import write_expected
from lm_eval.models.huggingface import HFLM

FOLDER = pathlib.Path(__file__).resolve().parent / "evaluation"
LENGTH = 48
CHAT = ("{% for m in messages %}{{ bos_token }}{{ m.role }}: {{ m.content }}\n"
        "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}")
LINES = ENGLISH.split("\n")
LONG = " ".join(LINES)


def tokenizer():
    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    built.train_from_iterator(LINES, trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<s>", "</s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    built.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0)])
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=built, bos_token="<s>", eos_token="</s>")
    fast.chat_template = CHAT
    return fast


@torch.no_grad()
def model(vocab):
    config = transformers.LlamaConfig(
        vocab_size=vocab, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, intermediate_size=24,
        max_position_embeddings=LENGTH, tie_word_embeddings=True,
        bos_token_id=0, eos_token_id=1, pad_token_id=1)
    built = transformers.LlamaForCausalLM(config).eval()
    rng = np.random.RandomState(5)
    for name, tensor in sorted(built.state_dict().items()):
        value = rng.randn(*tensor.shape) * (0.1 if "norm" in name else 0.4)
        tensor.copy_(torch.from_numpy(
            (value + ("norm" in name)).astype(np.float32)))
    # Words are generated rather than parts of characters.
    built.get_input_embeddings().weight[2:258] *= 0.3
    return built


def request(*args):
    return SimpleNamespace(args=args)


def pairs(harness):
    """(context, continuation), of which some are what greedy search gives."""
    found = [("a small dog", " runs"), ("a small dog ", "runs"),
             ("a small dog  ", " runs over"), ("the", "re"), ("", "the cat"),
             ("", "<s>the cat"), ("<s>the old", " man"), ("Ünïcode 狗", " 🐕 é"),
             (LONG, " white"), (LONG, LONG[:60]), ("the cat\n", "sleeps")]
    found += [(line[:20], line[20:]) for line in LINES[:4]]
    for context in ["the cat", "he paints the", LONG[:80]]:
        # What is tokenised back to what was generated.
        for length in (1, 2, 4, 6):
            text = harness.generate_until(
                [request(context, {"max_gen_toks": length})])[0]
            if text.strip() and (context, text) not in found:
                found.append((context, text))
    return found


def generations():
    return [(line, arguments) for line in LINES[:3] + [LONG] for arguments in (
        {"until": ["\n"], "max_gen_toks": 12},
        {"until": [], "max_gen_toks": 20, "do_sample": False,
         "temperature": 0.0},
        {"until": "e", "max_new_tokens": 9},
        {"until": ["</s>", "\n\n"], "max_gen_toks": 8, "num_beams": 2})]


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    words = tokenizer()
    model(len(words)).save_pretrained(FOLDER)
    words.save_pretrained(FOLDER)
    harness = HFLM(
        pretrained=transformers.AutoModelForCausalLM.from_pretrained(
            FOLDER, dtype=torch.float32, attn_implementation="eager"),
        tokenizer=transformers.AutoTokenizer.from_pretrained(FOLDER),
        batch_size=1, device="cpu")
    asked = pairs(harness)
    scores = harness.loglikelihood([request(*pair) for pair in asked])
    texts = LINES[:2] + [LONG, ""]
    rolling = harness.loglikelihood_rolling([request(text) for text in texts])
    generated = generations()
    results = harness.generate_until([request(*each) for each in generated])
    write_expected(FOLDER / "evaluation.json", {
        "lm_eval": lm_eval.__version__, "transformers": transformers.__version__,
        "loglikelihood": [
            {"context": pair[0], "continuation": pair[1], "log_prob": nine(score),
             "greedy": greedy} for pair, (score, greedy) in zip(asked, scores)],
        "rolling": [{"text": text, "log_prob": nine(score)}
                    for text, score in zip(texts, rolling)],
        "generate": [{"context": context, "arguments": arguments, "text": text}
                     for (context, arguments), text in zip(generated, results)]})


if __name__ == "__main__":
    main()
