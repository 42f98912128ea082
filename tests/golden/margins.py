"""How narrowly one generate() was decided."""

import math

import torch
import transformers

NOTHING = -1e8  # scores below are transformers' "does not exist"


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
