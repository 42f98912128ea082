"""HTTP/2 frames as bytes, for clients that no library would be."""

import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
MAX_FRAME = 16384  # what a receiver takes at least


def frame(kind, flags, stream, payload=b""):
    return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) +
            struct.pack(">I", stream) + payload)


def hpack_integer(value, prefix_bits, first=0):
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    out = [first | limit]
    value -= limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def hpack_string(text):
    return hpack_integer(len(text), 7) + text


def literal(name, value):
    """A header that stays out of the receiver's table."""
    return b"\x00" + hpack_string(name) + hpack_string(value)


def request_headers(path=b"/attend.v1.Attend/ListModels"):
    return b"".join(literal(name, value) for name, value in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", path),
        (b":authority", b"localhost"), (b"te", b"trailers"),
        (b"content-type", b"application/grpc")))


def connect(address, tls=False, timeout=20):
    """A connection that has said hello: preface and settings. It has not
    acknowledged those of the server."""
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host.strip("[]"), int(port)),
                                          timeout)
    if tls:
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        connection = context.wrap_socket(connection, server_hostname=host)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    return connection


def acknowledge(connection):
    """Waits for the server's settings, as a real client does."""
    connection.recv(1000)
    connection.sendall(frame(SETTINGS, ACK, 0))
