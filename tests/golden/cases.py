"""One call of generate() or forward() as a case of expected.json."""

import torch

from margins import Margins

def nine(value):
    return float(f"{float(value):.9g}")


def rows(tensor):
    return [[nine(x) for x in row] for row in tensor]


def greedy(max_new_tokens, **more):
    return dict(num_beams=1, do_sample=False, max_new_tokens=max_new_tokens,
                **more)


def beams(num_beams, max_new_tokens, best=None, **more):
    return dict(num_beams=num_beams, num_return_sequences=best or num_beams,
                do_sample=False, max_new_tokens=max_new_tokens,
                **{"length_penalty": 1.0, "early_stopping": False, **more})


def random_source(rng, model):
    """3 to 10 ids, no special token but the last."""
    size = model.config.vocab_size
    ids = [i for i in rng.randint(2, size, rng.randint(3, 11))
           if i != model.config.pad_token_id]
    return [int(i) for i in ids] + [0]


def start_of(model, source):
    """What generate() lets a decoder start with: one that is alone, with all of
    the source."""
    if not model.config.is_encoder_decoder:
        return source
    config = model.generation_config
    if config.decoder_start_token_id is not None:
        return [config.decoder_start_token_id]
    return [config.bos_token_id]


class Case:
    """One call of generate() for one sequence."""

    def __init__(self, model, source, params, mask=None, name="", **extra):
        self.model, self.source, self.mask = model, source, mask
        self.params, self.name = params, name
        arguments = dict(params)
        prompt = arguments.pop("decoder_input_ids", None)
        if prompt is not None:
            arguments["decoder_input_ids"] = torch.tensor([prompt])
        self.prompt = prompt or start_of(model, source)
        margins = Margins(model, params["num_beams"])
        out = model.generate(
            torch.tensor([source]),
            attention_mask=torch.tensor([mask or [1] * len(source)]),
            return_dict_in_generate=True, output_scores=True,
            output_logits=True, **arguments, **extra)
        new = out.sequences[:, len(self.prompt):].tolist()
        if params["num_beams"] > 1:
            lengths = (out.beam_indices >= 0).sum(dim=1).tolist()
            self.choices = [{"ids": ids[:n], "score": nine(score)} for
                            ids, n, score in
                            zip(new, lengths, out.sequences_scores)]
            margins.finish(len(new))
            self.margin = margins.least
        else:
            self.choices = [{"ids": new[0]}]
            self.own_log_probs = [
                torch.log_softmax(logits[0], -1)[token].item()
                for logits, token in zip(out.logits, new[0])]
            tops = [torch.topk(s[0], 2)[0].tolist() for s in out.scores]
            self.margin = min(a - b for a, b in tops)

    def ids(self, choice):
        return self.choices[choice]["ids"]

    def json(self, log_probs=False, own=False):
        """`own`: those of the steps, where a step does not compute what a pass
        over everything would; greedy only."""
        if log_probs and own:
            if self.params["num_beams"] == 1:
                self.choices[0]["log_probs"] = [nine(x) for x in self.own_log_probs]
        elif log_probs:
            for choice in self.choices:
                choice["log_probs"] = [nine(x) for x in score(
                    self.model, self.source, choice["ids"], self.mask,
                    self.prompt)]
        return with_mask({"name": self.name, "source": self.source,
                          "params": self.params, "choices": self.choices,
                          "margin": float(f"{self.margin:.3g}")}, self.mask)


def with_mask(value, mask):
    return value if mask is None else {**value, "mask": mask}


@torch.no_grad()
def forward(model, source, target, mask=None):
    """Encoder output and logits; a decoder alone has the source in `target`."""
    if not model.config.is_encoder_decoder:
        return None, model(input_ids=torch.tensor([target]),
                           use_cache=False).logits[0]
    out = model(input_ids=torch.tensor([source]),
                attention_mask=torch.tensor([mask or [1] * len(source)]),
                decoder_input_ids=torch.tensor([target]), use_cache=False)
    return out.encoder_last_hidden_state[0], out.logits[0]


def score(model, source, target, mask=None, prompt=None):
    prompt = prompt or start_of(model, source)
    _, logits = forward(model, source, prompt + target[:-1], mask)
    log_probs = torch.log_softmax(logits, -1)[len(prompt) - 1:]
    return [log_probs[i, token].item() for i, token in enumerate(target)]


def encoder_case(model, source, mask=None, some=None):
    """`some` are the rows to write down, of those that the mask keeps."""
    hidden, _ = forward(model, source, start_of(model, source), mask)
    keep = [i for i, m in enumerate(mask or [1] * len(source)) if m]
    chosen = {} if some is None else {"rows": some}
    keep = keep if some is None else [keep[i] for i in some]
    return with_mask({"source": source, **chosen, "hidden": rows(hidden[keep])},
                     mask)


def logits_case(model, source, target, mask=None, some=None):
    target = start_of(model, source) + target
    _, logits = forward(model, source, target, mask)
    chosen = {} if some is None else {"rows": some}
    logits = logits if some is None else logits[some]
    return with_mask({"source": source, "target": target, **chosen,
                      "logits": rows(logits)}, mask)


@torch.no_grad()
def alignment(model, source, target, mask=None):
    """The last layer's cross-attention, the mean over its heads."""
    mask = mask or [1] * len(source)
    out = model(input_ids=torch.tensor([source]),
                attention_mask=torch.tensor([mask]),
                decoder_input_ids=torch.tensor(
                    [start_of(model, source) + target[:-1]]),
                use_cache=False, output_attentions=True)
    weights = out.cross_attentions[-1]
    # FSMT has no dimension of the batch.
    weights = (weights[0] if weights.dim() == 4 else weights).mean(0)
    return weights[:, [i for i, m in enumerate(mask) if m]]


def score_case(model, source, target, mask=None):
    log_probs = [nine(x) for x in score(model, source, target, mask)]
    case = {"source": source, "target": target, "log_probs": log_probs,
            "sum": nine(sum(log_probs))}
    if model.config.is_encoder_decoder:
        case["alignment"] = rows(alignment(model, source, target, mask))
    return with_mask(case, mask)


def text_case(tokenizer, text, target=False):
    if target:
        ids = tokenizer(text_target=text)["input_ids"]
    else:
        ids = tokenizer(text)["input_ids"]
    vocabulary = tokenizer.encoder
    if target and tokenizer.separate_vocabs:
        vocabulary = tokenizer.target_encoder
    convert = {i: token for token, i in vocabulary.items()}
    return {"text": text, "side": "target" if target else "source", "ids": ids,
            "pieces": [convert[i] for i in ids],
            "decoded": tokenizer.decode(ids, skip_special_tokens=True),
            "decoded_special": tokenizer.decode(ids)}
