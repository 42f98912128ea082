"""The lines that tokenizers are compared on, and what transformers makes of
them."""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
FRAGMENTS = json.loads((HERE / "fragments.json").read_text(encoding="utf-8"))
LINES = 20000
BLOCK = 100
MASK64 = 2**64 - 1


class Random:
    """Knuth's MMIX generator: the high half of its state."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 1) & MASK64
        self.below(2)

    def below(self, n):
        self.state = (self.state * 6364136223846793005
                      + 1442695040888963407) & MASK64
        return (self.state >> 33) % n


def character(code):
    return " " if 0xD800 <= code < 0xE000 else chr(code)


def line(number):
    random = Random(number)
    text = ""
    for _ in range(random.below(13)):
        kind = random.below(16)
        fragment = FRAGMENTS[random.below(len(FRAGMENTS))]
        if kind == 0:
            fragment = character(random.below(0x110000))
        elif kind == 1:
            fragment = character(random.below(0x3000))
        elif kind == 2:
            fragment *= 1 + random.below(25)
        separator = random.below(8)
        text += fragment + ("", "", "  ", " ", " ", " ", " ", " ")[separator]
    return text


class Digest:
    def __init__(self):
        self.value = 0xCBF29CE484222325

    def add(self, numbers):
        value = self.value
        for number in numbers:
            value = ((value ^ (number & MASK64)) * 0x100000001B3) & MASK64
        self.value = value

    def take(self):
        text = f"{self.value:016x}"
        self.value = 0xCBF29CE484222325
        return text


def byte_offsets(text):
    if text.isascii():
        return range(len(text) + 1)
    offsets = [0]
    for c in text:
        offsets.append(offsets[-1] + len(c.encode("utf-8")))
    return offsets


def encode(tokenizer, text, pair=None, **options):
    """ids, types, origins as the engine has them; the last two empty where
    Python itself does the work. A batch of one, as an empty pair is none outside
    of a batch."""
    pairs = None if pair is None else [pair]
    if not tokenizer.is_fast:
        return tokenizer([text], pairs, **options)["input_ids"][0], [], []
    encoding = tokenizer([text], pairs, return_offsets_mapping=True,
                         return_token_type_ids=True,
                         return_special_tokens_mask=True, **options)
    special = encoding["special_tokens_mask"][0]
    sequences = encoding.sequence_ids(0)
    maps = [byte_offsets(text), byte_offsets(pair or "")]
    origins = []
    for i, (begin, end) in enumerate(encoding["offset_mapping"][0]):
        sequence = sequences[i]
        if sequence is None or special[i]:
            origins.append([-1, 0, 0])
        else:
            origins.append([sequence, maps[sequence][begin],
                            maps[sequence][end]])
    return encoding["input_ids"][0], encoding["token_type_ids"][0], origins


def flat(encoded):
    ids, types, origins = encoded
    if not types:
        yield from ids
    for i, kind, (text, begin, end) in zip(ids, types, origins):
        yield from (i, kind, text, begin, end)
    yield -1


def digests(tokenizer):
    lines, pairs, texts = [], [], []
    of_lines, of_pairs, of_texts = Digest(), Digest(), Digest()
    for i in range(LINES):
        encoded = encode(tokenizer, line(i))
        of_lines.add(flat(encoded))
        decoded = tokenizer.decode(encoded[0], skip_special_tokens=True)
        of_texts.add(decoded.encode("utf-8"))
        of_texts.add([-1])
        if i % 5 == 0:
            of_pairs.add(flat(encode(tokenizer, line(i), line(i + 1),
                                     truncation="longest_first",
                                     max_length=8 + i % 30)))
        if i % BLOCK == BLOCK - 1:
            lines.append(of_lines.take())
            pairs.append(of_pairs.take())
            texts.append(of_texts.take())
    return {"lines": lines, "pairs": pairs, "texts": texts}


def case(tokenizer, text, pair=None, language=None, side="source", **options):
    if language:
        tokenizer.src_lang = tokenizer.tgt_lang = language
    if side == "target":
        tokenizer._switch_to_target_mode()
    limit = {}
    if "max_tokens" in options:
        limit = dict(truncation="longest_first",
                     max_length=options["max_tokens"])
    ids, types, origins = encode(
        tokenizer, text, pair,
        add_special_tokens=options.get("add_special", True), **limit)
    if side == "target":
        tokenizer._switch_to_input_mode()
    result = {"text": text, "pair": pair, "language": language, "side": side,
              **options, "ids": ids, "types": types, "origins": origins,
              "decoded": tokenizer.decode(ids, skip_special_tokens=True),
              "decoded_special": tokenizer.decode(ids)}
    return {k: v for k, v in result.items() if v is not None}


def training_text():
    return [line(i) for i in range(100000, 102000)] + [
        " ".join(FRAGMENTS[:60])] * 30
