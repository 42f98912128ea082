#!/usr/bin/env python3
"""Writes the seeds that are not text: tests/fuzz/make_seeds.py"""

import json
import pathlib
import struct

SEEDS = pathlib.Path(__file__).parent / "seeds"


def write(target, name, data):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def safetensors(header, data):
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write_safetensors():
    write("safetensors", "two", safetensors(
        {"__metadata__": {"format": "pt"}, "b": tensor("F32", [2, 1], 0, 8),
         "a": tensor("BF16", [3], 8, 14)}, bytes(14)))
    write("safetensors", "scalar_and_empty", safetensors(
        {"s": tensor("F16", [], 0, 2), "e": tensor("I64", [0, 7], 2, 2)},
        bytes(2)))
    write("safetensors", "nothing", safetensors({}, b""))
    scales = struct.pack("<4f", 1, 2, 3, 4)
    write("safetensors", "gptq", safetensors(
        {"m.qweight": tensor("I32", [1, 2], 0, 8),
         "m.qzeros": tensor("I32", [4, 1], 8, 24),
         "m.scales": tensor("F32", [4, 2], 24, 56),
         "m.g_idx": tensor("I32", [8], 56, 88)},
        bytes(24) + 2 * scales + struct.pack("<8i", 0, 1, 2, 3, 0, 1, 2, 3)))
    write("safetensors", "awq", safetensors(
        {"m.qweight": tensor("I32", [4, 1], 0, 16),
         "m.qzeros": tensor("I32", [2, 1], 16, 24),
         "m.scales": tensor("F32", [2, 8], 24, 88)}, bytes(24) + 4 * scales))
    write("safetensors", "packed", safetensors(
        {"m.weight_packed": tensor("I32", [2, 1], 0, 8),
         "m.weight_scale": tensor("F32", [2, 2], 8, 24),
         "m.weight_shape": tensor("I64", [2], 24, 40),
         "m.weight_zero_point": tensor("I32", [1, 2], 40, 48)},
        bytes(8) + scales + struct.pack("<2q", 2, 4) + bytes(8)))
    write("safetensors", "int8", safetensors(
        {"m.weight": tensor("I8", [2, 3], 0, 6),
         "m.weight_scale": tensor("BF16", [2, 1], 6, 10)}, bytes(10)))
    write("safetensors", "torchao", safetensors(
        {"m._weight_qdata": tensor("I8", [2, 3], 0, 6),
         "m._weight_scale": tensor("BF16", [2, 1], 6, 10),
         "m._weight_zero_point": tensor("I8", [2, 1], 10, 12)}, bytes(12)))


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def array(name, kind, values):
    return key(name, 9, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def gguf(keys, tensors):
    """Tensors are (name, dimensions, type, bytes)."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys))
    head += b"".join(keys)
    data = b""
    for name, dims, kind, numbers in tensors:
        data += bytes(-len(data) % 32)
        head += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims,
                                         kind, len(data))
        data += numbers
    return head + bytes(-len(head) % 32) + data


def keys_of(architecture, sizes, epsilon):
    return [key("general.architecture", 8, text(architecture)),
            *(key(f"{architecture}.{name}", 4, struct.pack("<I", size))
              for name, size in sizes.items()),
            key(f"{architecture}.attention.{epsilon}", 6,
                struct.pack("<f", 1e-5))]


def llama_keys():
    sizes = {"context_length": 32, "embedding_length": 8, "block_count": 1,
             "feed_forward_length": 8, "attention.head_count": 2,
             "attention.head_count_kv": 1, "rope.dimension_count": 4}
    return keys_of("llama", sizes, "layer_norm_rms_epsilon")


def bert_keys():
    sizes = {"context_length": 32, "embedding_length": 8, "block_count": 1,
             "feed_forward_length": 8, "attention.head_count": 2,
             "pooling_type": 2}
    return [*keys_of("bert", sizes, "layer_norm_epsilon"),
            key("bert.attention.causal", 7, b"\0")]


def t5_keys():
    sizes = {"embedding_length": 8, "block_count": 1, "feed_forward_length": 8,
             "attention.head_count": 2, "attention.key_length": 4,
             "attention.value_length": 4, "attention.relative_buckets_count": 8,
             "decoder_start_token_id": 0}
    return keys_of("t5", sizes, "layer_norm_rms_epsilon")


def write_gguf():
    def tokenizer(model, tokens, types):
        return [key("tokenizer.ggml.model", 8, text(model)),
                array("tokenizer.ggml.tokens", 8, map_text(tokens)),
                array("tokenizer.ggml.token_type", 5,
                      [struct.pack("<i", kind) for kind in types]),
                key("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", 0)),
                key("tokenizer.ggml.add_bos_token", 7, b"\1")]

    def map_text(values):
        return [text(value) for value in values]

    table = ("token_embd.weight", (8, 5), 0, bytes(160))
    write("gguf", "bytes", gguf(
        llama_keys() + tokenizer("gpt2", ["<s>", "A", "b", "Ab", "\u0120"],
                                 [3, 1, 1, 1, 1])
        + [key("tokenizer.ggml.pre", 8, text("smollm")),
           array("tokenizer.ggml.merges", 8, map_text(["A b"]))], [table]))
    write("gguf", "pieces", gguf(
        llama_keys() + tokenizer("llama", ["<s>", "<unk>", "\u2581", "A", "\u2581A"],
                                 [3, 2, 1, 1, 1])
        + [array("tokenizer.ggml.scores", 6,
                 [struct.pack("<f", -i) for i in range(5)])],
        [table, ("rope_freqs.weight", (2,), 0, struct.pack("<ff", 1, 8))]))
    write("gguf", "words", gguf(
        bert_keys() + tokenizer("bert", ["[CLS]", "[SEP]", "[UNK]", "\u2581a", "b"],
                                [3, 3, 3, 1, 1]),
        [table, ("token_types.weight", (8, 2), 0, bytes(64))]))
    # A table of replacements whose trie has one unit, which maps nothing.
    charsmap = [bytes([byte]) for byte in struct.pack("<II", 4, 0) + b"x\0"]
    t5 = tokenizer("t5", ["<pad>", "</s>", "<unk>", "\u2581a", "[PAD4]"],
                   [3, 3, 2, 1, 5])[:-1]
    write("gguf", "unigrams", gguf(
        t5_keys() + t5
        + [key("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 1)),
           array("tokenizer.ggml.precompiled_charsmap", 0, charsmap),
           array("tokenizer.ggml.scores", 6,
                 [struct.pack("<f", -i) for i in range(5)])],
        [table, ("enc.blk.0.ffn_gate.weight", (8, 8), 0, bytes(256))]))
    write("gguf", "part", gguf(
        llama_keys() + [key("split.no", 2, struct.pack("<H", 0)),
                        key("split.count", 2, struct.pack("<H", 2)),
                        key("split.tensors.count", 5, struct.pack("<i", 2))],
        [table]))
    write("gguf", "blocks", gguf(
        llama_keys(), [table, ("blk.0.attn_q.weight", (32, 2), 8, bytes(68)),
                       ("blk.0.ffn_up.weight", (256, 1), 12, bytes(144))]))


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def write_spm():
    def piece(text, kind, score=0.0):
        return field(1, field(1, text.encode()) + b"\x15"
                     + struct.pack("<f", score) + bytes([0x18, kind]))

    pieces = piece("<unk>", 2) + piece("<s>", 3) + piece("\u2581a", 1, -1)
    pieces += piece("a", 1, -2) + piece("aa", 1, -2.5) + piece("he", 4)
    # A table whose trie has one unit, which maps nothing.
    table = struct.pack("<II", 4, 0) + b"x\0"
    write("spm", "unigram", pieces + field(3, field(2, table)))
    write("spm", "pairs", pieces + field(2, b"\x18\x02"))
    bytes_of = b"".join(piece(f"<0x{b:02X}>", 6) for b in range(256))
    write("spm", "bytes", pieces + bytes_of + field(2, b"\x98\x02\x01"))


def write_http():
    host = b"Host: a\r\n"
    write("http", "metrics",
          b"GET /metrics HTTP/1.1\r\n" + host + b"Authorization: Bearer k\r\n"
          b"X: fuzz\r\n\r\n")
    write("http", "two", 2 * (b"GET /livez HTTP/1.1\r\n" + host + b"\r\n")
          + b"HEAD /readyz?fuzz HTTP/1.0\r\n\r\n")
    write("http", "chunks",
          b"POST /livez HTTP/1.1\r\n" + host +
          b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
          b"4\r\nfuzz\r\n0\r\n\r\n")
    write("http", "body",
          b"PUT /fuzz HTTP/1.1\r\n" + host + b"Content-Length: 4\r\n"
          b"Expect: 100-continue\r\n\r\nfuzz")


# Types of frames.
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, GOAWAY, WINDOW, MORE = (
    0, 1, 2, 3, 4, 6, 7, 8, 9)
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    """As http2_fuzz.cc reads it."""
    return bytes([kind, flags, stream]) + struct.pack(">H",
                                                      len(payload)) + payload


def header(name, value):
    """HPACK: a literal that is not indexed."""
    return (b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value)


def head(method, *more, service=b"attend.v1.Attend"):
    return (b"\x83\x86" + header(b":path", b"/" + service + b"/" + method)
            + header(b":authority", b"a")
            + header(b"content-type", b"application/grpc")
            + header(b"te", b"trailers") + b"".join(more))


def message(data):
    return b"\0" + struct.pack(">I", len(data)) + data


def write_http2():
    start = frame(SETTINGS, payload=struct.pack(">HI", 4, 1 << 20))
    start += frame(SETTINGS, 1)
    generate = field(2, field(1, b"hello"))
    write("http2", "call", start
          + frame(HEADERS, END_HEADERS, 1, head(b"Generate"))
          + frame(DATA, END_STREAM, 1, message(generate)))
    write("http2", "stream", start
          + frame(HEADERS, END_HEADERS, 1, head(
              b"GenerateStream", header(b"grpc-timeout", b"5S"),
              header(b"x-request-id", b"abc")))
          + frame(DATA, 0, 1, message(generate)[:7])
          + frame(DATA, END_STREAM, 1, message(generate)[7:])
          + frame(WINDOW, 0, 0, struct.pack(">I", 1 << 16)) + frame(PING, 0, 0,
                                                                    bytes(8)))
    infer = head(b"ModelStreamInfer", header(b"triton_grpc_error", b"false"),
                 service=b"inference.GRPCInferenceService")
    two = message(infer_request()) + message(infer_request(b"nobody"))
    write("http2", "request_stream", start
          + frame(HEADERS, END_HEADERS, 1, infer)
          + frame(DATA, 0, 1, two[:30]) + frame(DATA, 0, 1, two[30:])
          + frame(DATA, END_STREAM, 1) + frame(WINDOW, 0, 0, struct.pack(
              ">I", 1 << 16)))
    write("http2", "two_blocks", start
          + frame(HEADERS, END_STREAM, 1, head(b"ListModels")[:20])
          + frame(MORE, END_HEADERS, 1, head(b"ListModels")[20:])
          + frame(HEADERS, END_HEADERS, 3, head(b"GetModel", header(
              b"authorization", b"Bearer k")))
          + frame(RESET, 0, 3, struct.pack(">I", 8)))
    write("http2", "goodbye", start
          + frame(PRIORITY, 0, 1, struct.pack(">IB", 0, 15))
          + frame(HEADERS, END_HEADERS | END_STREAM, 5, head(b"Tokenize"))
          + frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0) + b"bye")
          + b"\xff\x00\x00\x08\x06\x00\x00\x00\x00\x00rawbytes")


def infer_request(model=b"", typed=False):
    """Of tensors: a text, and a number of new tokens."""
    text = (field(1, b"text_input") + field(2, b"BYTES") + b"\x1a\x01\x01")
    limit = (field(1, b"max_new_tokens") + field(2, b"INT32")
             + b"\x1a\x01\x01")
    name = field(1, model) + field(3, b"id")
    if typed:
        return (name + field(5, text + field(5, field(8, b"hello")))
                + field(5, limit + field(5, field(2, b"\x03"))))
    return (name + field(5, text) + field(5, limit)
            + field(7, struct.pack("<I", 5) + b"hello")
            + field(7, struct.pack("<I", 3)))


def write_requests():
    """Of each method one as bytes; those in text are written by hand."""
    text = field(1, b"hello")
    of_input = field(2, text)
    for letter, data in {"A": of_input, "C": field(2, field(1, text)),
                         "D": of_input + b"\x18\x01", "G": field(2, b"q")
                         + field(3, b"d"), "I": field(2, field(1, b"\x05\x06")),
                         "K": field(1, b"chat"), "S": infer_request(),
                         "T": infer_request(typed=True)}.items():
        write("request", "bytes_" + letter, letter.encode() + data)


if __name__ == "__main__":
    write_safetensors()
    write_gguf()
    write_spm()
    write_http()
    write_http2()
    write_requests()
