"""Directories with a Router, as sentence-transformers saves them, for
make_sentence.py: texts take one of several routes by their task."""

import contextlib
import json

import numpy as np
import torch
import transformers
from sentence_transformers import SentenceTransformer, SparseEncoder
from sentence_transformers.base.modules import Dense, Normalize, Router, Transformer
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.sparse_encoder.modules import SpladePooling, SparseStaticEmbedding

import text_tasks
from cases import nine

ROLES = {"": "encode", "query": "encode_query", "document": "encode_document"}


class Maker:
    """Makes the models in `out`; bert() and randomise() are make_sentence's."""

    def __init__(self, out, scratch, bert, randomise):
        self.out, self.scratch = out, scratch
        self.bert, self.randomise = bert, randomise

    def random(self, rng, *layers):
        with torch.no_grad():
            for layer in layers:
                self.randomise(layer, rng)
        return list(layers)

    def transformer(self, rng, kind="BertModel", task="feature-extraction", **more):
        self.bert(self.scratch, rng, kind, **more)
        return Transformer(str(self.scratch), transformer_task=task)

    def saved(self, name, kind=SentenceTransformer, **model):
        folder = self.out / name
        kind(device="cpu", **model).save(str(folder), create_model_card=False)
        return kind(str(folder), device="cpu").eval()

    def asym(self, rng):
        """A Dense of each side after the pooling, under the old names."""
        query = self.random(rng, Dense(15, 7))
        document = self.random(rng, Dense(15, 9), modules.LayerNorm(9), Dense(9, 7))
        self.saved("asym", modules=[
            self.transformer(rng), modules.Pooling(15),
            Router({"query": query, "document": document}), Normalize()])
        folder = self.out / "asym"
        listed = json.loads((folder / "modules.json").read_text())
        listed[2].update(path="2_Asym", type="sentence_transformers.models.Asym")
        (folder / "modules.json").write_text(json.dumps(listed, indent=2))
        (folder / "2_Router").rename(folder / "2_Asym")
        config = json.loads((folder / "2_Asym/router_config.json").read_text())
        config["parameters"] = {"allow_empty_key": True}
        config["types"] = {key: "sentence_transformers.models." + value.split(".")[-1]
                           for key, value in config["types"].items()}
        (folder / "2_Asym/config.json").write_text(json.dumps(config, indent=2))
        (folder / "2_Asym/router_config.json").unlink()
        return SentenceTransformer(str(folder), device="cpu").eval()

    def shared(self, rng):
        """One Transformer on both routes, pooled in two ways."""
        first = self.transformer(rng)
        document = self.random(rng, modules.Pooling(15, ("mean", "max")), Dense(30, 15),
                               modules.LayerNorm(15), modules.Dropout(0.1))
        return self.saved("shared", truncate_dim=11, prompts={"query": "query "}, modules=[
            Router.for_query_document(
                [first, modules.Pooling(15, "cls", include_prompt=False), Normalize()],
                [first, *document])])

    def two(self, rng):
        """Two Transformers, of which queries have the smaller."""
        document = [self.transformer(rng), modules.Pooling(15)]
        query = self.transformer(rng, hidden_size=12, max_position_embeddings=24)
        query.max_seq_length = 10
        return self.saved("two", modules=[
            Router.for_query_document([query, *self.random(rng, modules.Pooling(12),
                                                           Dense(12, 15))], document),
            Normalize()])

    def decoder(self, rng, kind, **config):
        """A decoder with the tokenizer of the others."""
        model = getattr(transformers, kind + "Model")(getattr(
            transformers, kind + "Config")(
                vocab_size=text_tasks.SIZE, max_position_embeddings=56,
                num_hidden_layers=2, pad_token_id=0, bos_token_id=2, eos_token_id=3,
                **config)).eval()
        self.bert(self.scratch, rng)
        with torch.no_grad():
            self.randomise(model, rng)
        (self.scratch / "model.safetensors").unlink()
        model.save_pretrained(self.scratch)
        return Transformer(str(self.scratch))

    def decoders(self, rng):
        """Two decoders, whose blocks of keys and values differ in size."""
        query = [self.decoder(rng, "Qwen3", hidden_size=12, intermediate_size=20,
                              num_attention_heads=3, num_key_value_heads=1, head_dim=6),
                 *self.random(rng, modules.Pooling(12, "lasttoken"), Dense(12, 13))]
        document = [self.decoder(rng, "Llama", hidden_size=20, intermediate_size=18,
                                 num_attention_heads=5, num_key_value_heads=5),
                    *self.random(rng, modules.Pooling(20, "mean"), Dense(20, 13))]
        return self.saved("decoders", modules=[
            Router.for_query_document(query, document), Normalize()])

    def mixed(self, rng):
        """An encoder for queries, and a decoder for documents, which are shorter."""
        query = [self.transformer(rng), *self.random(rng, modules.Pooling(15),
                                                     Dense(15, 11))]
        first = self.decoder(rng, "Qwen3", hidden_size=18, intermediate_size=14, head_dim=8,
                             num_attention_heads=3, num_key_value_heads=3)
        first.max_seq_length = 23
        return self.saved("mixed", modules=[Router.for_query_document(
            query, [first, *self.random(rng, modules.Pooling(18, "weightedmean"),
                                        Dense(18, 11))])])

    def table(self, rng):
        """Queries are read from a table, by a tokenizer of its own. There is no
        route for texts without a task, and another name for documents."""
        self.bert(self.scratch, rng)
        tokenizer = json.loads((self.scratch / "tokenizer.json").read_text())
        tokenizer["normalizer"].update(lowercase=False, strip_accents=True)
        (self.scratch / "tokenizer.json").write_text(json.dumps(tokenizer))
        table = modules.StaticEmbedding(
            transformers.PreTrainedTokenizerFast.from_pretrained(self.scratch),
            embedding_weights=rng.randn(text_tasks.SIZE, 9).astype(np.float32))
        document = [self.transformer(rng), modules.Pooling(15)]
        return self.saved("table", modules=[Router(
            {"query": [table, *self.random(rng, Dense(9, 7))],
             "passage": [*document, *self.random(rng, Dense(15, 7))]},
            allow_empty_key=False,
            route_mappings={("document", "text"): "passage",
                            (None, ("image", "text")): "query"})])

    def inference_free(self, rng, name="inference_free"):
        """Weights of queries' tokens from a list, of documents' from logits."""
        document = self.transformer(rng, "BertForMaskedLM", "fill-mask")
        with torch.no_grad():
            document.auto_model.cls.predictions.bias -= 2.5  # most weights are 0
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.scratch)
        tokenizer.model_max_length = 9
        weights = rng.rand(text_tasks.SIZE).astype(np.float32) * 4
        weights[[5, 9]] = 0, -0.5
        query = SparseStaticEmbedding(tokenizer, torch.from_numpy(weights), frozen=True)
        return self.saved(name, SparseEncoder, modules=[Router.for_query_document(
            [query], [document, SpladePooling(activation_function="log1p_relu")])])

    def listed_weights(self, rng):
        """idf.json: not of all tokens, in another order than theirs, and of some
        that the tokenizer does not have, which are its [UNK]."""
        tokens = list(text_tasks.vocabulary())
        rng.shuffle(tokens)
        weights = {token: round(float(x), 7) for token, x in zip(
            [*tokens[:50], "walrus", "[UNK]", "##walrus"], rng.randn(53) * 3)}
        weights[tokens[3]] = 0
        weights[tokens[4]] = 2
        return weights

    def from_list(self, rng):
        """Weights that were read from a list, as the library saves them."""
        (self.scratch / "idf.json").write_text(json.dumps(self.listed_weights(rng)))
        self.bert(self.scratch / "tokenizer", rng)
        return self.saved("from_list", SparseEncoder, modules=[
            SparseStaticEmbedding.from_json(
                str(self.scratch / "idf.json"),
                transformers.AutoTokenizer.from_pretrained(self.scratch / "tokenizer"))])

    def idf(self, rng):
        """As the hub has them: documents' model and the list of queries' weights
        are in the directory itself. The library looks for the list from where it
        runs."""
        self.inference_free(rng, "idf")
        folder = self.out / "idf"
        for file in (folder / "document_0_Transformer").iterdir():
            file.rename(folder / file.name)
        (folder / "document_0_Transformer").rmdir()
        query = folder / "query_0_SparseStaticEmbedding"
        (query / "model.safetensors").unlink()
        (query / "config.json").write_text(
            json.dumps({"frozen": True, "path": "idf.json"}, indent=2))
        (folder / "idf.json").write_text(
            json.dumps(self.listed_weights(rng), ensure_ascii=False, indent=2))
        old = "sentence_transformers.sparse_encoder.models."
        (folder / "router_config.json").write_text(json.dumps({
            "types": {query.name: old + "SparseStaticEmbedding",
                      "": old + "MLMTransformer",
                      "document_1_SpladePooling": old + "SpladePooling"},
            "structure": {"query": [query.name],
                          "document": ["", "document_1_SpladePooling"]},
            "parameters": {"default_route": "document", "allow_empty_key": True}},
            indent=2))
        (folder / "modules.json").write_text(json.dumps(
            [{"idx": 0, "name": "0", "path": "",
              "type": "sentence_transformers.models.Router"}], indent=2))
        with contextlib.chdir(folder):
            return SparseEncoder(str(folder), device="cpu").eval()


def cases(model, name, texts, roles):
    """What the model makes of each text in each role."""
    for role in roles:
        for text in texts:
            value = getattr(model, ROLES[role])([text], convert_to_tensor=True)[0]
            one = {"model": name, "text": text, **({"role": role} if role else {})}
            if isinstance(model, SparseEncoder):
                value = value.coalesce()
                yield {**one, "ids": value.indices()[0].tolist(),
                       "weights": [nine(x) for x in value.values()]}
            else:
                yield {**one, "values": [nine(x) for x in value]}


def add(out, scratch, bert, randomise, texts, expected):
    """Writes all models, and adds to expected["embed"] and ["sparse"]."""
    make = Maker(out, scratch, bert, randomise)
    for seed, (name, roles) in enumerate({
            "asym": ROLES, "shared": ROLES, "two": ROLES, "table": ["query", "document"],
            "inference_free": ROLES, "from_list": [""], "idf": ROLES,
            "decoders": ROLES, "mixed": ROLES}.items()):
        model = getattr(make, name)(np.random.RandomState(30 + seed))
        kind = "sparse" if isinstance(model, SparseEncoder) else "embed"
        expected[kind] += cases(model, name, texts, roles)
