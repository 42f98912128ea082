#!/usr/bin/env python3
"""Writes tests/golden/torch: small files as torch.save() makes them.

    make_torch_files.py

Needs torch 2.6 or later. tests/engine/checkpoint/torch_file_test.cc knows what
is in them: tensor number i of state() counts from 100 * i in steps of 0.5.

zip.bin     since torch 1.6, of parameters and buffers, with _metadata
older.bin   the same, as before that
protocol4.bin, nested.bin (in "state_dict", beside other things)
global.bin  would run os.system
script.bin  a program of TorchScript
"""

import collections
import os
import pathlib

import torch

FOLDER = pathlib.Path(__file__).parent / "torch"


def count(i, *shape, dtype=torch.float32):
    size = 1
    for dim in shape:
        size *= dim
    return (100 * i + torch.arange(size) * 0.5).reshape(shape).to(dtype)


def state():
    tied = count(1, 3, 5)
    result = collections.OrderedDict(
        f32=tied, f16=count(2, 2, 3, dtype=torch.float16),
        bf16=count(3, 7, dtype=torch.bfloat16),
        f64=count(4, 2, dtype=torch.float64),
        i64=torch.arange(5).expand((1, -1)), tied=tied,
        transposed=count(5, 3, 5).T, rows=count(6, 4, 3)[1:3],
        columns=count(7, 4, 3)[:, :2], repeated=torch.ones(1).expand(4),
        scalar=count(8), empty=torch.zeros(0, 3),
        parameter=torch.nn.Parameter(count(9, 2, 1)), mask=torch.ones(
            2, 2, dtype=torch.bool))
    result._metadata = collections.OrderedDict([("", {"version": 1})])
    return result


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def main():
    FOLDER.mkdir(exist_ok=True)
    small = {"w": count(1, 2, 2)}
    for name, data, options in (
            ("zip", state(), {}),
            ("older", state(), {"_use_new_zipfile_serialization": False}),
            ("protocol4", small, {"pickle_protocol": 4}),
            ("nested", {"state_dict": small, "epoch": 3, "loss": 0.5,
                        "dtype": torch.float16, "names": ["a", ("b", None)]},
             {}),
            ("global", {"w": Evil()}, {})):
        torch.save(data, FOLDER / f"{name}.bin", **options)
    torch.jit.trace(torch.nn.Linear(2, 1), torch.ones(1, 2)).save(
        FOLDER / "script.bin")


main()
