"""Faults and ends of a trial of routing rules."""

from __future__ import annotations


def sidetrack_chooser(key, trial):
    """SIDETRACK's choices, from NumPy's own arithmetic (V8, docs/random.md)."""

    def philox(a, b, c, d, x, y):
        for _ in range(10):
            p, q = a * 0xD2511F53, c * 0xCD9E8D57
            a, b, c, d = (q >> 32) ^ b ^ x, q & 0xFFFFFFFF, (p >> 32) ^ d ^ y, p & 0xFFFFFFFF
            x, y = (x + 0x9E3779B9) & 0xFFFFFFFF, (y + 0xBB67AE85) & 0xFFFFFFFF
        return a, b, c, d

    def choose_hop(hop, many):
        word = philox(trial & 0xFFFFFFFF, trial >> 32, hop // 2, 14, key & 0xFFFFFFFF, key >> 32)
        return word[1 + 2 * (hop & 1)] * many >> 32

    return choose_hop
