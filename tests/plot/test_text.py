"""Text of figures: mathematics, labels and line breaks."""

import pytest
from helpers.compiled import mark_others_slow

from fastcube.measure.estimate import proportion
from fastcube.plot.sheet import Sheet
from fastcube.plot.text import axis_text, mathtext, value_text, wrap_mathtext


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("unsafe nodes of Q_n", "unsafe nodes of $Q_{n}$"),
        ("f <= floor(n/2)", "$f$\u00a0≤\u00a0$\\lfloor{}n/2\\rfloor$"),
        ("ceil(M/(n-1)) + n", "$\\lceil{}M/(n-1)\\rceil$ + $n$"),
        ("floor((n+1)(n-1)/2), f(ceil(n))", "$\\lfloor{}(n+1)(n-1)/2\\rfloor$, $f$($\\lceil{}n\\rceil$)"),
        ("2^((n-1)/2) of floor(2^(n/2))", "$2^{(n-1)/2}$ of floor($2^{n/2}$)"),
        ("floor(ceil(n/2)/3)", "floor($\\lceil{}n/2\\rceil$/3)"),
        ("2^n nodes, 2^(2m+1)", "$2^{n}$ nodes, $2^{2m+1}$"),
        ("p_1/2", "$p_{1/2}$"),
        ("unsafe_nodes", "unsafe_nodes"),
        ("$x_n$ of Q_n", "$x_n$ of $Q_{n}$"),
        ("f faulty nodes and K links of Q_n", "$f$ faulty nodes and $K$ links of $Q_{n}$"),
        ("f / 2^(n/2), d(s, t)", "$f$ / $2^{n/2}$, $d$($s$, $t$)"),
        ("n + 3k within 8n hops", "$n$ + 3$k$ within 8$n$ hops"),
        ("Lemma 1's K-way N4, a node", "Lemma 1's K-way N4, a node"),
    ],
)
def test_mathtext(text, wanted):
    assert mathtext(text) == wanted


@pytest.mark.parametrize(
    "text", mark_others_slow(["costs $ and $", "$\\nonsense$", "$\\frac{$", "$x", "a $ b ^ { $", "\\$"], default=2)
)
def test_any_text_can_be_drawn(text):
    sheet = Sheet()
    panel = sheet.panel()
    panel.series(text, [(1, proportion(300, 1000))])
    panel.add_statement(0.5, text)
    panel.curve([1], [0.4], text)
    panel.set_labels(x=text, y=text, title=text)
    sheet.title(text)
    assert sheet.finish() is panel.axes.figure


def test_long_titles_are_broken_outside_mathematics_into_lines_of_a_length():
    text = "Trees $\\lambda + 1 = x$ of Q_n, and the smallest degree $\\delta$"
    assert wrap_mathtext(text, 100) == mathtext(text)
    assert wrap_mathtext(text, 33).splitlines() == [
        "Trees $\\lambda + 1 = x$ of $Q_{n}$,",
        "and the smallest degree $\\delta$",
    ]
    assert wrap_mathtext("a-word-of-more-letters-than-there-is-room-for another", 20).count("\n") == 1
    assert wrap_mathtext("", 20) == ""


def test_labels():
    assert value_text("n", 5) == "n = 5" and mathtext("n = 5, r = 0.25 of b = 3") == "$n = 5$, $r = 0.25$ of $b = 3$"
    assert value_text("rate", 0.25) == "rate = 0.25"
    assert axis_text("n", "dimension") == "n, dimension" and mathtext("q, rate") == "$q$, rate"
    assert axis_text("rate", "node failure rate") == "node failure rate"
