"""An environment of its own for each of the peers whose packages do not go
together; peers/environments/NAME has the packages."""

import os
import subprocess

from harness import attend_processes

HERE = attend_processes.ROOT / "tests/bench/peers/environments"
MAKE = attend_processes.ROOT / "tests/conformance/environment.sh"
# llama.cpp is compiled, and for this machine, but without its kernels for AMX:
# with them it ends by a signal.
NO_AMX = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
VARIABLES = {"CMAKE_ARGS": " ".join([
    "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF",
    "-DGGML_AMX_TILE=OFF -DGGML_AMX_INT8=OFF -DGGML_AMX_BF16=OFF",
    f"'-DCMAKE_C_FLAGS={NO_AMX}' '-DCMAKE_CXX_FLAGS={NO_AMX}'"])}


def python(name, folder):
    """The interpreter of an environment, which is made unless it is there."""
    subprocess.run(
        [MAKE, folder / name, HERE / name / "requirements.txt",
         "--without-models"],
        env=os.environ | VARIABLES, check=True)
    return folder / name / "bin/python"


def variables(name, folder):
    """What a program of an environment runs with."""
    if name != "vllm":
        return {}
    # Its manual wants it for the best speed.
    return {"LD_PRELOAD": str(folder / name / "lib/libiomp5.so"),
            "OMP_NUM_THREADS": os.environ.get("PEER_THREADS",
                                              str(os.cpu_count()))}
