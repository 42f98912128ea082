"""Of logits."""

import numpy


def log_probs(rows, ids):
    """Of each id but the first, by the logits of the row before it."""
    found = []
    for row, id_ in zip(rows, ids[1:]):
        row = numpy.asarray(row, dtype=numpy.float64)
        highest = row.max()
        found.append(row[id_] - highest
                     - numpy.log(numpy.exp(row - highest).sum()))
    return found
