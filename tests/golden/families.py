"""The checkpoints of every family but Marian, under families/."""

import numpy as np
import transformers

import decoder_cases
import encoder_cases
import family_checkpoints as checkpoints
from cases import (Case, beams, encoder_case, greedy, logits_case, score_case,
                   start_of)
from decoder_fixtures import DECODERS, FAIRSEQ_DECODERS
from decoder_head_fixtures import DECODER_HEADS
from dense_decoder_fixtures import DENSE_DECODER_HEADS, DENSE_DECODERS
from encoder_fixtures import ENCODERS, SEEDED_ENCODERS
from encoder_relatives import ENCODER_RELATIVES
from fixture_cases import robust, write_expected
from head_fixtures import HEADS
from seq2seq_fixtures import SEQ2SEQ

FIXTURES = SEQ2SEQ + SEEDED_ENCODERS + FAIRSEQ_DECODERS + [
    {"seed": first + 10 * i, **fixture}
    for first, fixtures in ((3000, ENCODERS), (3500, ENCODER_RELATIVES),
                            (4000, DECODERS), (5000, DENSE_DECODERS),
                            (8000, DECODER_HEADS), (8500, HEADS),
                            (9000, DENSE_DECODER_HEADS))
    for i, fixture in enumerate(fixtures)]


def counts_all(config):
    """Whether positions count padding, too."""
    kind = getattr(config, "encoder", config).model_type
    return kind not in ("m2m_100", "fsmt", "roberta")


def build(folder, fixture):
    """Writes one checkpoint and its expected.json."""
    if fixture in SEQ2SEQ:
        checkpoints.save(checkpoints.seq2seq_model(fixture), folder, fixture)
        expected(folder, fixture)
        return
    generates = 4000 <= fixture["seed"] < 8000
    cases = decoder_cases if generates else encoder_cases
    cases.build(folder, fixture)
    cases.expected(folder, fixture)


def source_maker(fixture):
    """Sources of one block or of three."""
    least, most = (33, 44) if fixture.get("long") else (3, 10)

    def random_source(rng, model):
        ids = rng.randint(4, 60, rng.randint(least, most))
        return [int(i) for i in ids] + [model.config.eos_token_id]
    return random_source


def makers(model, fixture):
    length = 40 if fixture.get("long") else 18
    more = {}
    if "forced_bos" in fixture:
        more["forced_bos_token_id"] = fixture["forced_bos"]
    start = start_of(model, None)
    return [lambda s: Case(model, s, greedy(length, **more), name="greedy"),
            lambda s: Case(model, s, beams(4, length, **more), name="beams"),
            lambda s: Case(model, s, beams(3, 5, length_penalty=0.6,
                                           early_stopping="never", **more),
                           name="beams, cut"),
            lambda s: Case(model, s, greedy(7, decoder_input_ids=start + [9, 30]),
                           name="greedy, prefix")]


def masks(rng, model):
    """Holes, and padding: on the right, and where it is not masked."""
    pad = model.config.pad_token_id
    counted = counts_all(model.config)
    make = source_maker({})
    holes = make(rng, model) + make(rng, model)
    mask = [1] + [int(x) for x in rng.rand(len(holes) - 2) < 0.6] + [1]
    holes = [i if m or counted else pad for i, m in zip(holes, mask)]
    right = make(rng, model)
    result = [(holes, mask), (right + [pad] * 3, [1] * len(right) + [0] * 3)]
    return result if counted else result + [(right[:2] + [pad] + right[2:], None)]


def with_positions(model, case):
    """M2M-100, FSMT and RoBERTa count the tokens that are not padding, which
    itself has -1."""
    pad, mask = model.config.pad_token_id, case.get("mask", [1] * 100)
    if counts_all(model.config) or pad not in case["source"]:
        return case
    real = [i != pad for i in case["source"]]
    positions = [sum(real[:i]) if r else -1 for i, r in enumerate(real)]
    return {**case, "positions": [p for p, m in zip(positions, mask) if m]}


def expected(folder, fixture):
    model = checkpoints.load(folder, checkpoints.seq2seq_class(fixture))
    rng = np.random.RandomState(fixture["seed"] + 1)
    def no_padding(case):  # m2m_100 counts it differently step by step
        return not any(model.config.pad_token_id in choice["ids"]
                       for choice in case.choices)
    cases = robust(makers(model, fixture), model, rng, 2, no_padding,
                   source_maker(fixture))
    sources = [(case.source, None) for case in cases[:2]]
    masked = masks(rng, model)
    some = [0, 15, 16, 33] if fixture.get("long") else None
    targets = [case.ids(0) for case in cases[:2]]
    value = {"transformers": transformers.__version__}
    value["encoder"] = [
        with_positions(model, encoder_case(model, *given, some if i == 0 else None))
        for i, given in enumerate(sources[:1] + masked)]
    value["logits"] = [with_positions(model, case) for case in (
        logits_case(model, *sources[0][:1], targets[0][:-1],
                    some=[0, 1, len(targets[0]) - 1]),
        logits_case(model, masked[0][0], targets[1][:3], masked[0][1]))]
    value["score"] = [score_case(model, *sources[1][:1], targets[0]),
                      score_case(model, masked[1][0], [9, 30, 7], masked[1][1])]
    value["generate"] = [case.json(log_probs=i % 2 == 0)
                         for i, case in enumerate(cases)]
    write_expected(folder / "expected.json", value)
