"""The cases of one fixture's expected.json."""

import itertools
import json

import numpy as np
import transformers
from transformers import MarianTokenizer

from cases import (Case, beams, encoder_case, greedy, logits_case,
                   random_source, score_case, text_case)
from checkpoints import ENGLISH, GERMAN, load

MIN_MARGIN = 1e-4


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


def robust(make_cases, model, rng, count, wanted=lambda case: True,
           make_source=random_source):
    """For each way to make a case, the first `count` of 100 random sources with
    which it is wanted and has a margin."""
    sources = [make_source(rng, model) for _ in range(100)]
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
        "sequence_bias": dict(sequence_bias=[
            [[often], -3.0], [[start - 1], 2.5], [prefix[1:3], 1.5],
            [[often, often], 4.0]]),
        "sequence_bias, repetition_penalty": dict(
            sequence_bias=[[[often], 5.0], [[0], -1.0]], repetition_penalty=1.5),
        "suppress_tokens": dict(suppress_tokens=[often, start - 1]),
        "begin_suppress_tokens": dict(begin_suppress_tokens=[often, 0]),
        "begin_suppress_tokens, prefix": dict(begin_suppress_tokens=[often, 0],
                                              decoder_input_ids=prefix),
        "begin_suppress_tokens, forced_bos_token_id": dict(
            begin_suppress_tokens=[often, 0], forced_bos_token_id=often),
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
