"""What the measurements here run on, and its limit without AMX."""

import pathlib

# Ours by flag, everybody else's by environment: the same machine, as if it had
# AVX-512 VNNI and no AMX.
NO_AMX_FLAGS = ["--cpu-isa=avx512_vnni"]
NO_AMX_ENVIRONMENT = {
    "MKL_ENABLE_INSTRUCTIONS": "AVX512_E3",
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI",
    "CT2_FORCE_CPU_ISA": "AVX512",
}
TOLD_FLAGS = ["avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile",
              "amx_bf16", "amx_int8"]


def cpu():
    """Name, CPUs and the flags that matter here."""
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
        if key.strip() == "processor":
            fields["cpus"] = int(value) + 1
    known = fields.get("flags", "").split()
    return {"name": fields.get("model name", "unknown"),
            "cpus": fields.get("cpus", 0),
            "family_model": f"{fields.get('cpu family')}/{fields.get('model')}",
            "flags": [flag for flag in TOLD_FLAGS if flag in known]}


def describe(info, no_amx):
    return (f"{info['name']} ({info['family_model']}), {info['cpus']} CPUs, "
            f"{' '.join(info['flags'])}{', AMX not used' if no_amx else ''}")
