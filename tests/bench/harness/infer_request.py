"""Requests of the Open Inference Protocol in protobuf's wire format, without
stubs of that protocol."""

import struct


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def infer_request(texts, task=None):
    """A ModelInferRequest: the tensor text_input in raw contents."""
    shape = field(3, varint(len(texts)))
    tensor = field(1, b"text_input") + field(2, b"BYTES") + shape
    raw = b"".join(struct.pack("<I", len(text)) + text.encode()
                   for text in texts)
    parameters = b""
    if task:
        parameters = field(4, field(1, b"task")
                           + field(2, field(3, task.encode())))
    return parameters + field(5, tensor) + field(7, raw)
