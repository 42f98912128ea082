#!/usr/bin/env python3
"""Writes tests/golden/hub_shapes: tiny models in the shapes in which people have
them on a hub, and what transformers computes with them.

    make_hub_shapes.py [NAME...]

Needs what make_golden.py needs, and peft. A shape is a function below with
@shape, named as its directory; it writes the files and returns what is
expected, in the sections of make_golden.py ("encoder", "classify", "generate")
or these of the test (tests/engine/runtime/hub_shapes_test.cc):

  "load": the directory to load, within that of the shape
  "adapter": the same of a LoRA adapter that is applied to it
  "skipped": the tensors that the model does not have, each of them
  "tokens": the tokens of the model and of its tokenizer

Weights are random, from a seed for each shape. `transformers` loads what it can
(from_pretrained); where it cannot, as with "module." before all names, the
expectation is of the model whose weights were written.
"""

import json
import pathlib
import shutil
import sys
import zlib

import peft
import tokenizers
import torch
import transformers

HERE = pathlib.Path(__file__).parent / "hub_shapes"
SHAPES = {}
SOURCES = [[5, 9, 22, 3, 17, 2], [7, 30, 11]]


def shape(function):
    SHAPES[function.__name__.replace("_", "-")] = function
    return function


# Models.

def randomised(model):
    """Weights large enough for every one of them to show in the results."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                weight.normal_(0, 1.5 / weight.shape[-1] ** 0.5)
            else:
                weight.normal_(1.0 if "orm" in name and name.endswith("weight")
                               else 0.0, 0.2)
    return model.eval()


def bert(kind, prefix="Bert", **more):
    config = getattr(transformers, prefix + "Config")(
        vocab_size=37, hidden_size=18, num_hidden_layers=2,
        num_attention_heads=3, intermediate_size=22,
        max_position_embeddings=40, pad_token_id=1, **more)
    config.architectures = [prefix + kind]
    config._attn_implementation = "eager"
    return randomised(getattr(transformers, prefix + kind)(config))


def llama(**more):
    config = transformers.LlamaConfig(
        vocab_size=37, hidden_size=20, num_hidden_layers=2,
        num_attention_heads=5, num_key_value_heads=1, head_dim=4,
        intermediate_size=22, max_position_embeddings=64, bos_token_id=1,
        eos_token_id=2, **{"tie_word_embeddings": False, **more})
    config.architectures = ["LlamaForCausalLM"]
    config._attn_implementation = "eager"
    return randomised(transformers.LlamaForCausalLM(config))


def gpt2(**more):
    config = transformers.GPT2Config(
        vocab_size=37, n_embd=18, n_layer=2, n_head=3, n_positions=64,
        bos_token_id=1, eos_token_id=2, **more)
    config.architectures = ["GPT2LMHeadModel"]
    config._attn_implementation = "eager"
    return randomised(transformers.GPT2LMHeadModel(config))


# Files.

def write_config(model, folder):
    """config.json, and generation_config.json where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(folder)
    if getattr(model, "generation_config", None) and model.can_generate():
        model.generation_config.save_pretrained(folder)


def save_torch(model, folder, state=None, name="pytorch_model.bin", **options):
    write_config(model, folder)
    torch.save(model.state_dict() if state is None else state, folder / name,
               **options)


def renamed(state, change):
    return {change(name): tensor for name, tensor in state.items()}


# Expectations.

@torch.no_grad()
def encoder(model):
    return [{"source": ids, "hidden":
             model(torch.tensor([ids])).last_hidden_state[0].tolist()}
            for ids in SOURCES]


@torch.no_grad()
def classify(model):
    return [{"source": ids, "logits": model(torch.tensor([ids])).logits[0].tolist()}
            for ids in SOURCES]


@torch.no_grad()
def generate(model, count=9, sources=SOURCES):
    cases = []
    for source in sources:
        ids, log_probs = list(source), []
        for _ in range(count):
            row = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
            ids.append(int(row.argmax()))
            log_probs.append(float(row.max()))
            if ids[-1] == model.config.eos_token_id:
                break
        cases.append({"name": "greedy", "source": source,
                      "params": {"max_new_tokens": count, "num_beams": 1,
                                 "do_sample": False},
                      "choices": [{"ids": ids[len(source):],
                                   "log_probs": log_probs}]})
    return cases


def loaded(kind, folder):
    return getattr(transformers, kind).from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()


# Shapes: files of torch, and names.

@shape
def bert_torch_of_tensorflow(folder):
    """bert-base-uncased: pretraining heads, buffers, gamma and beta, and matrices
    that were transposed when they came from TensorFlow."""
    model = bert("ForPreTraining")
    state = renamed(model.state_dict(), lambda name: name.replace(
        "LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"))
    for name, tensor in state.items():
        if tensor.dim() == 2 and "dense" in name:
            state[name] = tensor.T.contiguous().T
    state["bert.embeddings.position_ids"] = torch.arange(40)[None]
    model.config.architectures = ["BertModel"]
    save_torch(model, folder, state)
    return {"encoder": encoder(loaded("BertModel", folder)),
            "skipped": [name for name in state if name.startswith("cls.")
                        and "seq_relationship" not in name]}


@shape
def bert_torch_older(folder):
    """What torch wrote before 1.6, of a model without a head's prefix."""
    model = bert("Model")
    save_torch(model, folder, _use_new_zipfile_serialization=False)
    return {"encoder": encoder(loaded("BertModel", folder))}


@shape
def roberta_compiled(folder):
    """torch.compile's prefix, and the head of another class."""
    model = bert("ForSequenceClassification", "Roberta", num_labels=3)
    state = renamed(model.state_dict(), lambda name: "_orig_mod." + name)
    for name in "weight", "bias":
        state["_orig_mod.qa_outputs." + name] = torch.ones(2)
    state["_orig_mod.lm_head.bias"] = torch.ones(37)
    save_torch(model, folder, state)
    return {"classify": classify(model)}


@shape
def llama_data_parallel_shards(folder):
    """DataParallel's prefix, a value head, buffers; shards of torch without an
    index; weights in bfloat16, buffers in float64."""
    model = llama().to(torch.bfloat16)
    state = renamed(model.state_dict(), lambda name: "module." + name)
    state["module.model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(
        2, dtype=torch.float64)
    state["module.v_head.summary.weight"] = torch.ones(1, 20)
    names = sorted(state)
    for i, part in enumerate((names[:7], names[7:])):
        save_torch(model, folder, {name: state[name] for name in part},
                   name=f"pytorch_model-0000{i + 1}-of-00002.bin")
    whole = llama()  # whose rotary frequencies were never bfloat16
    whole.load_state_dict(model.state_dict())
    return {"generate": generate(whole), "skipped": ["v_head.summary.weight"]}


@shape
def gpt2_of_2019(folder):
    """No prefix and no head; the causal masks were saved."""
    model = gpt2()
    state = renamed(
        {name: tensor for name, tensor in model.state_dict().items()
         if name != "lm_head.weight"},
        lambda name: name.removeprefix("transformer."))
    for layer in range(2):
        state[f"h.{layer}.attn.bias"] = torch.ones(
            64, 64, dtype=torch.uint8).tril()[None, None]
        state[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    save_torch(model, folder, state)
    return {"generate": generate(loaded("GPT2LMHeadModel", folder))}


# Shapes: LoRA adapters, which peft merges.

def adapted(model, **options):
    """The model with an adapter of random weights."""
    changed = peft.get_peft_model(model, peft.LoraConfig(**options))
    with torch.no_grad():
        for name, weight in changed.named_parameters():
            if "lora_" in name or "modules_to_save" in name:
                weight.normal_(0, 0.3)
            elif "trainable_tokens_delta" in name:
                weight.normal_(0, 0.8)
    return changed.eval()


@shape
def llama_lora_beside(folder):
    """A model and its adapter in one directory; rank-stabilised, with an alpha
    of its own for one module; embeddings too, and the head as a whole."""
    model = llama()
    model.save_pretrained(folder)
    changed = adapted(
        model, r=3, lora_alpha=5, use_rslora=True,
        alpha_pattern={"layers.1.mlp.up_proj": 7},
        target_modules=["q_proj", "v_proj", "up_proj", "embed_tokens"],
        modules_to_save=["lm_head"])
    changed.save_pretrained(folder)
    return {"generate": generate(changed.merge_and_unload())}


@shape
def gpt2_lora(folder):
    """An adapter of its own, in torch's format, of matrices that GPT-2 has as
    [in, out]; queries, keys and values are one of them."""
    model = gpt2()
    model.save_pretrained(folder / "model")
    changed = adapted(model, r=2, lora_alpha=3, fan_in_fan_out=True,
                      target_modules=["c_attn", "c_fc"])
    changed.save_pretrained(folder / "adapter", safe_serialization=False)
    return {"generate": generate(changed.merge_and_unload()),
            "load": "model", "adapter": "adapter"}


@shape
def bert_lora_labels(folder):
    """A bare encoder, and an adapter that has the head which was trained."""
    model = bert("ForSequenceClassification", num_labels=3)
    save_torch(model, folder / "model", model.bert.state_dict())
    changed = adapted(model, r=4, target_modules="all-linear",
                      task_type="SEQ_CLS")
    changed.save_pretrained(folder / "adapter")
    return {"classify": classify(changed.merge_and_unload()),
            "load": "model", "adapter": "adapter"}


def write_words(folder, count):
    """A tokenizer of `count` words."""
    words = {"<s>": 0, "<pad>": 1, "</s>": 2,
             **{f"w{i}": i for i in range(3, count)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "<pad>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>",
        "bos_token": "<s>", "pad_token": "<pad>"}) + "\n")


@shape
def llama_lora_more_tokens(folder):
    """An adapter with tokens of its own, whose table is saved as a whole, and
    their tokenizer; logits are tied to the table."""
    model = llama(tie_word_embeddings=True)
    model.save_pretrained(folder / "model")
    write_words(folder / "model", 37)
    model.resize_token_embeddings(41, mean_resizing=False)
    with torch.no_grad():
        model.model.embed_tokens.weight[37:].normal_(0, 0.8)
    changed = adapted(model, r=2, lora_alpha=3, target_modules=["q_proj"])
    changed.save_pretrained(folder / "adapter", save_embedding_layers=True)
    write_words(folder / "adapter", 41)
    return {"generate": generate(changed.merge_and_unload(),
                                 sources=SOURCES + [[38, 9, 40]]),
            "load": "model", "adapter": "adapter", "tokens": 41}


def trained_tokens(folder, tied, indices):
    model = llama(tie_word_embeddings=tied)
    model.save_pretrained(folder / "model")
    changed = adapted(model, r=2, lora_alpha=3, target_modules=["v_proj"],
                      trainable_token_indices=indices)
    changed.save_pretrained(folder / "adapter", save_embedding_layers=False)
    return {"generate": generate(changed.merge_and_unload()),
            "load": "model", "adapter": "adapter"}


@shape
def llama_lora_trained_tokens(folder):
    """An adapter that has the rows of some tokens; logits are tied to them."""
    return trained_tokens(folder, True, [7, 3, 30, 11])


@shape
def llama_lora_trained_logits(folder):
    """The same with rows of the logits, which are a matrix of their own."""
    return trained_tokens(folder, False,
                          {"embed_tokens": [9, 4], "lm_head": [5, 6, 7]})


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name, make in SHAPES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        torch.manual_seed(zlib.crc32(name.encode()))
        expected = {"transformers": transformers.__version__, **make(folder)}
        for page in folder.rglob("README.md"):
            page.unlink()
        (folder / "expected.json").write_text(json.dumps(expected) + "\n")
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        print(f"{name}: {size} bytes")


main()
