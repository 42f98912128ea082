"""What llama.cpp and ik_llama.cpp have in common: batches of their C libraries, as
their own batched example makes them."""

import numpy

from peers.decoders import threads
from peers.decoders.log_probs import log_probs

LONGEST = 2048  # positions of a sequence, and tokens of a batch


class LlamaBatches:

    def __init__(self, api, model):
        """`api` has the calls of the library, `model` is one that it loaded."""
        self.api, self.model = api, model
        self.vocab = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
        self.contexts = {}

    def set_options(self, params):
        """Of a context; the parameters have their defaults and sizes."""
        raise NotImplementedError

    def clear(self, context):
        """Drops all sequences."""
        raise NotImplementedError

    def context(self, sequences):
        """One of its own for each number of sequences, so that none is larger
        than it must be."""
        if sequences not in self.contexts:
            params = self.api.llama_context_default_params()
            params.n_seq_max = sequences
            params.n_ctx = LONGEST * sequences
            params.n_batch = LONGEST
            params.n_threads = params.n_threads_batch = threads.count()
            self.set_options(params)
            context = self.api.llama_init_from_model(self.model, params)
            if not context:
                raise RuntimeError(f"no context of {sequences} sequences")
            batch = self.api.llama_batch_init(LONGEST, 0, 1)
            self.contexts[sequences] = context, batch
        context, batch = self.contexts[sequences]
        self.clear(context)
        return context, batch

    def decode(self, context, batch, tokens):
        """Of (sequence, position, id, whether its logits are wanted); those."""
        for i, (sequence, position, id_, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i] = id_, position
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
            batch.logits[i] = wanted
        batch.n_tokens = len(tokens)
        if self.api.llama_decode(context, batch):
            raise RuntimeError("llama_decode failed")
        return [numpy.ctypeslib.as_array(
            self.api.llama_get_logits_ith(context, i), (self.vocab,))
            for i, token in enumerate(tokens) if token[3]]

    def generate(self, sources, new_tokens):
        context, batch = self.context(len(sources))
        rows = [(sequence, i, id_, i + 1 == len(source))
                for sequence, source in enumerate(sources)
                for i, id_ in enumerate(source)]
        outputs = [[] for _ in sources]
        for step in range(new_tokens):
            logits = self.decode(context, batch, rows)
            rows = []
            for sequence, row in enumerate(logits):
                outputs[sequence].append(int(numpy.argmax(row)))
                rows.append((sequence, len(sources[sequence]) + step,
                             outputs[sequence][-1], True))
        return outputs

    def log_probs(self, ids):
        context, batch = self.context(1)
        rows = [(0, i, id_, True) for i, id_ in enumerate(ids)]
        return log_probs(self.decode(context, batch, rows), ids)
