"""How well a decoder knows texts, whatever computes it."""

import math

from harness import attend_client, attend_processes

SENTENCES = attend_processes.ROOT / "tests/golden/en-de/sentences.en"
BLOCK = 32  # tokens


def perplexity(log_probs):
    return math.exp(-sum(log_probs) / len(log_probs))


def transformers_model(folder):
    import torch
    import transformers
    return (transformers.AutoTokenizer.from_pretrained(folder),
            transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float32).eval())


def first_ids(folder, texts, tokens):
    """Of each text."""
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return [tokenizer(text)["input_ids"][:tokens] for text in texts]


def reference(folder, texts, tokens):
    """By transformers in f32: of each text the first ids, and the log-probability
    of each of them but the first."""
    import torch
    _, model = transformers_model(folder)
    found = []
    with torch.inference_mode():
        for ids in first_ids(folder, texts, tokens):
            logits = model(torch.tensor([ids])).logits[0, :-1]
            log_probs = torch.log_softmax(logits, -1)
            found.append((ids, log_probs[range(len(ids) - 1),
                                         ids[1:]].tolist()))
    return found


def score(stub, ids):
    """The same by a server."""
    pb = attend_client.pb
    answer = stub.Score(pb.ScoreRequest(pairs=[pb.ScorePair(
        source=pb.Input(tokens=pb.Tokens(ids=ids[:1])),
        target=pb.Input(tokens=pb.Tokens(ids=ids[1:])))]))
    result = answer.results[0]
    if result.status.code:
        raise RuntimeError(result.status.message)
    return [scored.token.log_prob for scored in result.tokens]


def more(log_probs, others):
    """How much more perplexity than `others` have of the same tokens, as a
    fraction, how uncertain that is (a standard error), and the root of the mean
    square of the tokens' differences. Tokens are compared one by one, and those
    of a block, which are not independent, count as one."""
    differences = [b - a for a, b in zip(log_probs, others)]
    mean = sum(differences) / len(differences)
    blocks = [differences[i:i + BLOCK] for i in range(0, len(differences), BLOCK)]
    squares = sum(sum(d - mean for d in block) ** 2 for block in blocks)
    return (math.expm1(mean), math.sqrt(squares) / len(differences),
            math.sqrt(sum(d * d for d in differences) / len(differences)))


def above(score_ids, references):
    """How much more perplexity than by transformers in f32, as a fraction: the
    mean of all texts. score_ids(ids) gives log-probabilities."""
    ratios = [perplexity(score_ids(ids)) / perplexity(expected)
              for ids, expected in references]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) - 1
