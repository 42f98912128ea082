#!/usr/bin/env python3
"""Writes tests/golden/ctranslate2: tiny models with random weights, converted by
CTranslate2's own converter, and what CTranslate2 computes with them.

    python3 -m venv /tmp/ct2
    /tmp/ct2/bin/pip install torch==2.15.0 transformers==5.23.0 \
        sentencepiece==0.2.3 numpy==2.4.6 ctranslate2==4.8.5
    /tmp/ct2/bin/python tests/golden/make_ctranslate2.py          # everything
    /tmp/ct2/bin/python tests/golden/make_ctranslate2.py t5-int8  # some

A fixture is tests/golden/ctranslate2/NAME: a directory as the converter writes
it, and expected.json as make_golden.py describes it, with "generate" alone.
CTranslate2 computes in f32, whatever the file has: one sequence at a time. Its
parameters are those of transformers with the same meaning:

  beam_size = num_beams, length_penalty, max_decoding_length = max_new_tokens,
  min_decoding_length = min_new_tokens; a search ends as with early_stopping.
  The lengths of CTranslate2 count the prefix of a target, those by which it
  divides scores, too: where there is a prefix, length_penalty is 0.

The case "defaults" has the defaults of both but for the longest result. Log-probabilities are
compared where min_new_tokens is 0: CTranslate2 leaves tokens that may not come
out of the sum of probabilities.

Models but Marian's have no tokenizer: their tokens are called t0, t1, ...
"""

import json
import pathlib
import shutil
import sys
import tempfile

import ctranslate2
import numpy as np
import torch
import transformers
from ctranslate2.converters import TransformersConverter

from family_checkpoints import diversify, randomise

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "ctranslate2"
VOCAB = 67


class Spellings:
    """What the converter asks of a tokenizer, for ids that are called t<id>."""

    def __init__(self, bos, eos, pad, unk):
        self.names = [f"t{i}" for i in range(VOCAB)]
        self.bos_token, self.eos_token = self.names[bos], self.names[eos]
        self.pad_token, self.unk_token = self.names[pad], self.names[unk]
        self.unk_token_id = unk
        self.special_tokens_map = {}
        self.num_madeup_words = 0

    def get_vocab(self):
        return {name: i for i, name in enumerate(self.names)}

    def convert_ids_to_tokens(self, token):
        return self.names[token]


class Converter(TransformersConverter):
    tokenizer = None  # None: the one in the directory
    attributes = {}  # of self-attention, beside those that it writes itself

    def _load(self):
        spec = super()._load()
        for layer in spec.decoder.layer:
            vars(layer.self_attention).update(self.attributes)
        return spec

    def load_tokenizer(self, tokenizer_class, path, **kwargs):
        return self.tokenizer or super().load_tokenizer(tokenizer_class, path,
                                                        **kwargs)


def seq2seq(**more):
    return dict(d_model=24, encoder_layers=1, decoder_layers=2,
                encoder_attention_heads=3, decoder_attention_heads=3,
                encoder_ffn_dim=36, decoder_ffn_dim=40,
                max_position_embeddings=64, vocab_size=VOCAB, pad_token_id=1,
                bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, **more)


def t5(**more):
    return dict(d_model=24, d_kv=7, num_heads=3, num_layers=1,
                num_decoder_layers=2, d_ff=36, vocab_size=VOCAB, pad_token_id=0,
                eos_token_id=1, decoder_start_token_id=0,
                relative_attention_num_buckets=8,
                relative_attention_max_distance=12, **more)


def llama(**more):
    return dict(hidden_size=24, intermediate_size=36, num_hidden_layers=2,
                num_attention_heads=6, max_position_embeddings=96,
                vocab_size=VOCAB, bos_token_id=1, eos_token_id=2, **more)


# "like": the golden directory of Marian whose tokenizer and sizes it has.
FIXTURES = {
    "marian-float32": dict(model="MarianMT", seed=6901, type="float32",
                           like="marian/plain"),
    "marian-int8": dict(model="MarianMT", seed=1402, type="int8",
                        like="marian/plain"),
    "marian-float16": dict(model="MarianMT", seed=3, type="float16",
                           like="marian/plain"),
    "nllb-int8_float16": dict(
        model="M2M100", seed=3604, type="int8_float16", special=(0, 2, 1, 3),
        config=seq2seq(scale_embedding=True, activation_function="relu"),
        prefix=[61]),
    "bart-bfloat16": dict(
        model="Bart", seed=205, type="bfloat16", special=(0, 2, 1, 3),
        config=seq2seq(activation_function="gelu", normalize_before=False)),
    "t5-int8": dict(model="T5", seed=1106, type="int8", special=(0, 1, 0, 2),
                    config=t5()),
    "t5-v1_1-float32": dict(
        model="T5", seed=7, type="float32", special=(0, 1, 0, 2),
        config=t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "llama-float32": dict(
        model="Llama", seed=8, type="float32", special=(1, 2, 0, 0),
        config=llama(num_key_value_heads=2, rope_theta=500.0)),
    "llama-int8": dict(
        model="Llama", seed=9, type="int8", special=(1, 2, 0, 0),
        config=llama(tie_word_embeddings=True, attention_bias=True,
                     rope_scaling={"rope_type": "linear", "factor": 2.5})),
    # What is converted is not scaled: neither factor nor length is written.
    "llama3-float32": dict(
        model="Llama", seed=12, type="float32", special=(1, 2, 0, 0),
        config=llama(rope_theta=50.0, rope_scaling={
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 24}),
        attributes={
            "rotary_scaling_factor": np.float32(8),
            "original_max_position_embeddings": np.int32(24)}),
    "qwen3-int8": dict(
        model="Qwen3", seed=10, type="int8", special=(1, 2, 0, 0),
        config=llama(num_key_value_heads=2, head_dim=6, rope_theta=500.0)),
    "gpt2-float32": dict(
        model="GPT2", seed=11, type="float32", special=(1, 2, 0, 0),
        config=dict(n_embd=24, n_layer=2, n_head=3, n_positions=96,
                    vocab_size=VOCAB, bos_token_id=1, eos_token_id=2)),
}


def make_model(fixture, folder):
    """Saves the model as transformers does, and returns its class's name."""
    name = fixture["model"]
    config_class = getattr(transformers, f"{name.removesuffix('MT')}Config")
    if "like" in fixture:
        golden = HERE / fixture["like"]
        for path in [*golden.glob("*.spm"), *golden.glob("*vocab.json"),
                     golden / "tokenizer_config.json"]:
            shutil.copy(path, folder)
        config = config_class.from_pretrained(golden)
        # The converter knows one number of heads.
        config.decoder_attention_heads = config.encoder_attention_heads
        config.encoder_layers, config.decoder_layers = 1, 2
    else:
        config = config_class(**fixture["config"])
    kind = "Model" if name == "MarianMT" else (
        "LMHeadModel" if name == "GPT2" else
        "ForCausalLM" if name in ("Llama", "Qwen3") else
        "ForConditionalGeneration")
    model = getattr(transformers, name + kind)(config).eval()
    rng = randomise(model, fixture["seed"])
    if kind not in ("ForCausalLM", "LMHeadModel"):
        diversify(model, rng)
    if name == "MarianMT":  # what a decoder starts with
        with torch.no_grad():
            for table in (model.model.encoder.embed_tokens,
                          model.model.decoder.embed_tokens):
                table.weight[config.pad_token_id] = 0
    model.save_pretrained(folder)


def vocabularies(folder):
    def read(name):
        path = folder / f"{name}vocabulary.json"
        return json.loads(path.read_text()) if path.exists() else None
    both = read("shared_") or read("")
    return read("source_") or both, read("target_") or both


def sources(fixture, size, eos):
    rng = np.random.RandomState(fixture["seed"] + 100)
    for length in (4, 7, 10):
        ids = [int(i) for i in rng.randint(4, size, length)]
        yield ids if fixture["model"] in ("Llama", "Qwen3", "GPT2") else [*ids, eos]


PARAMS = [
    ("greedy", dict(num_beams=1, max_new_tokens=20, min_new_tokens=0)),
    ("beams", dict(num_beams=4, num_return_sequences=4, max_new_tokens=20,
                   min_new_tokens=0, length_penalty=1.0, early_stopping=True)),
    ("defaults", dict(max_new_tokens=20)),
]


def arguments(params, generator):
    longest, least = (("max_length", "min_length") if generator else
                      ("max_decoding_length", "min_decoding_length"))
    names = {"num_beams": "beam_size", "num_return_sequences": "num_hypotheses",
             "length_penalty": "length_penalty", "max_new_tokens": longest,
             "min_new_tokens": least}
    return {names[name]: value for name, value in params.items()
            if name in names}


def compute(fixture, folder, config):
    """The cases of "generate"."""
    generator = fixture["model"] in ("Llama", "Qwen3", "GPT2")
    kind = ctranslate2.Generator if generator else ctranslate2.Translator
    model = kind(str(folder), compute_type="float32", intra_threads=1)
    source_tokens, target_tokens = vocabularies(folder)
    number = {token: i for i, token in reversed(list(enumerate(target_tokens)))}
    eos = source_tokens.index(config["eos_token"])
    prefix = fixture.get("prefix", [])
    cases = []
    for name, params in PARAMS:
        if prefix and name == "beams":
            params = dict(params, length_penalty=0.0)
        if prefix and name == "defaults":
            continue
        for source in sources(fixture, len(source_tokens) - 3, eos):
            tokens = [source_tokens[i] for i in source]
            more = dict(arguments(params, generator), return_scores=True,
                        return_end_token=True)
            longest = next((key for key in more if key.startswith("max_")), None)
            if prefix:
                more[longest] += len(prefix)
            if generator:
                result = model.generate_batch(
                    [tokens], include_prompt_in_result=False, **more)[0]
                found = result.sequences
            else:
                result = model.translate_batch(
                    [tokens], target_prefix=[[target_tokens[i] for i in prefix]],
                    **more)[0]
                found = [tokens[len(prefix):] for tokens in result.hypotheses]
            choices = [{"ids": [number[token] for token in tokens]}
                       for tokens in found]
            if params.get("num_beams", 1) > 1 and not prefix:
                for choice, score in zip(choices, result.scores):
                    choice["score"] = score
            case = dict(name=name, source=source, params=dict(params),
                        choices=choices)
            if prefix:
                start = number[config["decoder_start_token"]]
                case["params"]["decoder_input_ids"] = [start, *prefix]
            cases.append(case)
    return cases


def make(name, fixture):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        hugging_face = pathlib.Path(temporary)
        make_model(fixture, hugging_face)
        converter = Converter(str(hugging_face))
        converter.attributes = fixture.get("attributes", {})
        if "special" in fixture:
            converter.tokenizer = Spellings(*fixture["special"])
        converter.convert(str(folder), quantization=fixture["type"])
        # What their users copy, too.
        for path in hugging_face.glob("*.spm"):
            shutil.copy(path, folder)
    config = json.loads((folder / "config.json").read_text())
    expected = {"ctranslate2": ctranslate2.__version__,
                "generate": compute(fixture, folder, config)}
    lines = ",\n  ".join(json.dumps(case) for case in expected["generate"])
    (folder / "expected.json").write_text(
        f'{{"ctranslate2": "{expected["ctranslate2"]}",\n "generate": [\n  '
        f"{lines}]}}\n")
    print(folder, [len(set(case["choices"][0]["ids"]))
                   for case in expected["generate"]])


def main():
    for name in sys.argv[1:] or FIXTURES:
        make(name, FIXTURES[name])


if __name__ == "__main__":
    main()
