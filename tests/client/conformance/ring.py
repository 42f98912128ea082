"""Which server calls of a key go to: the ring of gRPC's policy ring_hash (gRFC A42
and A76), written for its reader, to compare the packages with."""

import math

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
    0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
POINTS = 1024  # minRingSize


def rotated(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mixed(total, word):
    return rotated((total + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with the seed 0."""
    blocks, rest = divmod(len(data), 32)
    whole = blocks * 32

    def number(at, size):
        return int.from_bytes(data[at:at + size], "little")

    total = P5
    if blocks:
        sums = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for at in range(0, whole, 8):
            sums[at // 8 % 4] = mixed(sums[at // 8 % 4], number(at, 8))
        total = sum(map(rotated, sums, (1, 7, 12, 18))) & MASK
        for each in sums:
            total = ((total ^ mixed(0, each)) * P1 + P4) & MASK
    total = (total + len(data)) & MASK
    at = whole
    while len(data) - at >= 8:
        total = (rotated(total ^ mixed(0, number(at, 8)), 27) * P1 + P4) & MASK
        at += 8
    if len(data) - at >= 4:
        word = number(at, 4) * P1 & MASK
        total = (rotated(total ^ word, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        total = rotated(total ^ (byte * P5 & MASK), 11) * P1 & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32


def owner(key, addresses, good):
    """The address of those in `good` that is first from the key's point on."""
    each = math.ceil(POINTS / len(addresses))
    points = sorted((xxh64(f"{address}_{i}".encode()), address)
                    for address in addresses for i in range(each))
    begin = xxh64(key.encode())
    return next(address for _, address in
                [point for point in points if point[0] >= begin] + points
                if address in good)
