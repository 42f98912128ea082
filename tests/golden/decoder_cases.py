"""Checkpoints and cases of decoders alone: what they continue is the source."""

from types import SimpleNamespace

import numpy as np
import torch
import transformers

import family_checkpoints as checkpoints
from checkpoints import turn
from cases import Case, beams, greedy, logits_case, score_case
from fixture_cases import robust, write_expected

TOKENS = dict(vocab_size=67, bos_token_id=0, pad_token_id=1, eos_token_id=2)


# Matrices whose results are added to the residual.
OUT_OF_BRANCHES = ("attn.out_proj.weight", "attention.out_proj.weight",
                   "self_attn.dense.weight", "attention.dense.weight",
                   "attn.c_proj.weight", "mlp.c_proj.weight", "fc_out.weight",
                   "mlp.fc2.weight", "dense_4h_to_h.weight")


class Turned:
    """A last layer's feed-forward block in the words of checkpoints.turn()."""

    def __init__(self, fc1, fc2, transposed=False):
        self.fc1, self.fc2 = (SimpleNamespace(
            weight=fc.weight.T if transposed else fc.weight) for fc in (fc1, fc2))


def last_block(model):
    """None where it is gated."""
    kind = model.config.model_type
    if kind == "gpt2":
        mlp = model.transformer.h[-1].mlp
        return Turned(mlp.c_fc, mlp.c_proj, transposed=True)
    if kind == "bloom":
        mlp = model.transformer.h[-1].mlp
        return Turned(mlp.dense_h_to_4h, mlp.dense_4h_to_h)
    if kind == "mpt":
        ffn = model.transformer.blocks[-1].ffn
        return Turned(ffn.up_proj, ffn.down_proj)
    if kind == "starcoder2":
        mlp = model.model.layers[-1].mlp
        return Turned(mlp.c_fc, mlp.c_proj)
    if kind == "opt":
        return model.model.decoder.layers[-1]
    if kind == "xglm":
        return model.model.layers[-1]
    if kind == "biogpt":
        return model.biogpt.layers[-1]
    if hasattr(model.base_model, "encoder"):
        layer = model.base_model.encoder.layer[-1]
        return Turned(layer.intermediate.dense, layer.output.dense)
    return None


@torch.no_grad()
def diversify(model, rng):
    """Branches that are large against the token's own vector, which would repeat
    it for ever, and ends that come up."""
    if (block := last_block(model)) is not None:
        turn(block, rng)
    else:
        for name, tensor in model.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight", "Wo.weight",
                              *OUT_OF_BRANCHES)):
                tensor *= 2
    eos = model.config.get_text_config().eos_token_id
    model.get_input_embeddings().weight[eos] *= 1.3


def make_config(fixture):
    fields = dict(fixture["config"])
    tied = {"tie_word_embeddings": not fixture.get("untied", False)}
    if "text_config" in fields:
        fields["text_config"] = {**TOKENS, **tied, **fields["text_config"]}
    else:
        fields = {**TOKENS, **fields}
    name = fixture.get("config_name", fixture["model"])
    return getattr(transformers, name + "Config")(**{**tied, **fields})


def make(fixture):
    """A model of random weights."""
    config = make_config(fixture)
    endings = ["ForCausalLM", "LMHeadModel", "Decoder"]
    if "text_config" in fixture["config"]:
        endings = ["ForConditionalGeneration"]
    kind = next(filter(None, (getattr(transformers, fixture["model"] + ending, None)
                              for ending in endings)))
    model = kind._from_config(config, attn_implementation="eager").eval()
    diversify(model, checkpoints.randomise(model, fixture["weights"]))
    model.generation_config = transformers.GenerationConfig.from_model_config(
        config)
    model.generation_config.update(**fixture.get("generation", {}))
    return model


def build(folder, fixture):
    checkpoints.save(make(fixture), folder, fixture)


def start_anew(module, args, kwargs):
    """A rotary module forgets what it was grown for by another sequence."""
    positions = kwargs["position_ids"] if "position_ids" in kwargs else args[1]
    if positions.min() == 0:
        module.inv_freq = module.original_inv_freq.clone()
        module.max_seq_len_cached = module.original_max_seq_len


def source_maker(fixture):
    """Prompts of one block or of three."""
    least, most = (33, 44) if fixture.get("long") else (2, 12)

    def random_source(rng, model):
        return [int(i) for i in rng.randint(3, 67, rng.randint(least, most))]
    return random_source


def makers(model, fixture):
    length = 30 if fixture.get("long") else 20
    return [lambda s: Case(model, s, greedy(length), name="greedy"),
            lambda s: Case(model, s, beams(4, length), name="beams"),
            lambda s: Case(model, s, beams(3, 5, length_penalty=0.6,
                                           early_stopping="never"),
                           name="beams, cut"),
            lambda s: Case(model, s, greedy(
                12, repetition_penalty=1.3, no_repeat_ngram_size=2,
                min_new_tokens=5), name="greedy, of prompt and result")]


def expected(folder, fixture):
    model = checkpoints.load(folder, type(make(fixture)))
    original = fixture.get("original")
    if original:
        model.model.rotary_emb.register_forward_pre_hook(start_anew,
                                                         with_kwargs=True)
    rng = np.random.RandomState(fixture["seed"] + 1)
    cases = robust(makers(model, fixture), model, rng, 2,
                   make_source=source_maker(fixture))
    whole = cases[0].source + cases[0].ids(0)
    value = {"transformers": transformers.__version__}
    value["logits"] = [logits_case(
        model, [], whole[:-1],
        some=[0, 1, len(whole) // 2, len(whole) - 2])]
    # A whole prompt, and what comes after one.
    value["score"] = [score_case(model, whole[:1], whole[1:]),
                      score_case(model, cases[1].source, cases[0].ids(0))]
    if original:
        value["score"] += [score_case(model, whole[:1], whole[1:original + more])
                           for more in (0, 1, 2)]
    value["generate"] = [case.json(log_probs=i % 2 == 0, own=bool(original))
                         for i, case in enumerate(cases)]
    write_expected(folder / "expected.json", value)
