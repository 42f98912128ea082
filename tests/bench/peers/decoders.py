"""llama.cpp and CTranslate2's Generator as peers: a process for each setting.

Runs itself as that process:

    python -m peers.decoders RUNTIME PRECISION MODEL

which reads jobs from standard input, one JSON object a line:

{"sources": [[ids], ...], "in_flight": 16, "max_new_tokens": 64, "outputs": false}

and answers with seconds, tokens, and outputs if asked for. Search is greedy and
goes on after the end of the text. As many sources as are in flight start
together and have the same length, which is what batches of both like best.
"""

import json
import os
import subprocess
import sys
import time

from peers import processes

# The same number of bits as Attend's, by the peer's name of it.
PRECISIONS = {
    "llama.cpp": {"int8": "Q8_0", "bf16": "BF16", "f32": "F32"},
    "ctranslate2": {"int8": "int8", "f32": "float32"},
}
LONGEST = 2048  # positions of a sequence


def groups(job):
    size = job.get("in_flight", 1)
    return [job["sources"][i:i + size]
            for i in range(0, len(job["sources"]), size)]


# ------------------------------------------------------- inside of the process

class LlamaCpp:
    """By the calls of its C library, as its own batched example makes them."""

    def __init__(self, precision, model):
        del precision  # the file's own
        import llama_cpp
        self.lib = llama_cpp
        llama_cpp.llama_backend_init()
        # It says a page about every model.
        self.quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self.quiet, None)
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
            params = self.lib.llama_context_default_params()
            params.n_seq_max = sequences
            params.n_ctx = LONGEST * sequences
            params.n_batch = LONGEST
            params.n_threads = params.n_threads_batch = os.cpu_count()
            params.no_perf = True
            context = self.lib.llama_init_from_model(self.model, params)
            batch = self.lib.llama_batch_init(LONGEST, 0, 1)
            self.contexts[sequences] = context, batch
        return self.contexts[sequences]

    def generate(self, sources, new_tokens):
        import numpy as np
        context, batch = self.context(len(sources))
        self.lib.llama_memory_clear(self.lib.llama_get_memory(context), False)

        def decode(tokens):
            """Of (sequence, position, id, whether it is the last); the next id of
            those that are the last."""
            for i, (sequence, position, id_, last) in enumerate(tokens):
                batch.token[i], batch.pos[i] = id_, position
                batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
                batch.logits[i] = last
            batch.n_tokens = len(tokens)
            if self.lib.llama_decode(context, batch):
                raise RuntimeError("llama_decode failed")
            return [int(np.argmax(np.ctypeslib.as_array(
                self.lib.llama_get_logits_ith(context, i), (self.vocab,))))
                for i, token in enumerate(tokens) if token[3]]

        next_ids = []
        for sequence, source in enumerate(sources):
            next_ids += decode([(sequence, i, id_, i + 1 == len(source))
                                for i, id_ in enumerate(source)])
        outputs = [[id_] for id_ in next_ids]
        for step in range(new_tokens - 1):
            next_ids = decode([(s, len(sources[s]) + step, id_, True)
                               for s, id_ in enumerate(next_ids)])
            for output, id_ in zip(outputs, next_ids):
                output.append(id_)
        return outputs


class CTranslate2:
    def __init__(self, precision, model):
        import ctranslate2
        self.generator = ctranslate2.Generator(
            model, device="cpu", compute_type=precision, inter_threads=1,
            intra_threads=os.cpu_count())
        with open(os.path.join(model, "vocabulary.json"),
                  encoding="utf-8") as file:
            self.tokens = json.load(file)

    def generate(self, sources, new_tokens):
        results = self.generator.generate_batch(
            [[self.tokens[id_] for id_ in source] for source in sources],
            max_length=new_tokens, min_length=new_tokens, sampling_topk=1,
            include_prompt_in_result=False, end_token=[], max_batch_size=0)
        return [result.sequences_ids[0] for result in results]


def serve(runtime, precision, model):
    peer = {"llama.cpp": LlamaCpp, "ctranslate2": CTranslate2}[runtime](
        precision, model)
    for line in sys.stdin:
        job = json.loads(line)
        start = time.perf_counter()
        outputs = [output for group in groups(job)
                   for output in peer.generate(group, job["max_new_tokens"])]
        answer = {"seconds": time.perf_counter() - start,
                  "tokens": sum(map(len, outputs))}
        if job.get("outputs"):
            answer["outputs"] = outputs
        print(json.dumps(answer), flush=True)


# --------------------------------------------------------------- outside of it

class Peer:
    def __init__(self, runtime, dtype, model):
        precision = PRECISIONS[runtime][dtype]
        self.name = f"{runtime} {precision}"
        self.process = processes.start(
            "decoders", [runtime, precision, model], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args}: exit code "
                               f"{self.process.wait()}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


if __name__ == "__main__":
    serve(*sys.argv[1:])
