"""Spans of texts that are longer than the model reads at once, as the
token-classification pipeline finds them with a stride."""

import numpy as np

from cases import nine
from fixture_cases import MIN_MARGIN

# Windows of 54 tokens, whose borders fall into words ("dogss" is dog, ##s, ##s)
# and behind characters of several bytes.
TEXTS = ["the dogss drinks teas, childrens runs ÄLÄs! boys " * 9,
         "a red balls plays over greens Thé zzz fieldss, " * 6 + "an old cats",
         "the cat sleeps", ""]
STRIDES = [0, 1, 7, 26, 53]


def byte_at(text, index):
    return len(text[:index].encode())


def check_margins(run, text, stride):
    """No label is chosen by the last bits: neither of a token nor of two spans
    of the same length, of which the better one stays."""
    parts = list(run.preprocess(text, is_split_into_words=False, tokenizer_params=dict(
        return_overflowing_tokens=True, padding=True, stride=stride)))
    spans = []
    for part in map(run.forward, parts):
        best = np.sort(part["logits"][0].numpy(), axis=-1)
        assert (best[:, -1] - best[:, -2]).min() > MIN_MARGIN
        part["sentence"] = text
        spans += run.postprocess([part], "simple", [])
    for i, a in enumerate(spans):
        for b in spans[:i]:
            apart = a["end"] <= b["start"] or b["end"] <= a["start"]
            equal = a["end"] - a["start"] == b["end"] - b["start"]
            assert apart or not equal or a["entity_group"] == b["entity_group"] \
                or abs(a["score"] - b["score"]) > MIN_MARGIN
    return len(parts)


def cases(checkpoint, name):
    """`name` of the model in the cases: one whose tokenizer cuts where a text
    begins has another."""
    run = checkpoint.pipeline("token-classification")
    for text in TEXTS:
        for stride in STRIDES if text in TEXTS[:2] else STRIDES[2:3]:
            windows = check_margins(run, text, stride)
            assert (windows > 1) == (text in TEXTS[:2]), windows
            for strategy in ["simple", "first", "average", "max"]:
                for ignored in [["O"], []] if strategy == "simple" else [["O"]]:
                    found = run(text, aggregation_strategy=strategy,
                                ignore_labels=ignored, stride=stride)
                    yield {"model": name, "text": text, "stride": stride,
                           "aggregation": strategy, "ignored": ignored, "spans": [
                               {"label": span["entity_group"],
                                "score": nine(span["score"]),
                                "begin": byte_at(text, span["start"]),
                                "end": byte_at(text, span["end"])} for span in found]}
