"""How many threads a peer has."""

import os


def count():
    """All CPUs, unless continuations.py says otherwise."""
    return int(os.environ.get("PEER_THREADS", os.cpu_count()))
