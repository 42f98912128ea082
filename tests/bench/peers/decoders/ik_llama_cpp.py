"""ik_llama.cpp, which descended from llama.cpp and has most of its calls. It packs
weights for its kernels when it loads them."""

import os
import pathlib
import subprocess
import sys

import ik_llama_cpp
from ik_llama_cpp import _ctypes_api as api

from peers.decoders.llama_batches import LlamaBatches

FLASH_ATTENTION = {"": False, "flash attention": True}


def write(checkpoint, gguf, precision, out):
    """By its own program, of the file that the checkpoint is made of, or that in
    bf16 that is made of the checkpoint."""
    del checkpoint
    pure = ["--pure"] if gguf.endswith(".bf16.gguf") else []
    program = ik_llama_cpp.find_quantize_bin()
    library = pathlib.Path(ik_llama_cpp.__file__).parent / "lib"
    subprocess.run(
        [program, "--allow-requantize", *pure, gguf, out, precision],
        check=True, stdout=sys.stderr,
        env=os.environ | {"LD_LIBRARY_PATH": str(library)})


def load(precision, setting, model):
    del precision  # the file's own
    return IkLlamaCpp(FLASH_ATTENTION[setting], model)


class IkLlamaCpp(LlamaBatches):

    def __init__(self, flash_attention, path):
        api.llama_backend_init()
        self.flash_attention = flash_attention
        params = api.llama_model_default_params()
        params.repack_tensors, params.use_mmap = True, False
        params.flash_attn = flash_attention
        model = api.llama_model_load_from_file(path.encode(), params)
        if not model:
            raise RuntimeError(f"ik_llama.cpp does not load {path}")
        super().__init__(api, model)

    def set_options(self, params):
        params.flash_attn = self.flash_attention

    def clear(self, context):
        api.llama_kv_cache_clear(context)
