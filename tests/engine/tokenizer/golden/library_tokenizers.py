"""Tiny tokenizers of Hugging Face's library, as tokenizer.json."""

import collections
import json

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

from tokenizer_lines import training_text


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


TOKENIZERS = {"bert": bert, "roberta": roberta, "xlm-roberta": xlm_roberta,
              "t5": t5, "byte-fallback": byte_fallback, "nllb": nllb,
              "words": words}
