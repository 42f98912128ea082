"""llama.cpp, by the calls of its C library."""

import os

import llama_cpp

from peers.decoders.llama_batches import LlamaBatches

# llama_ftype of llama.h
FILE_TYPES = {"Q4_0": 2, "Q8_0": 7, "BF16": 32, "F32": 0}
FLASH_ATTENTION = {"": 0, "flash attention": 1}  # llama_flash_attn_type

# It says a page about every model.
QUIET = llama_cpp.llama_log_callback(lambda *_: None)


def write(checkpoint, gguf, precision, out):
    """By its own program, of the file that the checkpoint is made of, whose own
    4 bits stay as they are, or of that in bf16 that is made of the checkpoint."""
    del checkpoint
    is_bf16 = gguf.endswith(".bf16.gguf")
    if precision == ("BF16" if is_bf16 else "Q4_0"):
        os.symlink(gguf, out)
        return
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = FILE_TYPES[precision], True
    params.pure = is_bf16  # the table of tokens, too
    if llama_cpp.llama_model_quantize(gguf.encode(), str(out).encode(), params):
        raise RuntimeError(f"llama.cpp does not write {out}")


def load(precision, setting, model):
    del precision  # the file's own
    return LlamaCpp(FLASH_ATTENTION[setting], model)


class LlamaCpp(LlamaBatches):

    def __init__(self, flash_attention, path):
        llama_cpp.llama_backend_init()
        llama_cpp.llama_log_set(QUIET, None)
        self.flash_attention = flash_attention
        model = llama_cpp.llama_model_load_from_file(
            path.encode(), llama_cpp.llama_model_default_params())
        if not model:
            raise RuntimeError(f"llama.cpp does not load {path}")
        super().__init__(llama_cpp, model)

    def set_options(self, params):
        params.flash_attn_type = self.flash_attention
        params.no_perf = True

    def clear(self, context):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)
