"""ONNX Runtime and OpenVINO as peers: one process for each of their settings.

Runs itself as that process:

    python -m peers.encoders RUNTIME PRECISION WORKERS THREADS MODEL.onnx

which reads jobs from standard input, one JSON object a line:

{"sources": [[ids], ...], "batch": 16, "sort": false, "outputs": false}

and answers with seconds, and outputs if asked for. Sources go into batches in
their order, or sorted by length, each padded to its longest. Arrays are made
before the clock starts.
"""

import concurrent.futures
import json
import subprocess
import sys
import time

from peers import processes

# Runtimes with the precisions that they run in; int8 is another model.
NAMES = ("onnxruntime-f32", "onnxruntime-int8", "openvino-f32", "openvino-bf16")
BATCHES = (16, 8, 32)  # that a peer may choose from; most like the first


def batches(job):
    """Indices of the sources of each batch, their ids and their masks."""
    import numpy as np
    sources, size = job["sources"], job["batch"]
    order = list(range(len(sources)))
    if job.get("sort"):
        order.sort(key=lambda i: len(sources[i]))
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        longest = max(len(sources[i]) for i in chosen)
        ids = np.zeros((len(chosen), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(chosen):
            ids[row, :len(sources[i])] = sources[i]
            mask[row, :len(sources[i])] = 1
        yield chosen, ids, mask


# ------------------------------------------------------- inside of the process

class OnnxRuntime:
    """A session for each worker; calls release the interpreter's lock."""

    def __init__(self, model, precision, workers, threads):
        import onnxruntime
        del precision  # the model's own
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.sessions = [onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"])
            for _ in range(workers)]
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)

    def run(self, work):
        pending = iter(enumerate(work))
        results = [None] * len(work)

        def worker(session):
            for i, (_, ids, mask) in pending:
                results[i] = session.run(
                    None, {"input_ids": ids, "attention_mask": mask})[0]

        list(self.pool.map(worker, self.sessions))
        return results


class OpenVino:
    """A stream for each worker, fed by OpenVINO's own queue."""

    def __init__(self, model, precision, workers, threads):
        import openvino
        compiled = openvino.Core().compile_model(
            model, "CPU", {"INFERENCE_PRECISION_HINT": precision,
                           "NUM_STREAMS": workers,
                           "INFERENCE_NUM_THREADS": workers * threads})
        self.queue = openvino.AsyncInferQueue(compiled, workers)

    def run(self, work):
        results = [None] * len(work)

        def take(request, i):
            results[i] = request.get_output_tensor(0).data.copy()

        self.queue.set_callback(take)
        for i, (_, ids, mask) in enumerate(work):
            self.queue.start_async({"input_ids": ids, "attention_mask": mask},
                                   i)
        self.queue.wait_all()
        return results


RUNTIMES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def serve(runtime, precision, workers, threads, model):
    peer = RUNTIMES[runtime](model, precision, workers, threads)
    for line in sys.stdin:
        job = json.loads(line)
        work = list(batches(job))
        start = time.perf_counter()
        results = peer.run(work)
        answer = {"seconds": time.perf_counter() - start}
        if job.get("outputs"):
            outputs = [None] * len(job["sources"])
            for (chosen, _, _), result in zip(work, results):
                for i, row in zip(chosen, result):
                    outputs[i] = row.tolist()
            answer["outputs"] = outputs
        print(json.dumps(answer), flush=True)


# --------------------------------------------------------------- outside of it

class Peer:
    """One setting, in a process of its own."""

    def __init__(self, runtime, precision, workers, threads, model):
        self.precision = precision
        self.name = f"{runtime} {precision} {workers}x{threads}"
        self.process = processes.start(
            "encoders", [runtime, precision, workers, threads, model],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def run(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def all_peers(cpus, names, onnx, onnx_int8):
    """Those of NAMES, (workers x threads) both ways."""
    return [Peer(runtime, precision, workers, threads,
                 onnx_int8 if precision == "int8" else onnx)
            for runtime, precision in (name.split("-") for name in names)
            for workers, threads in sorted({(cpus, 1), (1, cpus)})]


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]),
          sys.argv[5])
