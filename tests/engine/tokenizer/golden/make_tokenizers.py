#!/usr/bin/env python3
"""Writes tiny tokenizers, and what transformers makes with them of 20,000 lines.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install transformers==5.23.0 tokenizers==0.23.3 \
        sentencepiece==0.2.3 protobuf==7.36.2
    /tmp/golden/bin/python tests/engine/tokenizer/golden/make_tokenizers.py
    ... make_tokenizers.py --show bert 1234    # one line of one tokenizer

Each NAME/ is a directory as a checkpoint has it; its expected.json:

  {"lines": [digest of ids, types, origins for each BLOCK lines],
   "pairs": [the same of line i with line i + 1, cut to 8 + i % 30 tokens,
             for every 5th line],
   "texts": [digest of the decoded ids of the lines],
   "cases": [{"text", "pair"?, "language"?, "side"?, "max_tokens"?,
              "add_special"?, "ids", "types", "origins": [[text, begin, end]],
              "decoded"}],
   "ids_only"?: true where Python has no types and no origins to compare,
   "forced_bos"?: {code of a target language: id that generation begins with}}

Lines come from fragments.json by a generator that the test has, too. Origins are
in bytes; text -1 is a special token put in. A digest is 64-bit FNV-1a over
integers, each line's followed by -1, in hexadecimal.
"""

import collections
import io
import json
import pathlib
import sys
import tempfile

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)
from transformers import AutoTokenizer, logging
from transformers.models.m2m_100.tokenization_m2m_100 import (
    FAIRSEQ_LANGUAGE_CODES as M2M_100_LANGUAGES)

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


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n",
                    encoding="utf-8")


def training_text():
    return [line(i) for i in range(100000, 102000)] + [
        " ".join(FRAGMENTS[:60])] * 30


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(training_text(), trainer)
    return tokenizer


def train_unigram(tokenizer, size, *tokens):
    """A unigram model has to have every character: only the most frequent, and
    none that spell special tokens, which it would then have twice."""
    text = training_text()
    counts = collections.Counter("".join(text))
    kept = {c for c, _ in counts.most_common(200)} - set("<>")
    text = ["".join(c if c in kept else " " for c in t) for t in text]
    tokenizer.train_from_iterator(text, trainers.UnigramTrainer(
        vocab_size=size, show_progress=False, unk_token="<unk>",
        special_tokens=list(tokens)))


def special(*tokens, **options):
    return [AddedToken(t, special=True, normalized=False, **options)
            for t in tokens]


def bert():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    train(tokenizer, trainers.WordPieceTrainer(
        vocab_size=500, show_progress=False, limit_alphabet=300,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.enable_truncation(max_length=16)  # loading leaves it out
    return tokenizer, {"tokenizer_class": "BertTokenizer",
                       "do_lower_case": True, "model_max_length": 512,
                       "clean_up_tokenization_spaces": True}


def roberta():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    train(tokenizer, trainers.BpeTrainer(
        vocab_size=600, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    tokenizer.add_special_tokens(special("<mask>", lstrip=True))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, {"tokenizer_class": "RobertaTokenizer",
                       "model_max_length": 512, "mask_token": "<mask>",
                       "add_prefix_space": False,
                       "clean_up_tokenization_spaces": True}


def xlm_roberta():
    """Unigram; pairs are parted by two ends of sequence."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    train_unigram(tokenizer, 600, "<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, {"tokenizer_class": "XLMRobertaTokenizer",
                       "model_max_length": 512}


def t5():
    """Unigram with a normaliser, of no class that builds its own."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "),
         normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    train_unigram(tokenizer, 500, "<pad>", "</s>", "<unk>")
    tokenizer.add_special_tokens(special("<extra_id_1>", "<extra_id_0>"))
    tokenizer.add_tokens([AddedToken("straße", normalized=True),
                          AddedToken("cat", single_word=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>",
        special_tokens=[("</s>", 1)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, {"tokenizer_class": "PreTrainedTokenizerFast",
                       "eos_token": "</s>", "pad_token": "<pad>",
                       "unk_token": "<unk>", "truncation_side": "left",
                       "extra_special_tokens": ["<extra_id_0>", "ü"],
                       "clean_up_tokenization_spaces": True}


def byte_fallback():
    """As Llama and Gemma: unknown characters are bytes."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True,
                                     unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    train(tokenizer, trainers.BpeTrainer(
        vocab_size=700, show_progress=False, limit_alphabet=60,
        special_tokens=["<unk>", "<s>", "</s>"]
        + [f"<0x{b:02X}>" for b in range(256)]))
    top = json.loads(tokenizer.to_str())
    for token in top["added_tokens"][3:]:
        token["special"] = False
    top["added_tokens"] = top["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(top))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
         decoders.Strip(" ", 1, 0)])
    return tokenizer, {"tokenizer_class": "PreTrainedTokenizerFast",
                       "bos_token": "<s>", "eos_token": "</s>",
                       "unk_token": "<unk>"}


def nllb():
    tokenizer = Tokenizer(models.BPE(fuse_unk=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    train(tokenizer, trainers.BpeTrainer(
        vocab_size=500, show_progress=False, limit_alphabet=150,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"]))
    codes = ["ace_Arab", "deu_Latn", "eng_Latn", "fra_Latn", "zul_Latn"]
    tokenizer.add_special_tokens(special(*codes))
    tokenizer.add_special_tokens(special("<mask>", lstrip=True))
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, {"tokenizer_class": "NllbTokenizer",
                       "src_lang": "eng_Latn", "model_max_length": 64,
                       "extra_special_tokens": codes,
                       "mask_token": "<mask>"}


def words():
    """No decoder: tokens with a space between."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    train(tokenizer, trainers.WordLevelTrainer(
        vocab_size=200, show_progress=False, special_tokens=["<unk>"]))
    return tokenizer, {"tokenizer_class": "PreTrainedTokenizerFast",
                       "unk_token": "<unk>"}


ODD = ["", " ", "the cat", " a  b\tc\n", "don't , it 's . \" x \"", "\0a\x01b",
       "🐕‍🦺👩‍👩‍👧 e\u0301a\u0308", "שלום عالم नमस्ते 你好世界",
       "<s>a</s> <mask>[MASK] b", "ﬁ ½ \u00a0\u3000x", "x" * 300]


def cases(name, tokenizer):
    result = [case(tokenizer, text) for text in ODD]
    result += [case(tokenizer, text, add_special=False) for text in ODD[2:5]]
    result.append(case(tokenizer, "the cat", "the dog"))
    result.append(case(tokenizer, "", ""))
    for limit in (2, 3, 4, 5, 7):
        result.append(case(tokenizer, "the cat sits", max_tokens=limit))
        if limit > 4:
            result.append(case(tokenizer, "the cat sits here", "a dog",
                               max_tokens=limit))
    for language in LANGUAGES.get(name, ()):
        result.append(case(tokenizer, "the cat", language=language))
        result.append(case(tokenizer, "the cat", "a dog", language=language))
        result.append(case(tokenizer, "the cat", language=language,
                           side="target"))
    return result


def forced_bos(name, tokenizer):
    return {code: tokenizer._build_translation_inputs(
        "the cat", src_lang=code, tgt_lang=code,
        **({} if name.startswith("m2m") else {"return_tensors": None})
    )["forced_bos_token_id"] for code in LANGUAGES.get(name, ())}


def normalization_rules():
    """A few of every kind: NFKC alone would be 240 kB of each model."""
    rules = {"ﬁ": "fi", "½": "1⁄2", "…": "...", "\u200b": "", "\x01": "",
             "a\u0308": "ä", "o\u0308": "ö", "e\u0301": "é"}
    rules.update({c: " " for c in "\t\n\r\u00a0\u3000"})
    rules.update({chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)})
    return rules


def train_spm(**options):
    """The bytes of a SentencePiece model."""
    code = lambda text: " ".join(f"{ord(c):X}" for c in text)
    model = io.BytesIO()
    with tempfile.NamedTemporaryFile("w") as tsv:
        tsv.writelines(f"{code(a)}\t{code(b)}\n"
                       for a, b in normalization_rules().items())
        tsv.flush()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(training_text()), model_writer=model,
            normalization_rule_tsv=tsv.name, num_threads=1, minloglevel=2,
            hard_vocab_limit=False, max_sentence_length=100000,
            character_coverage=0.98, **{"vocab_size": 500, **options})
    return model.getvalue()


def google(**options):
    return {"spiece.model": train_spm(pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
                                      **options)}


def fairseq(**options):
    return {"sentencepiece.bpe.model": train_spm(**options)}


def spm_t5():
    return {**google(user_defined_symbols=["cat", "<sep>"]),
            "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer",
                                      "extra_ids": 7, "add_eos_token": False}}


def spm_pegasus():
    return {**google(user_defined_symbols=["<n>"]),
            "tokenizer_config.json": {"tokenizer_class": "PegasusTokenizerFast",
                                      "offset": 13}}


def spm_xlm_roberta():
    mask = {"__type": "AddedToken", "content": "<mask>", "lstrip": True,
            "rstrip": False, "single_word": False, "normalized": True}
    return {**fairseq(user_defined_symbols=["cat", "<sep>"]),
            "tokenizer_config.json": {
                "tokenizer_class": "XLMRobertaTokenizer", "mask_token": mask,
                "model_max_length": 512, "add_bos_token": False}}


def spm_mbart():
    return {**fairseq(), "config.json": {"model_type": "mbart"},
            "tokenizer_config.json": {"src_lang": "de_DE"}}


def spm_mbart_50():
    return {**fairseq(), "config.json": {"model_type": "mbart",
                                         "tokenizer_class": "MBart50Tokenizer"}}


def m2m_100_of(model, codes, **config):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(i) for i in range(3, len(processor))]
    pieces = pieces[10:] + pieces[3:10]  # in an order of their own, and some less
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *pieces]
    return {"sentencepiece.bpe.model": model,
            "vocab.json": {token: i for i, token in enumerate(tokens)},
            "tokenizer_config.json": {"tokenizer_class": "M2M100Tokenizer",
                                      **config},
            "special_tokens_map.json": {
                "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
                "pad_token": "<pad>",
                "additional_special_tokens": [f"__{c}__" for c in codes]}}


def m2m_100():
    return m2m_100_of(
        train_spm(model_type="bpe", user_defined_symbols=["cat", "catch"]),
        M2M_100_LANGUAGES["m2m100"], clean_up_tokenization_spaces=True)


def m2m_100_unigram():
    return m2m_100_of(train_spm(byte_fallback=True, vocab_size=600),
                      M2M_100_LANGUAGES["wmt21"],
                      language_codes="wmt21", src_lang="is")


# Directories of SentencePiece models: names and contents of files.
SPM = {"spm-t5": spm_t5, "spm-pegasus": spm_pegasus,
       "spm-xlm-roberta": spm_xlm_roberta, "spm-mbart": spm_mbart,
       "spm-mbart-50": spm_mbart_50, "m2m-100": m2m_100,
       "m2m-100-unigram": m2m_100_unigram}

# Of those that have languages, some.
LANGUAGES = {"nllb": ("deu_Latn", "zul_Latn"),
             "spm-mbart": ("ar_AR", "en_XX", "zh_CN"),
             "spm-mbart-50": ("ar_AR", "fr_XX", "sl_SI"),
             "m2m-100": ("af", "ast", "en", "zu"),
             "m2m-100-unigram": ("en", "de")}

TOKENIZERS = {"bert": bert, "roberta": roberta, "xlm-roberta": xlm_roberta,
              "t5": t5, "byte-fallback": byte_fallback, "nllb": nllb,
              "words": words}


def write_library(name):
    folder = HERE / name
    tokenizer, config = TOKENIZERS[name]()
    top = json.loads(tokenizer.to_str())
    if top["model"]["type"] == "Unigram":
        # Reading longer numbers, classes of transformers round correctly and
        # the library itself does not always; ties then fall differently.
        top["model"]["vocab"] = [[piece, round(score, 6)]
                                 for piece, score in top["model"]["vocab"]]
    write_json(folder / "tokenizer.json", top, separators=(",", ":"))
    write_json(folder / "tokenizer_config.json", config, indent=1)


def write_spm(name):
    for file, contents in SPM[name]().items():
        if isinstance(contents, bytes):
            (HERE / name / file).write_bytes(contents)
        else:
            write_json(HERE / name / file, contents, indent=0)


def write(name):
    (HERE / name).mkdir(exist_ok=True)
    (write_spm if name in SPM else write_library)(name)
    loaded = AutoTokenizer.from_pretrained(HERE / name)
    expected = {**digests(loaded), "cases": cases(name, loaded),
                "ids_only": not loaded.is_fast,
                "forced_bos": forced_bos(name, loaded)}
    write_json(HERE / name / "expected.json",
               {k: v for k, v in expected.items() if v}, indent=0)
    print(HERE / name)


def main():
    logging.set_verbosity_error()
    if sys.argv[1:2] == ["--show"]:
        name, number = sys.argv[2], int(sys.argv[3])
        tokenizer = AutoTokenizer.from_pretrained(HERE / name)
        print(repr(line(number)))
        print(*encode(tokenizer, line(number)), sep="\n")
        return
    for name in sys.argv[1:] or [*TOKENIZERS, *SPM]:
        write(name)


if __name__ == "__main__":
    main()
