"""A tiny tokenizer, and what transformers makes of text with it and the encoders
under families/: its pipelines where there is one for the task."""

import json

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, pipeline

import sentence_modules
from cases import nine, rows
from checkpoints import ENGLISH
from encoder_fixtures import ENCODERS
from fixture_cases import MIN_MARGIN, write_expected

# Padding has the id of some families, and then of others.
SPECIAL = ["[PAD]", "[PAD2]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
SIZE = 61  # as the checkpoints have

# "Ä" and "é" lose their marks, so that characters, bytes and what is looked up
# differ.
TEXTS = ["a small dog runs over the green field",
         "Thé ÄLÄ, a dogs!",
         "she drinks tea in the garden " * 4]
PAIRS = [("the cat sleeps", "a dog runs"), ("", "the old man reads a book")]
MASKED = ["a [MASK] dog runs", "the old [MASK]  reads in the [MASK]", "[MASK]"]
DOCUMENTS = ["the dog runs home", "tea", "two children play with a red ball",
             "Thé garden!"]


def write_tokenizer(folder):
    words = list(dict.fromkeys(ENGLISH.split()))
    vocabulary = SPECIAL + ["##s", "!", ",", "query", "document"] + words
    vocabulary = {word: i for i, word in enumerate(vocabulary[:SIZE])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]",
        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_max_length=56, model_input_names=[
            "input_ids", "token_type_ids", "attention_mask"]).save_pretrained(folder)


class Checkpoint:
    def __init__(self, families, tokenizer, name):
        fixture = next(f for f in ENCODERS if f["name"] == name)
        self.name, self.folder, self.fixture = name, families / name, fixture
        self.model = getattr(transformers, fixture["model"]).from_pretrained(
            self.folder, dtype=torch.float32, attn_implementation="eager").eval()
        self.tokenizer = tokenizer
        self.has_types = getattr(self.model.config, "type_vocab_size", 0) > 1
        types = ["token_type_ids"] if self.has_types else []
        tokenizer.model_input_names = ["input_ids", *types, "attention_mask"]

    def pipeline(self, task):
        return pipeline(task, model=self.model, tokenizer=self.tokenizer, device="cpu")

    @torch.no_grad()
    def run(self, *texts):
        given = self.tokenizer(*texts, return_tensors="pt")
        return given["input_ids"][0].tolist(), self.model(**given)[0][0]


def byte_at(text, index):
    return len(text[:index].encode())


def apart(scores):
    scores = sorted(scores, reverse=True)
    gaps = [a - b for a, b in zip(scores, scores[1:])]
    assert min(gaps, default=1) > MIN_MARGIN, scores
    return [nine(score) for score in scores]


def classify(checkpoint):
    run = checkpoint.pipeline("text-classification")
    given = [{"text": text} for text in TEXTS]
    if checkpoint.has_types:
        given += [{"text": a, "text_pair": b} for a, b in PAIRS]
    for inputs in given:
        labels = run(inputs, top_k=None)
        yield {"model": checkpoint.name, "text": inputs["text"],
               **({"pair": inputs["text_pair"]} if "text_pair" in inputs else {}),
               "labels": [label["label"] for label in labels],
               "scores": apart([label["score"] for label in labels])}


def classify_tokens(checkpoint):
    run = checkpoint.pipeline("token-classification")
    for text in TEXTS:
        ids = checkpoint.tokenizer(text)["input_ids"]
        yield {"model": checkpoint.name, "text": text, "tokens": [
            {"id": ids[token["index"]], "begin": byte_at(text, token["start"]),
             "end": byte_at(text, token["end"]), "label": token["entity"],
             "score": nine(token["score"])}
            for token in run(text, aggregation_strategy="none", ignore_labels=[])]}


def fill_mask(checkpoint):
    run = checkpoint.pipeline("fill-mask")
    for text in MASKED:
        masks = run(text, top_k=3)
        masks = masks if isinstance(masks[0], list) else [masks]
        yield {"model": checkpoint.name, "text": text, "masks": [
            {"ids": [fill["token"] for fill in mask],
             "probs": apart([fill["score"] for fill in mask])} for mask in masks]}


def rerank(checkpoint):
    """The raw score, and what CrossEncoder of sentence-transformers makes of it."""
    query = "a small dog"
    raw = [checkpoint.run(query, document)[1][0] for document in DOCUMENTS]
    sigmoid = not getattr(checkpoint.model.config,
                          "sbert_ce_default_activation_function", "")
    scores = [torch.sigmoid(x) if sigmoid else x for x in raw]
    order = sorted(range(len(raw)), key=lambda i: -raw[i])
    yield {"model": checkpoint.name, "query": query, "documents": DOCUMENTS,
           "order": order, "raw": apart(raw), "scores": apart(scores)}


def embed(checkpoint):
    sentence = checkpoint.fixture["sentence"]
    prompts = {"": "", **sentence.get("prompts", {})}
    for name, prompt in prompts.items():
        for text in TEXTS:
            value = sentence_modules.embed(
                checkpoint.folder, checkpoint.run(prompt + text)[1], sentence)
            yield {"model": checkpoint.name, "text": text, "prompt_name": name,
                   "values": [nine(x) for x in value]}


def embed_tokens(families, tokenizer, name):
    """States of the encoder of an encoder-decoder."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        families / name, dtype=torch.float32, attn_implementation="eager").eval()
    for text in TEXTS[:2]:
        given = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        with torch.no_grad():
            states = model.get_encoder()(**given)[0][0]
        yield {"model": name, "text": text, "ids": given["input_ids"][0].tolist(),
               "values": rows(states), "mean": [nine(x) for x in states.mean(0)]}


TASKS = {"classify": (classify, ["bert-4x-labels", "roberta-4x-multi-label"]),
         "classify_tokens": (classify_tokens, ["bert-tokens"]),
         "fill_mask": (fill_mask, ["bert-mask"]),
         "rerank": (rerank, ["bert-reranker", "xlm-roberta-4x-reranker"]),
         "embed": (embed, ["bert-mean-pooling", "xlm-roberta-dense", "modernbert-prompts"])}


def write(folder, families):
    write_tokenizer(folder)
    def tokenizer():
        return PreTrainedTokenizerFast.from_pretrained(folder)
    value = {"transformers": transformers.__version__}
    for part, (make, names) in TASKS.items():
        value[part] = [case for name in names
                       for case in make(Checkpoint(families, tokenizer(), name))]
    value["embed_tokens"] = [case for name in ("bart-gelu", "t5-few-buckets")
                             for case in embed_tokens(families, tokenizer(), name)]
    write_expected(folder / "expected.json", value)
