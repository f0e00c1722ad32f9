"""Select the kernel that runs the trials of the studies of unsafe nodes at a point."""

import math

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point


def most_faults(n: int) -> int:
    """Return the largest number of faults for Q_n: all nodes up to n = 16, and 65536 above, where a trial takes about 0.1 s."""
    return min(1 << n, 65536)


#: Largest n of the kernel that begins a run: its two arrays of the whole cube take 5 MB.
_MOST_LISTED = 20


def _is_for_lanes_16(n: int, f: int) -> bool:
    return 7 <= n <= 16 and f <= 2 ** (n - 1)


#: Largest number of faults of Q_7, Q_8, ... for which lanes of trials are the fastest, with AVX-512 or without; from Q_34 on
#: they compare all pairs of faults for longer than scalar code merges them.  Measured on an AMD EPYC (Zen 4) in November 2026,
#: without AVX-512 compiled for AVX2.
_MOST_IN_LANES = {
    True: (
        *(4, 6, 10, 12, 15, 20, 22, 32, 44, 64, 65, 80, 97, 128, 152, 185, 220, 265, 340, 430, 550, 700, 910),
        *(1200, 1550, 1950, 2400),
    ),
    False: (
        *(4, 6, 9, 11, 14, 19, 22, 31, 41, 56, 55, 63, 77, 98, 122, 150, 178, 212, 272, 344, 440, 560, 730),
        *(960, 1240, 1560, 1900),
    ),
}
_LANES_OF_LARGE_CUBES = {True: 3400, False: 2500}

#: Smallest number of faults of Q_17 .. Q_27 for which marking the whole cube is faster than merging subcubes, measured likewise:
#: near it unsafe nodes begin to fill the cube.  From Q_28 on marking gains a tenth at most, and its arrays take 64 MB or more.
_LEAST_MARKED = {17: 82, 18: 134, 19: 205, 20: 325, 21: 520, 22: 740, 23: 1250, 24: 1950, 25: 3050, 26: 4300, 27: 8000}


def _choose_fraction_kernel(n: int, f: int) -> str:
    """Select a kernel.  Lanes of trials are faster while large subcubes are rare."""
    if n <= 6:
        return "small.SMALL_6"
    most = _MOST_IN_LANES[has_avx512()]
    if f <= (most[n - 7] if n < 7 + len(most) else _LANES_OF_LARGE_CUBES[has_avx512()]):
        return "lanes.LANES_16" if n <= 16 else "lanes.LANES_32"
    if n <= 8:
        return f"small.SMALL_{n}"
    least = _LEAST_MARKED.get(n, math.inf)
    return "scalar.WHOLE" if n <= 16 or f >= least else "scalar.MERGED"


def _estimate_fraction_times(n: int, f: int) -> dict[str, float]:
    """Return approximate nanoseconds of a trial by kernel, fitted to measurements at n = 5 .. 16.

    They are from an AMD EPYC (Zen 4) in November 2026, like the seconds to compile.  Only ratios matter.
    """
    # expected pairs of faults within distance 2
    close = f * (f - 1) / 2 * n * (n + 1) / 2 / 2**n
    times = {
        "lanes": 1 + 3.5 * f + 35 * close,
        "small": 2**n / 14,
        "scalar.WHOLE": 50 + 2.4 * f + 2**n * (1 / 60 + min(1.0, close) / 16),
        "scalar.MERGED": 40 + 20.0 * f,
        "worklist.WORKLIST": 20 + f * (30 + 3.0 * n) + min(1.0, (close / 4) ** 2) * 3 * n * 2**n,
    }
    names = [_choose_fraction_kernel(n, f), f"small.SMALL_{max(n, 6)}" if n <= 8 else "scalar.MERGED"]
    names += ["scalar.WHOLE"] if n <= 12 else []
    names += ["worklist.WORKLIST"] if n <= _MOST_LISTED else []
    # the lanes kernels, and the small ones, differ in width only, so each have one time
    return {name: times[name if name in times else name.partition(".")[0]] for name in names}


#: Conditions on (n, f), 1 <= n <= 62 and 0 <= f <= most_faults(n).
UNSAFE_FRACTION = KernelTable(
    __package__,
    {
        "scalar.MERGED": serve_any_point,
        "scalar.WHOLE": lambda n, f: n <= 30,
        "small.SMALL_6": lambda n, f: n <= 6,
        "small.SMALL_7": lambda n, f: n == 7,
        "small.SMALL_8": lambda n, f: n == 8,
        "lanes.LANES_16": _is_for_lanes_16,
        "lanes.LANES_32": lambda n, f: n >= 17 and f <= 2 ** (n - 1),
        "worklist.WORKLIST": lambda n, f: n <= _MOST_LISTED,
    },
    fastest=_choose_fraction_kernel,
    compile_seconds={
        "worklist.WORKLIST": 0.5,
        **dict.fromkeys(("small.SMALL_6", "small.SMALL_7", "small.SMALL_8"), 1.2),
        **dict.fromkeys(("lanes.LANES_16", "lanes.LANES_32"), 12.0),
        "scalar.WHOLE": 2.4,
        "scalar.MERGED": 4.0,
    },
    nanoseconds=_estimate_fraction_times,
)

#: Conditions on (n, f).
UNSAFE_RARE = KernelTable(__package__, {"planting.PLANTED_TRIALS": serve_any_point})


def _is_sampled_per_node(n: int, p: float) -> bool:
    """Whether every node is sampled by itself; else the number of faults is sampled first."""
    from ..draws.bernoulli import MIN_DIGIT_RATE  # modules with kernels are imported only when needed

    return p >= MIN_DIGIT_RATE


#: Expected pairs of faults within distance 2 of Q_0, Q_1, ... up to which merging subcubes is fastest, -1 for never.  Measured on
#: an AMD EPYC (Zen 4) in November 2026; up to n = 14 compiled for AVX2, too.
_MOST_CLOSE = (*(-1,) * 9, *(0.3,) * 4, *(1,) * 2, *(12,) * 6, 20, 20, 40, 50, 60, 70, 110, 120, 250, 250)


def _choose_critical_kernel(n: int, p: float) -> str:
    """Select a kernel.  Merging subcubes is fastest while few faults are expected within distance 2, more in large cubes."""
    if _is_sampled_per_node(n, p):
        return "rate.unsafe_digits"
    close = p * p * 2.0**n * n * (n + 1) / 4
    return "rate.unsafe_merge" if close <= _MOST_CLOSE[n] else "rate.unsafe_labels"


#: Conditions on (n, p), n <= 30.
UNSAFE_CRITICAL = KernelTable(
    __package__,
    {
        "rate.unsafe_digits": _is_sampled_per_node,
        "rate.unsafe_labels": lambda n, p: not _is_sampled_per_node(n, p),
        "rate.unsafe_merge": lambda n, p: n >= 9 and not _is_sampled_per_node(n, p),
    },
    fastest=_choose_critical_kernel,
)
