#!/usr/bin/env python3
"""Writes the golden data of the tests: tiny Marian checkpoints and what
transformers computes with them, and what it computes with models/en-de.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.15.0 transformers==5.23.0 \
        sentencepiece==0.2.3 safetensors==0.8.0 numpy==2.4.6
    /tmp/golden/bin/python tests/golden/make_golden.py            # everything
    /tmp/golden/bin/python tests/golden/make_golden.py plain en-de   # some

Everything follows from fixed seeds and is computed in f32 on the CPU with eager
attention, one sequence at a time. The script prints each file that it writes.
Tests read the committed files and never run this script.

A fixture is tests/golden/NAME/: a complete checkpoint directory, and
expected.json (all but bin-only), where every part may be absent:

  {"transformers": "5.23.0",
   "encoder": [{"source": [ids], "mask": [0|1]?,
                "hidden": [[d_model] for each position with mask 1, in order]}],
   "logits": [{"source": [ids], "mask"?, "target": [decoder inputs, the
               decoder start first], "logits": [[vocab] for each of target]}],
   "score": [{"source", "mask"?, "target": [ids], "log_probs": [each], "sum"}],
   "generate": [{"name", "source", "mask"?,
                 "params": {names and values as given to generate(); what is
                            not here comes from the checkpoint},
                 "choices": [{"ids": [new tokens, end of sequence included],
                              "score": (num_beams > 1),
                              "log_probs": [raw log-softmax of each]?}],
                 "margin": smallest gap that decided}],
   "text": [{"text", "side": "source"|"target", "ids", "pieces", "decoded",
             "decoded_special"}]}

* `decoder_input_ids` holds the decoder start, then the forced prefix; both are
  not in the choices' ids.
* "margin" is, for greedy, the smallest difference of the best two processed
  scores of a step; under beam search the smallest gap of any comparison that
  matters: the last candidate that goes on and the first that does not, the
  ranks that may finish, the finished pool's last place, the stopping rule and
  the order of the results. No case here has one below 1e-4.
* "text": `ids` is what the tokenizer gives (end of sequence included), `pieces`
  its tokens; "decoded" skips special tokens (and <unk> is one), the other
  keeps them.

sampling.json: {"logits": [vocab], "cases": [{"params", "probs": {id: p}}]}:
the distribution that is drawn from, zero where an id is absent.

en-de/expected.json: {"sentences": [{"text", "ids", "pieces", "decoded",
"decoded_special", "greedy": {"ids", "text", "margin"}, "beam4": {"ids", "text",
"score", "margin"}}], "low_margin": {"greedy": [indices], "beam4": [indices]}},
one for each line of en-de/sentences.en, for max_new_tokens 128, length_penalty
1, early_stopping false. Sentences in "low_margin" have a margin under 1e-4: the
next float of any sum may change their ids.

What MarianTokenizer (5.23) does:
* sacremoses is not needed: the tokenizer makes a punctuation normaliser from it
  if it is there, and never calls it. Text reaches SentencePiece as it is.
* Special tokens written in the text (</s>, <unk>, <pad>) are cut out first and
  become their ids; then each segment between them is encoded on its own. A
  segment that starts with ">>" and has a "<<" later gives that prefix as one
  token, whatever it is: an unknown one becomes <unk>.
* A piece that is not in vocab.json becomes <unk>. One </s> is appended.
* decode() uses source.spm where the vocabulary is joint, target.spm where it is
  separate; runs between special tokens are decoded by themselves, a special token
  is followed by a space, and the end result is stripped.
"""

import itertools
import json
import math
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import safetensors.torch
import sentencepiece
import torch
import transformers
from transformers import MarianConfig, MarianMTModel, MarianTokenizer
from transformers.generation import logits_process as processors

HERE = pathlib.Path(__file__).resolve().parent
EN_DE = HERE.parent.parent / "models" / "en-de"
MIN_MARGIN = 1e-4
NOTHING = -1e8  # scores below are transformers' "does not exist"

ENGLISH = """a small dog runs over the green field
two children play with a red ball near the river
the old man reads a book in the garden
she drinks a cup of tea and looks out of the window
a woman in a blue coat waits for the train
my brother has lost his keys again
the cat sleeps on the warm stone
three boats lie in the harbour at night
we walk home because the last bus has gone
he paints the door of the house white"""

GERMAN = """ein kleiner hund rennt über das grüne feld
zwei kinder spielen mit einem roten ball am fluss
der alte mann liest ein buch im garten
sie trinkt eine tasse tee und sieht aus dem fenster
eine frau in einem blauen mantel wartet auf den zug
mein bruder hat wieder seine schlüssel verloren
die katze schläft auf dem warmen stein
drei boote liegen nachts im hafen
wir gehen nach hause weil der letzte bus weg ist
er streicht die tür des hauses weiß"""


# ---------------------------------------------------------------- checkpoints

def train_spm(path, text, size):
    """A unigram model without a normaliser, whose table alone has 240 KB."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "text"
        source.write_text(text + "\n", encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(source), model_prefix=f"{scratch}/m", vocab_size=size,
            model_type="unigram", character_coverage=1.0, num_threads=1,
            normalization_rule_name="identity", minloglevel=2)
        shutil.copy(f"{scratch}/m.model", path)
    return [piece for piece in pieces_of(path)
            if piece not in ("<unk>", "<s>", "</s>")]


def pieces_of(path):
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size())]


def number(pieces, pad=None):
    """</s> 0, <unk> 1, the pieces, and <pad> at `pad` or at the end."""
    tokens = ["</s>", "<unk>", *pieces]
    tokens.insert(len(tokens) if pad is None else pad, "<pad>")
    return {token: i for i, token in enumerate(tokens)}


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n",
                    encoding="utf-8")


def write_tokenizer(folder, fixture):
    """Returns (source vocabulary, target vocabulary or None, pad id)."""
    separate = fixture.get("separate", False)
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en",
              "target_lang": "de", "separate_vocabs": separate,
              "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>",
              "model_max_length": 64}
    size = fixture["pieces"]
    if separate:
        source = number(train_spm(folder / "source.spm", ENGLISH, size[0]))
        pad = source["<pad>"]
        target = number(train_spm(folder / "target.spm", GERMAN, size[1]), pad)
        write_json(folder / "target_vocab.json", target, indent=1)
    else:
        pieces = train_spm(folder / "source.spm", ENGLISH + "\n" + GERMAN, size)
        shutil.copy(folder / "source.spm", folder / "target.spm")
        source = number(pieces + fixture.get("languages", []))
        target, pad = None, source["<pad>"]
    write_json(folder / "vocab.json", source, indent=1)
    write_json(folder / "tokenizer_config.json", config, indent=1)
    return source, target, pad


def randomise(model, seed, fixture):
    """Weights for results with many different tokens and well-separated logits;
    plain random ones repeat one token for ever."""
    rng = np.random.RandomState(seed)
    state = model.state_dict()
    for name in sorted(state):
        if "embed_positions" in name or name == "lm_head.weight":
            continue
        if not fixture.get("separate") and ".embed_tokens." in name:
            continue
        value = rng.randn(*state[name].shape)
        if "norm" in name:
            value = 0.1 * value + name.endswith("weight")
        elif name == "final_logits_bias":
            value *= fixture.get("logits_bias", 0)
        elif name.endswith("bias"):
            value *= 0.2
        elif "shared" in name or "embed_tokens" in name:
            value *= 0.42
            value[0] *= 1.6  # end of sequence comes up more often
        elif "fc" in name:
            value *= 0.3
        else:
            value *= 0.2
        state[name].copy_(torch.from_numpy(value.astype(np.float32)))
    turn(model.model.decoder.layers[-1], rng)
    if fixture.get("dtype"):
        model.to(getattr(torch, fixture["dtype"])).float()


def turn(layer, rng):
    """Lets the feed-forward map a token's vector to another one's, away from
    its own: f(z) - f(-z) is z for swish, gelu and relu, so these rows add a
    linear map, four times a rotation less the vector itself."""
    width, hidden = layer.fc1.weight.shape
    rank = min(hidden, width // 2)
    own, other = (np.linalg.qr(rng.randn(hidden, hidden))[0][:rank].astype(
        np.float32) for _ in range(2))
    layer.fc1.weight[:2 * rank] = torch.from_numpy(np.concatenate([own, -own]))
    out = (4 * other - own).T
    layer.fc2.weight[:, :2 * rank] = torch.from_numpy(
        np.concatenate([out, -out], axis=1))


def build(folder, fixture):
    """Writes tokenizer, configuration and random weights of one fixture."""
    source, target, pad = write_tokenizer(folder, fixture)
    sizes = dict(d_model=24, encoder_layers=2, decoder_layers=1,
                 encoder_attention_heads=2, decoder_attention_heads=3,
                 encoder_ffn_dim=36, decoder_ffn_dim=44,
                 activation_function="swish", scale_embedding=True)
    config = MarianConfig(
        **{**sizes, **fixture.get("config", {})}, vocab_size=len(source),
        decoder_vocab_size=len(target or source), max_position_embeddings=64,
        share_encoder_decoder_embeddings=target is None, pad_token_id=pad,
        decoder_start_token_id=pad, eos_token_id=0, bos_token_id=None,
        forced_eos_token_id=None, static_position_embeddings=True)
    generation = dict(bad_words_ids=[[pad]], decoder_start_token_id=pad,
                      eos_token_id=0, pad_token_id=pad, max_length=64,
                      num_beams=4, **fixture.get("generation", {}))
    model = MarianMTModel._from_config(
        config, attn_implementation="eager").eval()
    with torch.no_grad():
        randomise(model, fixture["weights"], fixture)
    model.generation_config = transformers.GenerationConfig(**generation)
    save(model, folder, fixture)


def save(model, folder, fixture):
    if fixture.get("dtype"):
        model.to(getattr(torch, fixture["dtype"]))
    state = model.state_dict()
    if fixture.get("bin_only"):
        model.config.architectures = ["MarianMTModel"]
        model.config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)
        torch.save(state, folder / "pytorch_model.bin")
        return
    model.save_pretrained(folder, max_shard_size=fixture.get("shard", "1GB"))
    if fixture.get("old_style"):
        save_old_style(model, state, folder)


def save_old_style(model, state, folder):
    """config.json as 4.x wrote it for OPUS-MT, generation settings inside, and
    a file that stores tied tensors and sinusoids several times."""
    config = json.loads((folder / "config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").unlink()
    config["torch_dtype"] = config.pop("dtype")
    generation.pop("_from_model_config", None)
    config.update(
        {**generation, "_name_or_path": "/tmp/opus-mt-tiny", "transformers_version":
         "4.22.0.dev0", "add_bias_logits": False, "add_final_layernorm": False,
         "bos_token_id": 0, "classif_dropout": 0.0, "classifier_dropout": 0.0,
         "forced_eos_token_id": 0, "gradient_checkpointing": False,
         "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
         "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
         "normalize_before": False, "normalize_embedding": False,
         "num_hidden_layers": config["encoder_layers"]})
    write_json(folder / "config.json", dict(sorted(config.items())), indent=2)
    safetensors.torch.save_file(
        {name: tensor.clone().contiguous() for name, tensor in state.items()},
        folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, dtype=torch.float32):
    return MarianMTModel.from_pretrained(
        folder, dtype=dtype, attn_implementation="eager").eval()


# ------------------------------------------------------------------- expected

def nine(value):
    return float(f"{float(value):.9g}")


def rows(tensor):
    return [[nine(x) for x in row] for row in tensor]


def greedy(max_new_tokens, **more):
    return dict(num_beams=1, do_sample=False, max_new_tokens=max_new_tokens,
                **more)


def beams(num_beams, max_new_tokens, best=None, **more):
    return dict(num_beams=num_beams, num_return_sequences=best or num_beams,
                do_sample=False, max_new_tokens=max_new_tokens,
                **{"length_penalty": 1.0, "early_stopping": False, **more})


def random_source(rng, model):
    """3 to 10 ids, no special token but the last."""
    size = model.config.vocab_size
    ids = [i for i in rng.randint(2, size, rng.randint(3, 11))
           if i != model.config.pad_token_id]
    return [int(i) for i in ids] + [0]


class Margins:
    """Watches one generate() and keeps the smallest gap that decided."""

    def __init__(self, model, num_beams):
        self.least, self.k, self.final = math.inf, num_beams, []
        for name in ("_get_top_k_continuations",
                     "_get_running_beams_for_next_iteration",
                     "_update_finished_beams", "_check_early_stop_heuristic"):
            original = getattr(type(model), name)
            bound = getattr(transformers.GenerationMixin, name)
            if name == "_check_early_stop_heuristic":
                bound = staticmethod(original).__func__
            else:
                bound = original.__get__(model)
            setattr(model, name, getattr(self, name[1:])(bound))

    def gap(self, better, worse):
        if better > NOTHING and worse > NOTHING:
            self.least = min(self.least, abs(float(better) - float(worse)))

    def get_top_k_continuations(self, call):
        def watch(**args):
            self.top = torch.topk(args["accumulated_log_probs"][0],
                                  args["beams_to_keep"] + 1)[0].tolist()
            return call(**args)
        return watch

    def get_running_beams_for_next_iteration(self, call):
        def watch(**args):
            ends = args["next_token_hits_stopping_criteria"][0].tolist()
            k, top = self.k, self.top
            if ends[k - 1] or ends[k]:
                self.gap(top[k - 1], top[k])
            live = [s for s, end in zip(top, ends + [False]) if not end]
            if len(live) > k:
                self.gap(live[k - 1], live[k])
            return call(**args)
        return watch

    def update_finished_beams(self, call):
        def watch(**args):
            before = args["beam_scores"][0].tolist()
            result = call(**args)
            self.final = result[1][0].tolist()
            hits = (args["next_token_hits_stopping_criteria"]
                    & args["top_num_beam_mask"])[0].tolist()
            length = args["cur_len"] + 1 - args["decoder_prompt_len"]
            new = [s / length ** args["length_penalty"]
                   for s, hit in zip(self.top, hits) if hit]
            merged = sorted(before + new, reverse=True)
            if new and self.k < len(merged):
                self.gap(merged[self.k - 1], merged[self.k])
            return result
        return watch

    def check_early_stop_heuristic(self, call):
        def watch(**args):
            if args["is_sent_finished"].all():
                length = args["cur_len"] - args["decoder_prompt_len"]
                if args["early_stopping"] == "never" and args["length_penalty"] > 0:
                    length = args["max_length"] - args["decoder_prompt_len"]
                self.gap(args["running_beam_scores"][0, 0]
                         / length ** args["length_penalty"],
                         args["beam_scores"][0].min())
            return call(**args)
        return watch

    def finish(self, returned):
        for better, worse in zip(self.final[:returned], self.final[1:]):
            self.gap(better, worse)


class Case:
    """One call of generate() for one sequence."""

    def __init__(self, model, source, params, mask=None, name="", **extra):
        self.model, self.source, self.mask = model, source, mask
        self.params, self.name = params, name
        arguments = dict(params)
        prompt = arguments.pop("decoder_input_ids", None)
        if prompt is not None:
            arguments["decoder_input_ids"] = torch.tensor([prompt])
        self.prompt = prompt or [model.generation_config.decoder_start_token_id]
        margins = Margins(model, params["num_beams"])
        out = model.generate(
            torch.tensor([source]),
            attention_mask=torch.tensor([mask or [1] * len(source)]),
            return_dict_in_generate=True, output_scores=True,
            output_logits=True, **arguments, **extra)
        new = out.sequences[:, len(self.prompt):].tolist()
        if params["num_beams"] > 1:
            lengths = (out.beam_indices >= 0).sum(dim=1).tolist()
            self.choices = [{"ids": ids[:n], "score": nine(score)} for
                            ids, n, score in
                            zip(new, lengths, out.sequences_scores)]
            margins.finish(len(new))
            self.margin = margins.least
        else:
            self.choices = [{"ids": new[0]}]
            tops = [torch.topk(s[0], 2)[0].tolist() for s in out.scores]
            self.margin = min(a - b for a, b in tops)

    def ids(self, choice):
        return self.choices[choice]["ids"]

    def json(self, log_probs=False):
        if log_probs:
            for choice in self.choices:
                choice["log_probs"] = [nine(x) for x in score(
                    self.model, self.source, choice["ids"], self.mask,
                    self.prompt)]
        return with_mask({"name": self.name, "source": self.source,
                          "params": self.params, "choices": self.choices,
                          "margin": float(f"{self.margin:.3g}")}, self.mask)


def with_mask(value, mask):
    return value if mask is None else {**value, "mask": mask}


@torch.no_grad()
def forward(model, source, target, mask=None):
    out = model(input_ids=torch.tensor([source]),
                attention_mask=torch.tensor([mask or [1] * len(source)]),
                decoder_input_ids=torch.tensor([target]), use_cache=False)
    return out.encoder_last_hidden_state[0], out.logits[0]


def score(model, source, target, mask=None, prompt=None):
    prompt = prompt or [model.generation_config.decoder_start_token_id]
    _, logits = forward(model, source, prompt + target[:-1], mask)
    log_probs = torch.log_softmax(logits, -1)[len(prompt) - 1:]
    return [log_probs[i, token].item() for i, token in enumerate(target)]


def encoder_case(model, source, mask=None):
    hidden, _ = forward(model, source, [model.config.decoder_start_token_id], mask)
    keep = [i for i, m in enumerate(mask or [1] * len(source)) if m]
    return with_mask({"source": source, "hidden": rows(hidden[keep])}, mask)


def logits_case(model, source, target, mask=None):
    target = [model.generation_config.decoder_start_token_id] + target
    _, logits = forward(model, source, target, mask)
    return with_mask({"source": source, "target": target,
                      "logits": rows(logits)}, mask)


def score_case(model, source, target, mask=None):
    log_probs = [nine(x) for x in score(model, source, target, mask)]
    return with_mask({"source": source, "target": target, "log_probs": log_probs,
                      "sum": nine(sum(log_probs))}, mask)


def text_case(tokenizer, text, target=False):
    if target:
        ids = tokenizer(text_target=text)["input_ids"]
    else:
        ids = tokenizer(text)["input_ids"]
    vocabulary = tokenizer.encoder
    if target and tokenizer.separate_vocabs:
        vocabulary = tokenizer.target_encoder
    convert = {i: token for token, i in vocabulary.items()}
    return {"text": text, "side": "target" if target else "source", "ids": ids,
            "pieces": [convert[i] for i in ids],
            "decoded": tokenizer.decode(ids, skip_special_tokens=True),
            "decoded_special": tokenizer.decode(ids)}


def some_cases(model):
    """What every fixture has: requests with its own defaults for the rest."""
    return [lambda s: Case(model, s, greedy(20), name="greedy"),
            lambda s: Case(model, s, greedy(4), name="greedy, cut"),
            lambda s: Case(model, s, beams(4, 20), name="beams"),
            lambda s: Case(model, s, beams(3, 5, length_penalty=0.6,
                                           early_stopping="never"),
                           name="beams, cut"),
            lambda s: Case(model, s, beams(2, 20, early_stopping=True,
                                           length_penalty=2.0),
                           name="beams, early stopping")]


def robust(make_cases, model, rng, count, wanted=lambda case: True):
    """For each way to make a case, the first `count` of 100 random sources with
    which it is wanted and has a margin."""
    sources = [random_source(rng, model) for _ in range(100)]
    result = []
    for make in make_cases:
        good = (case for case in map(make, sources)
                if case.margin >= MIN_MARGIN and wanted(case))
        chosen = list(itertools.islice(good, count))
        if len(chosen) < count:
            raise SystemExit("no source with wide enough margins")
        result += chosen
    return result


def every_beam_case(model, rng):
    """Length penalty x early stopping x one and two ends x cut x prefix."""
    start = model.config.decoder_start_token_id
    second = common_token(model, rng)
    prefix = [start] + [int(i) for i in rng.randint(2, start, 2)]
    makers = []
    for penalty in (0.0, 0.6, 1.0, 2.0):
        for early in (True, False, "never"):
            for eos in (0, [0, second]):
                for length in (5, 22):
                    for prompt in (None, prefix):
                        params = beams(3, length, length_penalty=penalty,
                                       early_stopping=early, eos_token_id=eos)
                        if prompt:
                            params["decoder_input_ids"] = prompt
                        makers.append(lambda s, p=params: Case(
                            model, s, p, name="every combination"))
    cases = robust(makers, model, rng, 2)
    results = {json.dumps(case.choices) for case in cases}
    print(f"  {len(cases)} beam searches, {len(results)} different results")
    return cases


def common_token(model, rng):
    """A token that results often have in their middle."""
    seen = []
    for _ in range(12):
        seen += set(Case(model, random_source(rng, model), greedy(16)).ids(0)[2:12])
    seen = [token for token in seen if token]
    return max(sorted(set(seen)), key=seen.count)


def processor_cases(model, rng, tokenizer):
    start = model.config.decoder_start_token_id
    prefix = [start] + [int(i) for i in rng.randint(2, start, 3)]
    often = common_token(model, rng)
    variants = {
        "min_new_tokens": dict(min_new_tokens=7),
        "min_new_tokens, prefix": dict(min_new_tokens=6, decoder_input_ids=prefix),
        "no_repeat_ngram_size 1": dict(no_repeat_ngram_size=1),
        "no_repeat_ngram_size 2": dict(no_repeat_ngram_size=2),
        "no_repeat_ngram_size 2, prefix": dict(no_repeat_ngram_size=2,
                                               decoder_input_ids=prefix),
        "repetition_penalty 1.7": dict(repetition_penalty=1.7),
        "repetition_penalty 0.8": dict(repetition_penalty=0.8),
        "repetition_penalty, prefix": dict(repetition_penalty=1.4,
                                           decoder_input_ids=prefix),
        "renormalize_logits": dict(renormalize_logits=True,
                                   no_repeat_ngram_size=1),
        "forced_eos_token_id": dict(forced_eos_token_id=0, min_new_tokens=13),
        "all": dict(min_new_tokens=3, no_repeat_ngram_size=3,
                    repetition_penalty=1.3, renormalize_logits=True,
                    forced_eos_token_id=0, decoder_input_ids=prefix),
    }
    def banned(source, make):
        first = Case(model, source, make(14)).ids(0)
        words = [[start], [first[0]], first[1:3], [often]]
        return [word for word in words if word and word != [0]]
    makers = []
    for make in (greedy, lambda n, **more: beams(3, n, **more)):
        for name, params in variants.items():
            makers.append(lambda s, m=make, n=name, p=params:
                          Case(model, s, m(14, **p), name=n))
        makers.append(lambda s, m=make: Case(
            model, s, m(14, bad_words_ids=banned(s, m)), name="bad_words_ids"))
    cases = robust(makers, model, rng, 2)
    return cases + stop_cases(model, rng, tokenizer)


def stop_cases(model, rng, tokenizer):
    """A stop string that comes up inside the greedy result."""
    def make(params):
        def run(source):
            plain = Case(model, source, params)
            text = tokenizer.decode(plain.ids(0), skip_special_tokens=True)
            strings = [text[5:8], "zzzz"] if len(text) > 12 else ["zzzz"]
            return Case(model, source, {**params, "stop_strings": strings},
                        name="stop_strings", tokenizer=tokenizer)
        return run
    def stopped(case):
        return (len(case.params["stop_strings"]) == 2
                and 1 < len(case.ids(0)) < 14 and case.ids(0)[-1] != 0)
    return robust([make(greedy(14)), make(beams(3, 14))], model, rng, 3, stopped)


def masked_cases(model, rng):
    """Masks with holes, at the ends and inside."""
    result = {"encoder": [], "logits": [], "score": [], "generate": []}
    while len(result["generate"]) < 9:
        source = random_source(rng, model) + [model.config.pad_token_id] * 2
        mask = [int(x) for x in rng.rand(len(source)) < 0.6]
        if sum(mask) < 2 or all(mask):
            continue
        cases = [Case(model, source, params, mask, "mask with holes")
                 for params in (greedy(12), beams(3, 12, 1),
                                beams(2, 5, length_penalty=0.0))]
        if min(case.margin for case in cases) < MIN_MARGIN:
            continue
        result["generate"] += [case.json() for case in cases]
        result["encoder"].append(encoder_case(model, source, mask))
        target = cases[0].ids(0)[:4]
        result["logits"].append(logits_case(model, source, target, mask))
        result["score"].append(score_case(model, source, target, mask))
    return result


def expected(folder, fixture, rng):
    model = load(folder)
    tokenizer = MarianTokenizer.from_pretrained(folder)
    cases = robust(some_cases(model), model, rng, 3)
    sources = [case.source for case in cases[:3]]
    value = {"transformers": transformers.__version__,
             "encoder": [encoder_case(model, s) for s in sources],
             "logits": [logits_case(model, s, cases[i].ids(0)[:4])
                        for i, s in enumerate(sources)],
             "score": [score_case(model, s, [5, 2 + i, 7, 0])
                       for i, s in enumerate(sources)],
             "generate": [case.json(log_probs=i % 3 == 0)
                          for i, case in enumerate(cases)],
             "text": [text_case(tokenizer, text) for text in
                      fixture.get("texts", []) + ENGLISH.split("\n")[:2]]}
    value["text"] += [text_case(tokenizer, text, target=True)
                      for text in GERMAN.split("\n")[:2]]
    if fixture.get("full"):
        more = masked_cases(model, rng)
        for case in every_beam_case(model, rng):
            more["generate"].append(case.json())
        for case in processor_cases(model, rng, tokenizer):
            more["generate"].append(case.json())
        for key, cases in more.items():
            value[key] += cases
    write_expected(folder / "expected.json", value)


def write_expected(path, value):
    """JSON with one case a line."""
    def dump(x):
        return json.dumps(x, ensure_ascii=False, separators=(",", ":"))
    parts = []
    for key, part in value.items():
        text = dump(part)
        if isinstance(part, list):
            text = "[\n" + ",\n".join(dump(case) for case in part) + "]"
        parts.append(dump(key) + ":" + text)
    path.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


ODD_TEXTS = ["", " ", "a  dog   runs", "a dog</s>runs <pad> home", "<unk> x",
             "the Kätze é 狗 🐕", "a\tdog\nruns", "  the cat ", "tea▁time"]

# "weights" are seeds with which some greedy results end at several lengths, and
# others do not end and have many different tokens.
FIXTURES = [
    dict(name="plain", seed=100, weights=151, pieces=90, full=True, texts=ODD_TEXTS,
         config=dict(d_model=24, encoder_layers=2, decoder_layers=3,
                     encoder_attention_heads=2, decoder_attention_heads=3,
                     encoder_ffn_dim=36, decoder_ffn_dim=44)),
    dict(name="relu", seed=200, weights=247, pieces=73, config=dict(
        d_model=28, encoder_layers=3, decoder_layers=1, encoder_ffn_dim=20,
        encoder_attention_heads=4, decoder_attention_heads=2,
        activation_function="relu", scale_embedding=False)),
    dict(name="gelu", seed=300, weights=336, pieces=80, config=dict(
        d_model=32, encoder_layers=1, decoder_layers=2, decoder_ffn_dim=52,
        activation_function="gelu", decoder_attention_heads=4)),
    dict(name="renormalize-logits", seed=400, weights=402, pieces=80,
         generation=dict(renormalize_logits=True, no_repeat_ngram_size=2)),
    dict(name="forced-eos", seed=500, weights=503, pieces=80,
         generation=dict(forced_eos_token_id=0)),
    dict(name="logits-bias", seed=600, weights=600, pieces=80, logits_bias=1.5),
    dict(name="language-tokens", seed=700, weights=712, pieces=80,
         languages=[">>deu<<", ">>fra<<", ">>zlm_Latn<<"],
         texts=[">>deu<< a small dog", ">>fra<<the cat", ">>zlm_Latn<<  he",
                ">>xyz<< the cat", " >>deu<< the cat", "the >>deu<< cat",
                ">> the cat", "a</s>>>deu<< dog", ">>deu<<", ">>a dog<< runs",
                ">>deu<<>>fra<< tea"]),
    dict(name="separate-vocabularies", seed=800, weights=801, pieces=(70, 84), separate=True,
         texts=ODD_TEXTS),
    dict(name="f16", seed=900, weights=904, pieces=80, dtype="float16"),
    dict(name="bf16", seed=1000, weights=1002, pieces=80, dtype="bfloat16"),
    dict(name="sharded", seed=1100, weights=1103, pieces=80, shard="30KB"),
    dict(name="config-4x", seed=1200, weights=1200, pieces=80, old_style=True),
    dict(name="bin-only", seed=1300, weights=1300, pieces=80, bin_only=True),
]


def write_sampling(path):
    """Temperature, top-k, top-p, min-p in transformers' order."""
    rng = np.random.RandomState(7)
    logits = [nine(x) for x in (3 * rng.randn(60)).astype(np.float32)]
    cases = []
    for params in (dict(), dict(temperature=0.5), dict(temperature=2.5),
                   dict(top_k=1), dict(top_k=5), dict(top_k=100),
                   dict(top_p=0.5), dict(top_p=0.9), dict(top_p=0.01),
                   dict(min_p=0.1), dict(min_p=1.0),
                   dict(temperature=1.6, top_k=12, top_p=0.8, min_p=0.05),
                   dict(temperature=0.7, top_k=20, top_p=0.95),
                   dict(temperature=3.0, top_k=30, min_p=0.2)):
        scores = torch.tensor([logits], dtype=torch.float32)
        for name, make in (("temperature", processors.TemperatureLogitsWarper),
                           ("top_k", processors.TopKLogitsWarper),
                           ("top_p", processors.TopPLogitsWarper),
                           ("min_p", processors.MinPLogitsWarper)):
            if name in params:
                scores = make(params[name])(None, scores)
        probs = torch.softmax(scores, -1)[0]
        cases.append({"params": params, "probs": {
            str(i): nine(p) for i, p in enumerate(probs) if p > 0}})
    write_expected(path, {"logits": [logits], "cases": cases})


def write_en_de(folder):
    model, tokenizer = load(EN_DE), MarianTokenizer.from_pretrained(EN_DE)
    lines = (folder / "sentences.en").read_bytes().decode().split("\n")[:-1]
    sentences, low = [], {"greedy": [], "beam4": []}
    for index, line in enumerate(lines):
        entry = text_case(tokenizer, line)
        entry.pop("side")
        for name, params in (("greedy", greedy(128)), ("beam4", beams(4, 128, 1))):
            case = Case(model, entry["ids"], params)
            choice = case.choices[0]
            entry[name] = {**choice, "text": tokenizer.decode(
                choice["ids"], skip_special_tokens=True),
                "margin": float(f"{case.margin:.3g}")}
            if case.margin < MIN_MARGIN:
                low[name].append(index)
        sentences.append(entry)
    write_expected(folder / "expected.json",
                   {"transformers": transformers.__version__,
                    "low_margin": low, "sentences": sentences})


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    names = sys.argv[1:]
    for fixture in FIXTURES:
        if names and fixture["name"] not in names:
            continue
        folder = HERE / fixture["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        build(folder, fixture)
        if not fixture.get("bin_only"):
            expected(folder, fixture, np.random.RandomState(fixture["seed"]))
        report(folder)
    if not names or "sampling" in names:
        write_sampling(HERE / "sampling.json")
        report(HERE / "sampling.json")
    if not names or "en-de" in names:
        write_en_de(HERE / "en-de")
        report(HERE / "en-de")


def report(path):
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        print(f"{file.relative_to(HERE)}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
