"""Tiny Marian checkpoints: tokenizer, configuration and random weights."""

import io
import json
import shutil

import numpy as np
import safetensors.torch
import sentencepiece
import torch
import transformers
from transformers import MarianConfig, MarianMTModel

ENGLISH = """a small dog runs over the green field
two children play with a red ball near the river
the old man reads a book in the garden
she drinks a cup of tea and looks out of the window
a woman in a blue coat waits for the train
my brother has lost his keys again
the cat sleeps on the warm stone
three boats lie in the harbour at night
we walk home because the last bus has gone
he paints the door of the house white"""

GERMAN = """ein kleiner hund rennt über das grüne feld
zwei kinder spielen mit einem roten ball am fluss
der alte mann liest ein buch im garten
sie trinkt eine tasse tee und sieht aus dem fenster
eine frau in einem blauen mantel wartet auf den zug
mein bruder hat wieder seine schlüssel verloren
die katze schläft auf dem warmen stein
drei boote liegen nachts im hafen
wir gehen nach hause weil der letzte bus weg ist
er streicht die tür des hauses weiß"""


def train_spm(path, text, size):
    """A unigram model without a normaliser, whose table alone has 240 KB."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")), model_writer=model,
        vocab_size=size, model_type="unigram", character_coverage=1.0,
        num_threads=1, normalization_rule_name="identity", minloglevel=2)
    path.write_bytes(model.getvalue())
    return [piece for piece in pieces_of(path)
            if piece not in ("<unk>", "<s>", "</s>")]


def pieces_of(path):
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size())]


def number(pieces, pad=None):
    """</s> 0, <unk> 1, the pieces, and <pad> at `pad` or at the end."""
    tokens = ["</s>", "<unk>", *pieces]
    tokens.insert(len(tokens) if pad is None else pad, "<pad>")
    return {token: i for i, token in enumerate(tokens)}


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n",
                    encoding="utf-8")


def write_tokenizer(folder, fixture):
    """Returns (source vocabulary, target vocabulary or None, pad id)."""
    separate = fixture.get("separate", False)
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en",
              "target_lang": "de", "separate_vocabs": separate,
              "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>",
              "model_max_length": 64}
    size = fixture["pieces"]
    if separate:
        source = number(train_spm(folder / "source.spm", ENGLISH, size[0]))
        pad = source["<pad>"]
        target = number(train_spm(folder / "target.spm", GERMAN, size[1]), pad)
        write_json(folder / "target_vocab.json", target, indent=1)
    else:
        pieces = train_spm(folder / "source.spm", ENGLISH + "\n" + GERMAN, size)
        shutil.copy(folder / "source.spm", folder / "target.spm")
        source = number(pieces + fixture.get("languages", []))
        target, pad = None, source["<pad>"]
    write_json(folder / "vocab.json", source, indent=1)
    write_json(folder / "tokenizer_config.json", config, indent=1)
    return source, target, pad


def randomise(model, seed, fixture):
    """Weights for results with many different tokens and well-separated logits;
    plain random ones repeat one token for ever."""
    rng = np.random.RandomState(seed)
    state = model.state_dict()
    for name in sorted(state):
        if "embed_positions" in name or name == "lm_head.weight":
            continue
        if not fixture.get("separate") and ".embed_tokens." in name:
            continue
        value = rng.randn(*state[name].shape)
        if "norm" in name:
            value = 0.1 * value + name.endswith("weight")
        elif name == "final_logits_bias":
            value *= fixture.get("logits_bias", 0)
        elif name.endswith("bias"):
            value *= 0.2
        elif "shared" in name or "embed_tokens" in name:
            value *= 0.42
            value[0] *= 1.6  # end of sequence comes up more often
        elif "fc" in name:
            value *= 0.3
        else:
            value *= 0.2
        state[name].copy_(torch.from_numpy(value.astype(np.float32)))
    turn(model.model.decoder.layers[-1], rng)
    if fixture.get("dtype"):
        model.to(getattr(torch, fixture["dtype"])).float()


def turn(layer, rng):
    """Lets the feed-forward map a token's vector to another one's, away from
    its own: f(z) - f(-z) is z for swish, gelu and relu, so these rows add a
    linear map, four times a rotation less the vector itself."""
    width, hidden = layer.fc1.weight.shape
    rank = min(hidden, width // 2)
    own, other = (np.linalg.qr(rng.randn(hidden, hidden))[0][:rank].astype(
        np.float32) for _ in range(2))
    layer.fc1.weight[:2 * rank] = torch.from_numpy(np.concatenate([own, -own]))
    out = (4 * other - own).T
    layer.fc2.weight[:, :2 * rank] = torch.from_numpy(
        np.concatenate([out, -out], axis=1))


def build(folder, fixture):
    """Writes tokenizer, configuration and random weights of one fixture."""
    source, target, pad = write_tokenizer(folder, fixture)
    sizes = dict(d_model=24, encoder_layers=2, decoder_layers=1,
                 encoder_attention_heads=2, decoder_attention_heads=3,
                 encoder_ffn_dim=36, decoder_ffn_dim=44,
                 activation_function="swish", scale_embedding=True)
    config = MarianConfig(
        **{**sizes, **fixture.get("config", {})}, vocab_size=len(source),
        decoder_vocab_size=len(target or source), max_position_embeddings=64,
        share_encoder_decoder_embeddings=target is None, pad_token_id=pad,
        decoder_start_token_id=pad, eos_token_id=0, bos_token_id=None,
        forced_eos_token_id=None, static_position_embeddings=True)
    generation = dict(bad_words_ids=[[pad]], decoder_start_token_id=pad,
                      eos_token_id=0, pad_token_id=pad, max_length=64,
                      num_beams=4, **fixture.get("generation", {}))
    model = MarianMTModel._from_config(
        config, attn_implementation="eager").eval()
    with torch.no_grad():
        randomise(model, fixture["weights"], fixture)
    model.generation_config = transformers.GenerationConfig(**generation)
    save(model, folder, fixture)


def save(model, folder, fixture):
    if fixture.get("dtype"):
        model.to(getattr(torch, fixture["dtype"]))
    state = model.state_dict()
    if fixture.get("bin_only") or fixture.get("flax_only"):
        model.config.architectures = ["MarianMTModel"]
        model.config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)
        if fixture.get("bin_only"):
            torch.save(state, folder / "pytorch_model.bin")
        else:
            (folder / "flax_model.msgpack").write_bytes(b"\x80")
        return
    model.save_pretrained(folder, max_shard_size=fixture.get("shard", "1GB"))
    if fixture.get("old_style"):
        save_old_style(model, state, folder)


def save_old_style(model, state, folder):
    """config.json as 4.x wrote it for OPUS-MT, generation settings inside, and
    a file that stores tied tensors and sinusoids several times."""
    config = json.loads((folder / "config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").unlink()
    config["torch_dtype"] = config.pop("dtype")
    generation.pop("_from_model_config", None)
    config.update(
        {**generation, "_name_or_path": "/tmp/opus-mt-tiny", "transformers_version":
         "4.22.0.dev0", "add_bias_logits": False, "add_final_layernorm": False,
         "bos_token_id": 0, "classif_dropout": 0.0, "classifier_dropout": 0.0,
         "forced_eos_token_id": 0, "gradient_checkpointing": False,
         "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
         "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
         "normalize_before": False, "normalize_embedding": False,
         "num_hidden_layers": config["encoder_layers"]})
    write_json(folder / "config.json", dict(sorted(config.items())), indent=2)
    safetensors.torch.save_file(
        {name: tensor.clone().contiguous() for name, tensor in state.items()},
        folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, dtype=torch.float32):
    return MarianMTModel.from_pretrained(
        folder, dtype=dtype, attn_implementation="eager").eval()
