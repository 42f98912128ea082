"""One call of generate() or forward() as a case of expected.json."""

import math

import torch
import transformers

NOTHING = -1e8  # scores below are transformers' "does not exist"


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


class Margins:
    """Watches one generate() and keeps the smallest gap that decided."""

    def __init__(self, model, num_beams):
        self.least, self.k, self.final = math.inf, num_beams, []
        for name in ("_get_top_k_continuations",
                     "_get_running_beams_for_next_iteration",
                     "_update_finished_beams", "_check_early_stop_heuristic"):
            original = getattr(type(model), name)
            bound = getattr(transformers.GenerationMixin, name)
            if name == "_check_early_stop_heuristic":
                bound = staticmethod(original).__func__
            else:
                bound = original.__get__(model)
            setattr(model, name, getattr(self, name[1:])(bound))

    def gap(self, better, worse):
        if better > NOTHING and worse > NOTHING:
            self.least = min(self.least, abs(float(better) - float(worse)))

    def get_top_k_continuations(self, call):
        def watch(**args):
            self.top = torch.topk(args["accumulated_log_probs"][0],
                                  args["beams_to_keep"] + 1)[0].tolist()
            return call(**args)
        return watch

    def get_running_beams_for_next_iteration(self, call):
        def watch(**args):
            ends = args["next_token_hits_stopping_criteria"][0].tolist()
            k, top = self.k, self.top
            if ends[k - 1] or ends[k]:
                self.gap(top[k - 1], top[k])
            live = [s for s, end in zip(top, ends + [False]) if not end]
            if len(live) > k:
                self.gap(live[k - 1], live[k])
            return call(**args)
        return watch

    def update_finished_beams(self, call):
        def watch(**args):
            before = args["beam_scores"][0].tolist()
            result = call(**args)
            self.final = result[1][0].tolist()
            hits = (args["next_token_hits_stopping_criteria"]
                    & args["top_num_beam_mask"])[0].tolist()
            length = args["cur_len"] + 1 - args["decoder_prompt_len"]
            new = [s / length ** args["length_penalty"]
                   for s, hit in zip(self.top, hits) if hit]
            merged = sorted(before + new, reverse=True)
            if new and self.k < len(merged):
                self.gap(merged[self.k - 1], merged[self.k])
            return result
        return watch

    def check_early_stop_heuristic(self, call):
        def watch(**args):
            if args["is_sent_finished"].all():
                length = args["cur_len"] - args["decoder_prompt_len"]
                if args["early_stopping"] == "never" and args["length_penalty"] > 0:
                    length = args["max_length"] - args["decoder_prompt_len"]
                self.gap(args["running_beam_scores"][0, 0]
                         / length ** args["length_penalty"],
                         args["beam_scores"][0].min())
            return call(**args)
        return watch

    def finish(self, returned):
        for better, worse in zip(self.final[:returned], self.final[1:]):
            self.gap(better, worse)


class Case:
    """One call of generate() for one sequence."""

    def __init__(self, model, source, params, mask=None, name="", **extra):
        self.model, self.source, self.mask = model, source, mask
        self.params, self.name = params, name
        arguments = dict(params)
        prompt = arguments.pop("decoder_input_ids", None)
        if prompt is not None:
            arguments["decoder_input_ids"] = torch.tensor([prompt])
        self.prompt = prompt or [model.generation_config.decoder_start_token_id]
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
            tops = [torch.topk(s[0], 2)[0].tolist() for s in out.scores]
            self.margin = min(a - b for a, b in tops)

    def ids(self, choice):
        return self.choices[choice]["ids"]

    def json(self, log_probs=False):
        if log_probs:
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
    out = model(input_ids=torch.tensor([source]),
                attention_mask=torch.tensor([mask or [1] * len(source)]),
                decoder_input_ids=torch.tensor([target]), use_cache=False)
    return out.encoder_last_hidden_state[0], out.logits[0]


def score(model, source, target, mask=None, prompt=None):
    prompt = prompt or [model.generation_config.decoder_start_token_id]
    _, logits = forward(model, source, prompt + target[:-1], mask)
    log_probs = torch.log_softmax(logits, -1)[len(prompt) - 1:]
    return [log_probs[i, token].item() for i, token in enumerate(target)]


def encoder_case(model, source, mask=None):
    hidden, _ = forward(model, source, [model.config.decoder_start_token_id], mask)
    keep = [i for i, m in enumerate(mask or [1] * len(source)) if m]
    return with_mask({"source": source, "hidden": rows(hidden[keep])}, mask)


def logits_case(model, source, target, mask=None):
    target = [model.generation_config.decoder_start_token_id] + target
    _, logits = forward(model, source, target, mask)
    return with_mask({"source": source, "target": target,
                      "logits": rows(logits)}, mask)


def score_case(model, source, target, mask=None):
    log_probs = [nine(x) for x in score(model, source, target, mask)]
    return with_mask({"source": source, "target": target, "log_probs": log_probs,
                      "sum": nine(sum(log_probs))}, mask)


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
