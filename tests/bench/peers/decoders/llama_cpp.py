"""llama.cpp, by the calls of its C library, as its own batched example makes
them."""

import os

import llama_cpp
import numpy

from peers.decoders.log_probs import log_probs

LONGEST = 2048  # positions of a sequence, and tokens of a batch
FILE_TYPES = {"Q8_0": 7, "BF16": 32, "F32": 0}  # llama_ftype of llama.h
FLASH_ATTENTION = {"": 0, "flash attention": 1}  # llama_flash_attn_type

# It says a page about every model.
QUIET = llama_cpp.llama_log_callback(lambda *_: None)


def write(checkpoint, gguf, precision, out):
    """By its own program, of the file that the checkpoint is made of, whose own
    4 bits stay as they are."""
    del checkpoint
    if precision == "Q4":
        os.symlink(gguf, out)
        return
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = FILE_TYPES[precision], True
    if llama_cpp.llama_model_quantize(gguf.encode(), str(out).encode(), params):
        raise RuntimeError(f"llama.cpp does not write {out}")


def load(precision, setting, model):
    del precision  # the file's own
    return LlamaCpp(FLASH_ATTENTION[setting], model)


class LlamaCpp:

    def __init__(self, flash_attention, model):
        llama_cpp.llama_backend_init()
        llama_cpp.llama_log_set(QUIET, None)
        self.flash_attention = flash_attention
        self.model = llama_cpp.llama_model_load_from_file(
            model.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {model}")
        self.vocab = llama_cpp.llama_vocab_n_tokens(
            llama_cpp.llama_model_get_vocab(self.model))
        self.contexts = {}

    def context(self, sequences):
        """One of its own for each number of sequences, so that none is larger
        than it must be."""
        if sequences not in self.contexts:
            params = llama_cpp.llama_context_default_params()
            params.n_seq_max = sequences
            params.n_ctx = LONGEST * sequences
            params.n_batch = LONGEST
            params.n_threads = params.n_threads_batch = os.cpu_count()
            params.flash_attn_type = self.flash_attention
            params.no_perf = True
            context = llama_cpp.llama_init_from_model(self.model, params)
            if not context:
                raise RuntimeError(f"no context of {sequences} sequences")
            batch = llama_cpp.llama_batch_init(LONGEST, 0, 1)
            self.contexts[sequences] = context, batch
        context, batch = self.contexts[sequences]
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)
        return context, batch

    def decode(self, context, batch, tokens):
        """Of (sequence, position, id, whether its logits are wanted); those."""
        for i, (sequence, position, id_, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i] = id_, position
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
            batch.logits[i] = wanted
        batch.n_tokens = len(tokens)
        if llama_cpp.llama_decode(context, batch):
            raise RuntimeError("llama_decode failed")
        return [numpy.ctypeslib.as_array(
            llama_cpp.llama_get_logits_ith(context, i), (self.vocab,))
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
