"""``fastcube replay --draw``: the picture of a trial shows its explanation, or the command ends with one line."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import run_in_process

import fastcube as fc

#: Values at which every study is drawn.
SMALL = {
    "n": 5,
    "m": 2,
    "f": 3,
    "links": 2,
    "rate": 0.2,
    "p": 0.1,
    "failed": 3,
    "destinations": 3,
    "network": "hypercube",
}

#: Marks that are drawn, by study: texts in nodes, headings, or signs.  A study without an entry shows its faults alone.
SHOWN = {
    "unsafe-fraction": "unsafe node, with its round",
    "routing": "path, with the number of each hop",
    "routing-rate": "path, with the number of each hop",
    "dualcube-routing": "path, with the number of each hop",
    "routing-rules": "path, with the number of each hop",
    "routing-rules-rate": "path, with the number of each hop",
    "broadcast": "time unit of receipt",
    "find-tree": "FIND_TREE",
    "optimal-tree": "OPTIMUM",
    "gather": "FIND_TREE",
    "rerouting": "FIND_TREE",
    "survival": "component, with its number of nodes",
    "survival-rate": "component, with its number of nodes",
    "survival-components": "component, with its number of nodes",
    "survival-curve": "component, with its number of nodes",
    "edst-broadcast": "tree 0",
    "two-partition": "2-cubes of P = {",
    "multicast": "channel of the multicast",
    "multicast-deadlock": "2-cubes of P = {",
    "multicast-wormhole": "2-cubes of P = {",
}


def small_point(name):
    """A point of a study in Q_5 or DC(2)."""
    study = fc.study(name)
    first = next(iter(study.grids[0].points))
    return ",".join(f"{axis.name}={SMALL.get(axis.name, first[axis.name])}" for axis in study.axes)


def replay(capsys, *given):
    return run_in_process(capsys, "replay", *given)


@pytest.mark.parametrize("name", mark_others_slow(fc.study_names(), 4))
def test_every_study_is_drawn_or_refused(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = (name, "--point", small_point(name), "--trial", "7", "--draw", "one.svg")
    code, out, said = replay(capsys, *given)
    said = "".join(line for line in said.splitlines(keepends=True) if not line.startswith("compiling"))
    if name == "hitting":
        assert (code, out) == (2, "")
        assert said == "fastcube: draw needs a trial with one fault set, got a whole order of failures\n"
        assert not Path("one.svg").exists()
        return
    assert (code, said) == (0, "picture in one.svg\n")
    heading = f"trial 7 of {name} at "
    assert out.startswith(heading)
    picture = Path("one.svg").read_text()
    title, description, *_ = parsed = ET.fromstring(picture)
    assert title.text.startswith(heading)
    point = dict(part.split("=") for part in small_point(name).split(","))
    values = fc.study(name).point(point)
    network = fc.study(name).sample(values, fc.study(name).key(0, values), 7).network
    circles = sum(e.tag.endswith("circle") and e.get("class") is None for e in parsed.iter())
    assert circles % 2**network.bits == 0
    faulty = [network.label(v) for v in range(2**network.bits) if network.is_faulty(v)]
    assert all(label in description.text for label in faulty)
    texts = " ".join(e.text for e in parsed.iter() if e.text)
    assert SHOWN.get(name, "") in texts
    replay(capsys, *given)
    assert Path("one.svg").read_text() == picture


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("unsafe-fraction", "--point", "n=9,f=3"), "n must be in [1, 6] to draw, got 9"),
        (("dualcube-routing", "--point", "m=3,rate=0.1"), "m must be in [1, 2] to draw, got 3"),
        (
            ("survival", "--point", "network=folded,n=4,f=1,links=0"),
            "network must be a Hypercube or a DualCube to draw, got network('folded', 4, ",
        ),
    ],
)
def test_other_trials_are_refused_in_one_line(given, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, said = replay(capsys, *given, "--trial", "1", "--draw", "one.svg")
    assert (code, out) == (2, "")
    assert said.splitlines()[-1].startswith(f"fastcube: {message}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("one.png", "draw must end in .svg, got one.png"),
        ("none/one.svg", "draw folder none does not exist"),
        ("notes.svg", "draw notes.svg is not a picture: nothing replaces it"),
    ],
)
def test_the_file_is_checked_before_the_trial_is_explained(file, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("notes.svg").write_text("my notes")
    given = ("unsafe-fraction", "--point", "n=5,f=1", "--trial", "1", "--draw", file)
    assert replay(capsys, *given) == (2, "", f"fastcube: {message}\n")
    assert Path("notes.svg").read_text() == "my notes"


def test_the_picture_of_the_first_page_is_what_its_lines_write(tmp_path, monkeypatch):
    docs = Path(__file__).resolve().parents[2] / "docs"
    if not docs.exists():
        pytest.skip("an installation has no pages")
    blocks = re.findall(r"```python\n(.*?)```", (docs / "start.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in [b for b in blocks if "(cube" in b]:
        exec(block, names)
    assert Path("q4.svg").read_text() == (docs / "_static/q4.svg").read_text()
    assert (docs / "_static/q4.svg").stat().st_size <= 60_000
