"""Colours, markers and dashes of lines: any sight, any ground and grey print distinguish them."""

from itertools import combinations

import numpy as np
import pytest

from fastcube.plot import style


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """The contrast ratio of two colours ``#rrggbb``, 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_contrast(ground):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    looks = [style.line_style(i, lines) for lines in (1, 5, 9, 10, 19, 40, 100) for i in range(lines)]
    for colour in {style.GREY, *style.COLOURS, *(look["color"] for look in looks)}:
        assert contrast(colour, ground) >= 3.0, colour


@pytest.mark.parametrize("lines", [9, 19, 55])
def test_lines_differ_without_colour(lines):
    looks = [style.line_style(i, lines) for i in range(lines)]
    assert len({(look["marker"], look["linestyle"]) for look in looks}) == lines
    assert ":" not in {look["linestyle"] for look in looks}  # closed forms are dotted


def test_lines_of_one_colour_differ_in_marker_and_in_its_filling():
    looks = [style.line_style(i, 14) for i in range(14)]
    for one, other in combinations(looks, 2):
        if one["color"] == other["color"]:
            assert one["marker"] != other["marker"] and one["fillstyle"] != other["fillstyle"]


#: Matrices for linear RGB as seen with protanopia, deuteranopia and tritanopia (Machado, Oliveira & Fernandes 2009, severity 1).
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


#: XYZ of linear sRGB, relative to white.
XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2127, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]])


def lab(colour, sight):
    """CIE 1976 coordinates of a colour as somebody sees it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(XYZ @ np.clip(np.asarray(SIGHTS[sight]) @ linear, 0, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_at_most_seven_colours_that_any_sight_distinguishes(sight):
    assert len(style.COLOURS) <= 7
    pairs = combinations([lab(colour, sight) for colour in style.COLOURS], 2)
    assert min(float(np.linalg.norm(one - other)) for one, other in pairs) > 25
