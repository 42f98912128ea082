"""Directories that have a SentencePiece model and no tokenizer.json."""

import io
import tempfile

import sentencepiece
from transformers.models.m2m_100.tokenization_m2m_100 import (
    FAIRSEQ_LANGUAGE_CODES as M2M_100_LANGUAGES)

from tokenizer_lines import training_text


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
