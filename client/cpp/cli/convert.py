"""Writes model.safetensors beside each pytorch_model.bin of a model: what
`attend convert DIRECTORY` runs.

The tensors keep their names, numbers and shapes. Pickles are read by torch's
reader that runs nothing of what is in them (weights_only).
"""

import posix
import sys

# As the program's text is an argument, this folder is where modules would be
# looked for first: that of a model which somebody else has made, it may be.
sys.path = [folder for folder in sys.path if folder not in ("", posix.getcwd())]

import importlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import pickle  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import zipfile  # noqa: E402

# Before it, weights_only could be tricked (CVE-2025-32434).
OLDEST_TORCH = (2, 6)
PICKLE, TARGET = "pytorch_model.bin", "model.safetensors"
INDEX = ".index.json"


class Failure(Exception):
    pass


def modules():
    """torch and safetensors.torch."""
    found, missing = [], []
    for name in "torch", "safetensors":
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            missing.append(name)
    if missing:
        raise Failure(f"{sys.executable} has no {' and no '.join(missing)}; "
                      f"install them with: {sys.executable} -m pip install "
                      "torch safetensors")
    torch = found[0]
    version = tuple(int("".join(filter(str.isdigit, part)) or 0)
                    for part in torch.__version__.split(".")[:2])
    if version < OLDEST_TORCH:
        raise Failure(f"torch is {torch.__version__}, must be at least 2.6: "
                      "earlier ones run code that a file may hold")
    return torch, importlib.import_module("safetensors.torch")


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Failure(f"{path}: not JSON: {error}") from error


def plain(name, where):
    """The name, if it is one of a file or folder in `where`."""
    if not isinstance(name, str) or not name or name != os.path.basename(name) \
            or name in (".", ".."):
        raise Failure(f"{where}: {name!r} is not a name in its folder")
    return name


def folders(model):
    """The model's, and those of the modules of sentence-transformers."""
    path = model / "modules.json"
    listed = read_json(path) if path.exists() else []
    names = [module.get("path") for module in listed
             if isinstance(module, dict)] if isinstance(listed, list) else []
    return [model, *(model / plain(name, path) for name in names if name)]


def tensors(torch, path):
    """Of a pickle, each with memory of its own."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True,
                           mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        # torch's own words tell how to run it.
        found = re.search(r"(?i)unsupported (?:global: )?GLOBAL (\S+)",
                          str(error))
        raise Failure(f"{path}: holds more than tensors, which is not run"
                      + (f": {found[1]}" if found else "")) from error
    except Exception as error:  # of many kinds
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise Failure(f"{path}: cannot be read: {reason}") from error
    if not isinstance(state, dict) or not state:
        raise Failure(f"{path}: holds no table of tensors")
    result, seen = {}, set()
    for name, tensor in state.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise Failure(f"{path}: {name!r} is not a tensor")
        if tensor.layout != torch.strided:
            raise Failure(f"{path}: {name!r} is a tensor of layout "
                          f"{tensor.layout}, must be torch.strided")
        memory = tensor.untyped_storage().data_ptr()
        if memory in seen or not tensor.is_contiguous():
            tensor = tensor.clone().contiguous()
        seen.add(memory)
        result[name] = tensor
    return result


def replace(path, source, write):
    """Writes a file that is there when it is whole, for those who may read
    `source`."""
    part = path.with_name(path.name + ".part")
    # A link of that name would have its target written.
    part.unlink(missing_ok=True)
    try:
        write(part)
        shutil.copymode(source, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    print(path, flush=True)


def convert(libraries, source, target):
    torch, safetensors = libraries
    state = tensors(torch, source)

    def write(part):
        try:
            safetensors.save_file(state, part, metadata={"format": "pt"})
        except Exception as error:  # a full disk is no OSError
            raise Failure(f"{target}: cannot be written: {error}") from error

    replace(target, source, write)


def convert_shards(libraries, folder):
    """The index comes last: without it there is no model."""
    path = folder / (PICKLE + INDEX)
    index = read_json(path)
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not places:
        raise Failure(f"{path}: has no weight_map")
    names = {}
    for name in places.values():
        stem = plain(name, path).removesuffix(".bin")
        names[name] = stem.replace("pytorch_model", "model") + ".safetensors"
    for name, target in sorted(names.items()):
        convert(libraries, folder / name, folder / target)
    index["weight_map"] = {tensor: names[name]
                           for tensor, name in places.items()}
    replace(folder / (TARGET + INDEX), path,
            lambda part: part.write_text(json.dumps(index, indent=2) + "\n"))


def main(directory):
    model = pathlib.Path(directory)
    if not model.is_dir():
        raise Failure(f"{model}: no such directory")
    work = []
    for folder in folders(model):
        if (folder / TARGET).exists() or (folder / (TARGET + INDEX)).exists():
            continue
        if (folder / PICKLE).exists():
            work.append(lambda libraries, folder=folder: convert(
                libraries, folder / PICKLE, folder / TARGET))
        elif (folder / (PICKLE + INDEX)).exists():
            work.append(lambda libraries, folder=folder: convert_shards(
                libraries, folder))
    if not work:
        raise Failure(f"{model}: nothing to convert: there is no {PICKLE} "
                      f"without {TARGET}")
    libraries = modules()
    for each in work:
        each(libraries)


try:
    main(sys.argv[1])
except (Failure, OSError) as error:
    sys.exit(f"attend: {error}")
