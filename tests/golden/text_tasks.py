"""A tiny tokenizer, and what transformers makes of text with it and the encoders
under families/: its pipelines where there is one for the task."""

import json
import shutil
import tempfile

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from sentence_transformers import CrossEncoder, SentenceTransformer
from transformers import PreTrainedTokenizerFast, pipeline

import sentence_modules
import span_windows
import task_adapters
from cases import nine, rows
from checkpoints import ENGLISH
from encoder_fixtures import ENCODERS, ENTITIES
from encoder_relatives import ENCODER_RELATIVES
from fixture_cases import MIN_MARGIN, write_expected
from span_windows import byte_at

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


def vocabulary():
    words = list(dict.fromkeys(ENGLISH.split()))
    tokens = SPECIAL + ["##s", "!", ",", "query", "document"] + words
    return {token: i for i, token in enumerate(tokens[:SIZE])}


def write_tokenizer(folder):
    ids = vocabulary()
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, ids[name]) for name in ("[CLS]", "[SEP]")])
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


def apart(scores, margin=MIN_MARGIN):
    scores = sorted(scores, reverse=True)
    gaps = [a - b for a, b in zip(scores, scores[1:])]
    assert min(gaps, default=1) > margin, scores
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


STRATEGIES = ["none", "simple", "first", "average", "max"]
SPAN_TEXTS = TEXTS[:2] + ["the dogs drinks teas, children runs ÄLÄs! boys",
                      "a red balls plays over greens zzz fieldss"]


def span_cases(run, text):
    for strategy in STRATEGIES:
        others = [["I-PER", "PER"], []] if strategy in ("none", "simple") else []
        for ignored in [["O"], *others]:
            found = run(text, aggregation_strategy=strategy, ignore_labels=ignored)
            key = "entity" if strategy == "none" else "entity_group"
            yield {"text": text, "aggregation": strategy, "ignored": ignored,
                   "spans": [{"label": span[key], "score": nine(span["score"]),
                              "begin": byte_at(text, span["start"]),
                              "end": byte_at(text, span["end"])} for span in found]}


def spans(checkpoint):
    run = checkpoint.pipeline("token-classification")
    for text in SPAN_TEXTS:
        for case in span_cases(run, text):
            yield {"model": checkpoint.name, **case}


BYTE_TEXTS = ["Ann-Marie Smith, of New York City, visited Zürich. ",
              "  Dr. O'Neill met ÄLÄ   and 東京 friends at Acme's HQ!",
              "unbelievable"]


def spans_of_bytes(folder):
    """With a tokenizer that marks no parts of words; the logits are random."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_attention_heads=2,
        num_hidden_layers=1, intermediate_size=8, max_position_embeddings=90,
        **ENTITIES)
    torch.manual_seed(5)
    model = transformers.RobertaForTokenClassification(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    run = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    cases = []
    for text in BYTE_TEXTS:
        with torch.no_grad():
            logits = model(**tokenizer(text, return_tensors="pt"))[0][0]
        best = torch.topk(torch.softmax(logits, -1), 2).values
        assert (best[:, 0] - best[:, 1]).min() > MIN_MARGIN
        cases.append({"text": text, "logits": rows(logits),
                      "cases": list(span_cases(run, text))})
    return {"labels": [config.id2label[i] for i in range(5)], "texts": cases}


CANDIDATES = ["tea", "the garden", "old dogs", "ball"]


def zero_shot(checkpoint):
    run = checkpoint.pipeline("zero-shot-classification")
    if checkpoint.model.config.model_type == "roberta":  # counts from position 2
        run.tokenizer.model_max_length = 54
    long = "the cat sleeps and the old man reads a book in the garden " * 8
    for text in TEXTS[:2] + [long]:
        for template in ("This example is {}.", "a dog, {} and a cat!"):
            for multi in (False, True):
                for labels in (CANDIDATES, CANDIDATES[1:2]):
                    found = run(text, labels, hypothesis_template=template,
                                multi_label=multi)
                    yield {"model": checkpoint.name, "text": text,
                           "template": template, "multi_label": multi,
                           "candidates": labels, "labels": found["labels"],
                           "scores": apart(found["scores"], MIN_MARGIN / 10)}


@torch.no_grad()
def choose(checkpoint):
    for text in TEXTS[:2]:
        given = checkpoint.tokenizer([text] * len(CANDIDATES), CANDIDATES,
                                     return_tensors="pt", padding=True)
        logits = checkpoint.model(**{k: v[None] for k, v in given.items()}).logits[0]
        order = torch.argsort(-logits)
        yield {"model": checkpoint.name, "text": text, "candidates": CANDIDATES,
               "labels": [CANDIDATES[i] for i in order],
               "raw": apart(logits), "scores": apart(torch.softmax(logits, -1))}


class Answers:
    """The question-answering pipeline of transformers 4.57, which 5 has not: the
    windows of fast tokenizers, probabilities of begins and ends, whole words."""

    def __init__(self, checkpoint):
        self.model, self.tokenizer = checkpoint.model, checkpoint.tokenizer

    @torch.no_grad()
    def logits(self, windows, i):
        given = {key: torch.tensor([windows[key][i]])
                 for key in self.tokenizer.model_input_names}
        found = self.model(**given)
        return found.start_logits[0].numpy(), found.end_logits[0].numpy()

    def probabilities(self, logits, allowed):
        logits = np.where(allowed, logits, -10000.0)
        values = np.exp(logits - logits.max())
        return values / values.sum()

    def window(self, windows, i, top, longest):
        encoding, ids = windows.encodings[i], windows["input_ids"][i]
        in_context = np.array([s == 1 for s in encoding.sequence_ids])
        allowed = in_context | (np.array(ids) == self.tokenizer.cls_token_id)
        begin, end = (self.probabilities(x, allowed) for x in self.logits(windows, i))
        none = begin[0] * end[0]
        begin[0] = end[0] = 0
        found = [(begin[b] * end[e], b, e) for b in np.nonzero(in_context)[0]
                 for e in range(b, min(b + longest, len(ids))) if in_context[e]]
        return none, sorted(found, key=lambda span: -span[0])[:top]

    def __call__(self, question, context, top_k=1, handle_impossible_answer=False,
                 max_answer_len=15, align_to_words=True, max_seq_len=None,
                 doc_stride=None):
        size = max_seq_len or min(self.tokenizer.model_max_length, 384)
        overlap = min(size // 2, 128) if doc_stride is None else doc_stride
        windows = self.tokenizer(question, context, truncation="only_second",
                                 max_length=size, stride=overlap,
                                 return_overflowing_tokens=True,
                                 return_token_type_ids=True)
        none, answers = 1, []
        for i, encoding in enumerate(windows.encodings):
            least, found = self.window(
                windows, i, top_k * 2 + 10 if align_to_words else top_k, max_answer_len)
            none = min(none, least)
            for score, b, e in found:
                begin, end = encoding.offsets[b][0], encoding.offsets[e][1]
                if align_to_words:
                    begin = encoding.word_to_chars(encoding.token_to_word(b), 1)[0]
                    end = encoding.word_to_chars(encoding.token_to_word(e), 1)[1]
                text = context[begin:end]
                same = [a for a in answers if a["answer"].lower() == text.lower()]
                if same:
                    same[0]["score"] += score
                else:
                    answers.append({"score": score, "start": begin, "end": end,
                                    "answer": text})
        if handle_impossible_answer:
            answers.append({"score": none, "start": 0, "end": 0, "answer": ""})
        return sorted(answers, key=lambda a: -a["score"])[:top_k]


CONTEXTS = ["the old man reads a book in the garden, a cat sleeps",
            "Thé ÄLÄ, dogs drinks tea! " +
            "two children play with a red ball in the green field. " * 7 + "dogss"]
ANSWER_OPTIONS = [{}, {"top_k": 4}, {"top_k": 3, "handle_impossible_answer": True},
                  {"top_k": 5, "align_to_words": False, "max_answer_len": 3},
                  {"top_k": 3, "max_seq_len": 24, "doc_stride": 5}]


def answer(checkpoint):
    run = Answers(checkpoint)
    for context in [*CONTEXTS, "a dog"]:
        for options in ANSWER_OPTIONS if context in CONTEXTS else ANSWER_OPTIONS[2:3]:
            question = "who drinks tea in the garden?"
            found = run(question, context, **options)
            apart([a["score"] for a in found], MIN_MARGIN / 20)
            yield {"model": checkpoint.name, "question": question,
                   "context": context, "options": options, "answers": [
                       {"score": nine(a["score"]), "text": a["answer"],
                        "begin": byte_at(context, a["start"]),
                        "end": byte_at(context, a["end"])} for a in found]}


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


def rerank_chat(families, tokenizer, name):
    """The same by a decoder, whose pairs are conversations: by CrossEncoder."""
    query = "a small dog"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(families / name, folder, dirs_exist_ok=True)
        tokenizer.chat_template = sentence_modules.RERANK_TEMPLATE
        tokenizer.save_pretrained(folder)
        model = CrossEncoder(folder, device="cpu", model_kwargs={
            "attn_implementation": "eager", "dtype": torch.float32})
        pairs = [(query, document) for document in DOCUMENTS]
        raw = model.predict(pairs, activation_fn=torch.nn.Identity(), batch_size=1)
        scores = model.predict(pairs, batch_size=1)
    order = sorted(range(len(raw)), key=lambda i: -raw[i])
    return {"model": name, "query": query, "documents": DOCUMENTS,
            "order": order, "raw": apart(raw),
            "scores": [nine(scores[i]) for i in order]}


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


def spans_of_windows(families, folder):
    for side, prefix in [("right", ""), ("left", "left-")]:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(
            folder, truncation_side=side)
        yield from span_windows.cases(
            Checkpoint(families, tokenizer, "bert-tokens"), prefix + "bert-tokens")


def cut_left(families, folder):
    """Texts that are too long, cut where they begin: by the programs that people
    have for the tasks."""
    def prepare(name):
        directory = tempfile.mkdtemp()
        shutil.copytree(families / name, directory, dirs_exist_ok=True)
        PreTrainedTokenizerFast.from_pretrained(
            folder, truncation_side="left").save_pretrained(directory)
        return directory
    options = dict(device="cpu", model_kwargs={
        "attn_implementation": "eager", "dtype": torch.float32})
    long = "the cat sleeps on the warm stone " * 9 + "the old man reads a book"
    query, documents = "a small dog", [long, DOCUMENTS[0]]
    run = pipeline("text-classification", model=prepare("bert-4x-labels"), device="cpu")
    labels = run(long, top_k=None, truncation=True)
    ranker = CrossEncoder(prepare("bert-reranker"), **options)
    embedder = SentenceTransformer(prepare("bert-mean-pooling"), **options)
    return {"text": long, "query": query, "documents": documents,
            "labels": [label["label"] for label in labels],
            "label_scores": apart([label["score"] for label in labels]),
            "rank_scores": [nine(x) for x in ranker.predict(
                [(query, text) for text in documents], batch_size=1)],
            "embedding": [nine(x) for x in embedder.encode(long)]}


TASKS = {"classify": (classify, ["bert-4x-labels", "roberta-4x-multi-label"]),
         "classify_tokens": (classify_tokens, ["bert-tokens"]),
         "fill_mask": (fill_mask, ["bert-mask"]),
         "spans": (spans, ["bert-tokens"]),
         "zero_shot": (zero_shot, ["bert-inference", "roberta-4x-inference",
                                   "bart-inference"]),
         "choose": (choose, ["bert-choice", "modernbert-choice"]),
         "answer": (answer, ["bert-spans", "modernbert-spans"]),
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
    value["rerank"].append(rerank_chat(families, tokenizer(), "qwen3-logit-score"))
    tasks = next(f for f in ENCODER_RELATIVES if "adapters" in f)
    value["embed"] += task_adapters.embed(families / tasks["name"], tasks,
                                          tokenizer(), TEXTS)
    value["embed_tokens"] = [case for name in ("bart-gelu", "t5-few-buckets")
                             for case in embed_tokens(families, tokenizer(), name)]
    value["span_windows"] = list(spans_of_windows(families, folder))
    value["cut_left"] = cut_left(families, folder)
    write_expected(folder / "expected.json", value)
    write_expected(folder / "spans.json", spans_of_bytes(
        families.parents[1] / "engine/tokenizer/golden/roberta"))
