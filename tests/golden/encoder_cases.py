"""Checkpoints and cases of the encoder-only families."""

import numpy as np
import torch
import transformers
from sentence_transformers.cross_encoder.modules import LogitScore

import family_checkpoints as checkpoints
import hub_encoders
import hub_experts
import sentence_modules
import task_adapters
from cases import nine, rows
from fixture_cases import MIN_MARGIN, write_expected

LONG_ROWS = [0, 15, 16, 31, 32, 43]  # around the ends of blocks
TOP = 5
COUNT_FROM_PAD = ("roberta", "xlm-roberta", "mpnet", "camembert", "data2vec-text",
                  "roberta-prelayernorm", "xlm-roberta-xl", "esm")
# Decoders without groups of heads.
DECODERS = ("gpt2", "gpt_neox", "bloom", "opt", "mpt", "biogpt", "gptj", "falcon",
            "modernbert-decoder")


def kind_of(fixture):
    name = fixture["model"]
    return next(getattr(module, name) for module in
                (hub_encoders, hub_experts, transformers) if hasattr(module, name))


def build(folder, fixture):
    kind = kind_of(fixture)
    config = kind.config_class(**fixture["config"])
    model = kind._from_config(config, attn_implementation="eager").eval()
    rng = checkpoints.randomise(model, fixture["seed"])
    if config.model_type.startswith("gemma"):
        for name, tensor in model.state_dict().items():
            if "norm" in name:
                tensor -= 1  # stored without the 1
    checkpoints.save(model, folder, fixture)
    if "logit_score" in fixture:
        sentence_modules.write_logit_score(folder, fixture["logit_score"])
    if "sentence" in fixture and not fixture.get("bare"):
        sentence_modules.write(folder, config.hidden_size, fixture["sentence"], rng)


def decoder_reads(config):
    """Whether the head is that of an encoder-decoder's decoder."""
    if config.model_type == "t5gemma":
        return config.is_encoder_decoder
    return config.model_type in ("bart", "mbart", "plbart", "t5", "mt5", "umt5") and (
        config.architectures[0].endswith(("SequenceClassification", "QuestionAnswering")))


def ends_of(config):
    """The last tokens of a source that a decoder reads."""
    if not decoder_reads(config) or config.model_type == "t5gemma":
        return []
    if config.model_type in ("mbart", "plbart"):  # and a language
        return [config.eos_token_id, config.vocab_size - 3]
    return [config.eos_token_id]


def inputs(config, rng):
    """Short, with as many tokens as there are positions or 56, a pair, with
    holes in the mask, and padding: on the left, and where it is not masked."""
    pad = config.pad_token_id
    counted = config.model_type not in COUNT_FROM_PAD
    end = ends_of(config)

    def ids(length):
        found = rng.randint(4, config.vocab_size, length - len(end))
        if getattr(config, "token_dropout", False):
            found[1::4] = config.mask_token_id
        return [int(i) for i in found] + end
    long = min(56, getattr(config, "max_position_embeddings", 56)) - (0 if counted else pad + 1)
    result = [{"source": ids(9)}, {"source": ids(long)}]
    if getattr(config, "type_vocab_size", 0) > 1:
        types = [0] * 6 + [1] * 15 + [config.type_vocab_size - 1] * 3
        result.append({"source": ids(24), "types": types})
    if len(end) > 1:  # the end alone, as in mBART-50, and twice
        result += [{"source": ids(9)[:-1]}, {"source": ids(5)[:-1] + ids(7)}]
    if decoder_reads(config):  # and what is masked
        return result
    if hasattr(config, "num_key_value_heads") or config.model_type in DECODERS:
        # A decoder: no holes, padding on the right, and at the end unmasked.
        result.append({"source": ids(8) + [pad] * 3, "mask": [1] * 8 + [0] * 3})
        return result + [{"source": ids(7) + [pad] * 2}]
    mask = [1] + [int(x) for x in rng.rand(18) < 0.6] + [1]
    result.append({"source": [i if m or counted else pad for i, m in
                              zip(ids(20), mask)], "mask": mask})
    result.append({"source": [pad] * 5 + ids(8), "mask": [0] * 5 + [1] * 8})
    if not counted:
        result.append({"source": ids(4) + [pad] + ids(3)})
    return result


@torch.no_grad()
def run(model, given):
    arguments = {"input_ids": given["source"], "attention_mask":
                 given.get("mask", [1] * len(given["source"]))}
    if "types" in given:
        arguments["token_type_ids"] = given["types"]
    return model(**{name: torch.tensor([x]) for name, x in arguments.items()})[0][0]


def kept(given, values):
    return values[[i for i, m in enumerate(given["mask"]) if m]
                  if "mask" in given else slice(None)]


def some_rows(given, values):
    """The rows that the mask keeps; of a long source a few."""
    values = kept(given, values)
    if len(values) <= max(LONG_ROWS):
        return {}, values
    return {"rows": LONG_ROWS}, values[LONG_ROWS]


def embeddings(model, folder, fixture, given):
    values = run(model, given)
    some, few = some_rows(given, values)
    whole = kept(given, values)
    pooled = {mode: [nine(x) for x in sentence_modules.pool(whole, mode)]
              for mode in sentence_modules.POOLINGS}
    if given.get("mask", [1])[0] == 0:
        del pooled["cls"]  # would be of padding
    embedding = sentence_modules.embed(folder, whole, fixture["sentence"])
    result = [("encoder", {**given, **some, "hidden": rows(few)})]
    if fixture["sentence"]["pooling"] in pooled:
        pooled["embedding"] = [nine(x) for x in embedding]
    return result + [("embed", {**given, **pooled})]


def activation(config):
    """What a pipeline applies, or what a CrossEncoder's config names instead."""
    named = getattr(config, "sentence_transformers", {}).get("activation_fn") or (
        getattr(config, "sbert_ce_default_activation_function", ""))
    if named.endswith("Identity") or config.problem_type == "regression":
        return "none", lambda x: x
    if config.problem_type == "multi_label_classification" or config.num_labels == 1:
        return "sigmoid", torch.sigmoid
    return "softmax", lambda x: torch.softmax(x, -1)


def last_layer(model):
    for name in ("score", "classification_head", "classifier"):
        if hasattr(model, name):
            head = getattr(model, name)
            return getattr(head, "out_proj", head)


@torch.no_grad()
def sequence_classes(model, folder, fixture, given):
    if given.get("mask", [1])[0] == 0:
        return []  # heads take the first token, padding or not
    last = last_layer(model)
    read = []
    hook = last.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    logits = run(model, given)
    hook.remove()
    terms = (last.weight * read[0].reshape(-1, read[0].shape[-1])[-1]).flatten()
    if last.bias is not None:
        terms = torch.cat([terms, last.bias])
    name, function = activation(model.config)
    return [("classify", {
        **given, "activation": name, "logits": [nine(x) for x in logits],
        "terms": nine(terms.norm()), "scores": [nine(x) for x in function(logits)]})]


def next_sentence(model, folder, fixture, given):
    model.classifier = model.cls.seq_relationship
    return sequence_classes(model, folder, fixture, given)


@torch.no_grad()
def token_scores(model, folder, fixture, given):
    """LogitScore of sentence-transformers, by its own class."""
    module = LogitScore.load(folder / "1_LogitScore")
    keep = kept(given, torch.tensor(given["source"])).tolist()
    output = model(torch.tensor([keep]), output_hidden_states=True)
    score = module({"causal_logits": output.logits})["scores"][0]
    weight = model.lm_head.weight[module.true_token_id].clone()
    if module.false_token_id is not None:
        weight -= model.lm_head.weight[module.false_token_id]
    terms = (weight * output.hidden_states[-1][0, -1]).norm()
    return [("classify", {
        **given, "activation": "sigmoid", "logits": [nine(score[0])],
        "terms": nine(terms), "scores": [nine(torch.sigmoid(score)[0])]})]


@torch.no_grad()
def token_classes(model, folder, fixture, given):
    last = last_layer(model)
    read = []
    hook = last.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0][0]))
    some, few = some_rows(given, run(model, given))
    hook.remove()
    if fixture["seed"] >= 8000:
        some = {**some, "terms": nine(min((last.weight * row).norm()
                                          for row in read[0]))}
    return [("classify_tokens", {**given, **some, "logits": rows(few),
                                 "scores": rows(torch.softmax(few, -1))})]


@torch.no_grad()
def spans(model, folder, fixture, given):
    """The logits of the begin and of the end at each token."""
    last = getattr(model, "qa_outputs", None) or model.classifier
    read = []
    hook = last.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0][0]))
    def both(**inputs):
        found = model(**inputs)
        return [torch.stack([found.start_logits, found.end_logits], -1)]
    some, few = some_rows(given, run(both, given))
    hook.remove()
    terms = min((last.weight * row).norm() for row in read[0])
    return [("classify_tokens", {**given, **some, "logits": rows(few),
                                 "terms": nine(terms)})]


@torch.no_grad()
def choice(model, folder, fixture, given):
    """The logit of one choice: those of others do not change it."""
    if given.get("mask", [1])[0] == 0:
        return []
    if "mask" in given and getattr(model.config, "summary_type", "") == "mean":
        return []  # would be of all tokens
    read = []
    hook = model.classifier.register_forward_pre_hook(
        lambda _, inputs: read.append(inputs[0]))
    def one(**inputs):
        return model(**{name: x.unsqueeze(1) for name, x in inputs.items()})
    logits = run(one, given)
    hook.remove()
    last = model.classifier
    terms = torch.cat([(last.weight * read[0]).flatten(), last.bias])
    return [("classify", {**given, "logits": [nine(x) for x in logits],
                          "terms": nine(terms.norm())})]


def masked_tokens(model, folder, fixture, given):
    """The likeliest tokens at the first, a middle and the last kept position."""
    logits = run(model, given)
    where = [i for i, m in enumerate(given.get("mask", [1] * len(logits))) if m]
    where = sorted({where[0], where[len(where) // 2], where[-1]})
    log_probs = torch.log_softmax(logits[where], -1)
    best, ids = torch.topk(log_probs, TOP + 1)
    assert (best[:, :-1] - best[:, 1:]).min() > MIN_MARGIN
    return [("fill_mask", {
        **given, "at": where, "ids": ids[:, :TOP].tolist(),
        "log_probs": rows(best[:, :TOP]), "logits": rows(logits[where[:1]])})]


KINDS = {"CausalLM": token_scores, "Model": embeddings, "Encoder": embeddings,
         "SequenceClassification": sequence_classes,
         "NextSentencePrediction": next_sentence, "QuestionAnswering": spans, "MultipleChoice": choice,
         "TokenClassification": token_classes, "MaskedLM": masked_tokens}


def expected(folder, fixture):
    kind = kind_of(fixture)
    model = checkpoints.load(folder, kind)
    fixture.get("change", lambda _: None)(model)
    make = next(make for name, make in KINDS.items() if kind.__name__.endswith(name))
    value = {"transformers": transformers.__version__}
    rng = np.random.RandomState(fixture["seed"] + 1)
    for given in inputs(model.config, rng):
        for part, case in make(model, folder, fixture, given):
            value.setdefault(part, []).append(case)
    if make is token_scores:
        value["labels"] = ["LABEL_0"]
    elif make in (sequence_classes, token_classes):
        labels = model.config.id2label
        value["labels"] = [labels[i] for i in range(len(labels))]
    if make is next_sentence:
        value["labels"] = ["is_next", "not_next"]
    if "adapters" in fixture:
        value["adapted"] = task_adapters.cases(
            model, folder, fixture, run, kept, inputs(model.config, rng)[::2])
    write_expected(folder / "expected.json", value)
    if "adapters" in fixture:
        task_adapters.spell(folder, fixture)
    fixture.get("respell", lambda _: None)(folder)
