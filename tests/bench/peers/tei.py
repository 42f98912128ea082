"""text-embeddings-inference: its router over ONNX Runtime, as a child process."""

import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

from harness import attend_processes


def onnxruntime_library():
    """That of the Python package."""
    import onnxruntime
    library, = (pathlib.Path(onnxruntime.__file__).parent / "capi").glob(
        "libonnxruntime.so.*")
    return library


def write_model(model, onnx, folder):
    """What the router loads: the files of `model`, and `onnx`."""
    folder.mkdir()
    for path in model.iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).symlink_to(path.resolve())
    (folder / "model.onnx").symlink_to(onnx.resolve())
    return folder


class Server:
    """The router on a free port, which answers when this returns."""

    def __init__(self, binary, model, name, flags):
        self.name = name
        self.http_port = attend_processes.free_port()
        self.process = subprocess.Popen(
            [binary, f"--model-id={model}", "--hostname=127.0.0.1",
             f"--port={self.http_port}",
             f"--prometheus-port={attend_processes.free_port()}", *flags],
            env=os.environ | {"LOG_LEVEL": "error",
                              "ORT_DYLIB_PATH": str(onnxruntime_library())})
        while not self._healthy():
            if self.process.poll() is not None:
                raise RuntimeError(f"{binary} did not start")
            time.sleep(0.2)

    def _healthy(self):
        url = f"http://127.0.0.1:{self.http_port}/health"
        try:
            with urllib.request.urlopen(url, timeout=10):
                return True
        except urllib.error.URLError:
            return False

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
