"""Passages grouped so that no batch pads much and none is large."""

from collections.abc import Iterator, Sequence

BATCH_TOKENS = 512
"""Padded tokens of one batch. Measured on two cores with MiniLM: 256 to 1,024 embed equally fast, 4,096 is a
quarter slower, and each doubling adds the memory of the activations (40 MB at 512, 600 MB at 4,096)."""

BATCH_ROWS = 32


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS, rows: int = BATCH_ROWS) -> Iterator[list[int]]:
    """Positions of `lengths` in groups of similar length, longest first.

    A group times its longest member stays within `tokens`, unless one passage alone exceeds it.
    """
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        if group and (len(group) >= rows or (len(group) + 1) * lengths[group[0]] > tokens):
            yield group
            group = []
        group.append(position)
    if group:
        yield group
