"""Reads printed estimates back and compares them with the estimates."""

import math
import re

NUMBER = r"(-?[\d.]+(?:e[+-]\d+)?|inf)"
FORMS = {
    form: re.compile(text.replace("N", NUMBER))
    for form, text in {
        "above": r"< N",
        "below": r"> N",
        "about": r"N ± N",
        "between": r"N \[N, N\]",
        "alone": r"N",
    }.items()
}


def read_back(text):
    """Return the form of a cell, and the estimate and limits that it prints, or None."""
    form, found = next((form, m) for form, p in FORMS.items() if (m := p.fullmatch(text)))
    x = [float(part) for part in found.groups()]
    reported = {
        "above": lambda: (0.0, 0.0, x[0]),
        "below": lambda: (1.0, x[0], 1.0),
        "alone": lambda: (x[0], None, None),
        "about": lambda: (x[0], x[0] - x[1], x[0] + x[1]),
        "between": lambda: (x[0], x[1], x[2]),
    }[form]()
    return form, reported


def check_printed(e, text):
    """Whether a cell says what the estimate does: to a tenth of the half-width, with the limits on the sides where they are.

    A one-sided limit is also never on the wrong side of the estimate's own.
    """
    if math.isnan(e.value):
        assert text == "-"
        return
    form, (value, low, high) = read_back(text)
    if math.isnan(e.half_width) or e.half_width == 0:
        assert form == "alone"
        assert abs(value - e.value) <= abs(e.value) * (1e-5 if math.isnan(e.half_width) else 0), text
        return
    near = 0.1 * e.half_width * (1 + 1e-9) + 4e-16 * abs(e.value)
    assert all(abs(a - b) <= near for a, b in zip((value, low, high), (e.value, e.low, e.high), strict=True)), (e, text)
    assert form != "above" or high >= e.high, (e, text)
    assert form != "below" or low <= e.low, (e, text)
    if e.value in (e.low, e.high):
        assert form != "about"
    for limit, reported in ((e.low, low), (e.high, high)):
        assert (reported == value) == (limit == e.value) or abs(limit - e.value) < 4e-16 * abs(e.value), (e, text)
