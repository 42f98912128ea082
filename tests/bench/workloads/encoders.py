"""What encoders.py measures: random ids, and how the peer gets them."""

import dataclasses
import random

from checkpoints import random_encoder


@dataclasses.dataclass(frozen=True)
class Workload:
    lengths: tuple     # of the sources: from, to
    peer_sorts: bool   # else its batches are what comes together


WORKLOADS = {
    "equal": Workload((128, 128), peer_sorts=False),
    "mixed": Workload((8, 256), peer_sorts=False),
    "mixed-sorted": Workload((8, 256), peer_sorts=True),
}
# Source tokens of a run; a token of BERT-base costs 8 times as much.
TOKENS = {"minilm": 48000, "bert-base": 12000, "deberta-small": 16000,
          "deberta-base": 8000, "xlm-r-large": 4000, "qwen3-0.6b": 4000}


def sources(name, tokens, seed=3):
    """At least so many tokens; the same for workloads of the same lengths."""
    low, high = WORKLOADS[name].lengths
    draw = random.Random(f"{low}{high}{seed}")
    result, count = [], 0
    while count < tokens:
        result.append([draw.randrange(random_encoder.FIRST_ID,
                                      random_encoder.VOCAB)
                       for _ in range(draw.randint(low, high))])
        count += len(result[-1])
    return result
