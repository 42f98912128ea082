"""What translation.py measures: named workloads, as jobs that both sides read."""

import dataclasses
import pathlib
import random

from harness import attend_processes


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    sources: str          # "short", "long", "one": random ids; "text": real ones
    beams: int = 1
    in_flight: int = 64
    new_tokens: int = 32  # forced; 0: natural lengths
    # How the peer gets them: "all" at once (it sorts), or "batches" of 32 in
    # order of arrival. Attend takes them in order, each as soon as it can.
    arrival: str = "all"
    counts: str = "output tokens"  # what a second's figure counts


WORKLOADS = [
    Workload("greedy", "short"),
    Workload("beam4", "short", beams=4, in_flight=16),
    Workload("alone", "one", in_flight=1),
    Workload("encoder", "short", new_tokens=1, counts="source tokens"),
    Workload("greedy-long", "long"),
    Workload("beam4-long", "long", beams=4, in_flight=16),
    Workload("encoder-long", "long", new_tokens=1, counts="source tokens"),
    Workload("natural-greedy", "text", in_flight=256, new_tokens=0),
    Workload("natural-beam4", "text", beams=4, in_flight=256, new_tokens=0),
    Workload("arrival-greedy", "text", in_flight=256, new_tokens=0,
             arrival="batches"),
    Workload("arrival-beam4", "text", beams=4, in_flight=256, new_tokens=0,
             arrival="batches"),
]

LENGTHS = {"short": (8, 60), "long": (200, 500), "one": (18, 22)}
PEER_BATCH = 32  # of natural lengths
FIRST_RANDOM_ID, EOS = 8000, 0


def random_sources(kind, count, vocab, eos=EOS, seed=3):
    """Ids between the bundled model's tokens and <pad>, then end of sequence."""
    draw = random.Random(f"{kind}{seed}")
    low, high = LENGTHS[kind]
    return [[draw.randrange(FIRST_RANDOM_ID, vocab - 1)
             for _ in range(draw.randint(low, high) - 1)] + [eos]
            for _ in range(count)]


def text_sources(path, count, model):
    """The ids of real sentences, one a line, as transformers tokenises them."""
    from transformers import MarianTokenizer
    tokenizer = MarianTokenizer.from_pretrained(model)
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    texts = [line for line in lines if line.strip()][:count]
    return [tokenizer(text)["input_ids"] for text in texts]


def count_of(workload, requests):
    """How many of `requests` a workload takes, so that none takes too long."""
    if workload.in_flight == 1:
        return max(4, requests // 16)
    if workload.sources == "long":
        return max(16, requests // 4)
    if workload.sources == "short" and workload.beams > 1:
        return max(16, requests // 2)
    return requests


def job(workload, sources):
    result = {"sources": sources, "beams": workload.beams,
              "in_flight": workload.in_flight, "arrival": workload.arrival,
              "length_penalty": 0}
    if workload.new_tokens:
        return result | {"max_new_tokens": workload.new_tokens,
                         "min_new_tokens": workload.new_tokens}
    return result | {"max_new_tokens": 128, "length_penalty": 1,
                     "peer_batch": PEER_BATCH}


def work(workload, job_, answer):
    """What a run's seconds are divided by, or divided into."""
    if workload.counts == "source tokens":
        return sum(map(len, job_["sources"]))
    return answer["tokens"]


BUNDLED = attend_processes.ROOT / "models/en-de"
