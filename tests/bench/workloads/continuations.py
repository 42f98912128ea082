"""What continuations.py measures: prompts of random ids, and how many new ones."""

import dataclasses
import random

LOWEST_ID, HIGHEST_ID = 100, 49000  # ordinary tokens


@dataclasses.dataclass(frozen=True)
class Workload:
    prompts: int
    tokens: int  # of each prompt
    in_flight: int
    new_tokens: int

    def counted(self):
        """Tokens of which a figure is: new ones, or those of prompts."""
        return self.prompts * (self.tokens if self.new_tokens == 1
                               else self.new_tokens)

    def rows(self):
        """Rows that all layers compute, and those that have logits."""
        new = self.prompts * self.new_tokens
        return self.prompts * (self.tokens - 1) + new, new


# Of SmolLM2-135M.
WORKLOADS = {"one": Workload(2, 32, 1, 128), "sixteen": Workload(16, 32, 16, 64),
             "prompt": Workload(2, 1024, 1, 1)}
# For larger models.
AT_SIZE = {"one": Workload(1, 32, 1, 64), "sixteen": Workload(16, 32, 16, 32),
           "prompt": Workload(1, 1024, 1, 1), "prompt-4k": Workload(1, 4096, 1, 1),
           "prompt-16k": Workload(1, 16384, 1, 1)}


def ids(count, seed):
    draw = random.Random(str(seed))
    return [draw.randrange(LOWEST_ID, HIGHEST_ID) for _ in range(count)]


def job(name, workload, seed):
    return {"sources": [ids(workload.tokens, f"{name} {seed} {i}")
                        for i in range(workload.prompts)],
            "in_flight": workload.in_flight,
            "max_new_tokens": workload.new_tokens,
            "min_new_tokens": workload.new_tokens}
