"""sampling.json: distributions that tokens are drawn from."""

import numpy as np
import torch
from transformers.generation import logits_process as processors

from cases import nine
from fixture_cases import write_expected


def write_sampling(path):
    """Temperature, top-k, top-p, min-p in transformers' order."""
    rng = np.random.RandomState(7)
    logits = [nine(x) for x in (3 * rng.randn(60)).astype(np.float32)]
    cases = []
    for params in (dict(), dict(temperature=0.5), dict(temperature=2.5),
                   dict(top_k=1), dict(top_k=5), dict(top_k=100),
                   dict(top_p=0.5), dict(top_p=0.9), dict(top_p=0.01),
                   dict(min_p=0.1), dict(min_p=1.0),
                   dict(temperature=1.6, top_k=12, top_p=0.8, min_p=0.05),
                   dict(temperature=0.7, top_k=20, top_p=0.95),
                   dict(temperature=3.0, top_k=30, min_p=0.2)):
        scores = torch.tensor([logits], dtype=torch.float32)
        for name, make in (("temperature", processors.TemperatureLogitsWarper),
                           ("top_k", processors.TopKLogitsWarper),
                           ("top_p", processors.TopPLogitsWarper),
                           ("min_p", processors.MinPLogitsWarper)):
            if name in params:
                scores = make(params[name])(None, scores)
        probs = torch.softmax(scores, -1)[0]
        cases.append({"params": params, "probs": {
            str(i): nine(p) for i, p in enumerate(probs) if p > 0}})
    write_expected(path, {"logits": [logits], "cases": cases})
