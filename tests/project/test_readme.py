"""README: its length, its printed outputs, and the numbers of its sentences, against cached results, studies and records."""

import contextlib
import gzip
import io
import json
import re
from pathlib import Path

import pytest

import fastcube as fc
from fastcube.cli import main
from fastcube.results.rounding import estimate_texts

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text()
ONE_LINE = " ".join(TEXT.split())


def read_page(name):
    return " ".join((ROOT / "docs" / f"{name}.md").read_text().split())


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    def load_results(name):
        path = tmp_path_factory.mktemp("readme") / f"{name}.h5"
        path.write_bytes(gzip.decompress((ROOT / "docs" / "results" / f"{name}.h5.gz").read_bytes()))
        return fc.open_results(path)

    return load_results


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 150


def test_its_first_words_give_a_reason_to_believe_a_number():
    assert "agree with plain-Python reference implementations" in " ".join(TEXT.split()[:120])


@pytest.mark.kernels
def test_each_program_prints_the_text_below_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    pairs = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(pairs) == TEXT.count("```python") == TEXT.count("```text") == 2
    for program, text in pairs:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(
                compile("\n" * TEXT[: TEXT.index(program)].count("\n") + program, str(ROOT / "README.md"), "exec"),
                names,
            )
        assert printed.getvalue().strip() == text.strip()
    assert (tmp_path / "survival.png").exists()


def test_sentences_about_figures(load):
    trials = sum(tally.trials for _, tally in load("unsafe-fraction"))
    assert f"from {trials // 10**6} million random fault sets" in ONE_LINE and trials % 10**6 == 0
    heavy = load("routing-rules-heavy")
    delivered = {
        rule: f"{heavy.estimate(f'{rule}_delivered', n=10, f=512).value:.1%}" for rule in ("dfs", "levels", "vectors")
    }
    assert delivered["levels"] == delivered["vectors"]
    assert f"depth-first search (DFS) still delivers {delivered['dfs']} of the messages" in ONE_LINE
    assert f"safety levels and vectors deliver {delivered['levels']}" in ONE_LINE


def test_sentences_about_results(load):
    """Other tests hold those on rules (test_tables) and on claims (the audit's test_errata)."""
    survival = load("survival")
    hypercube, folded = (
        estimate_texts([survival.estimate("connected", network=name, n=8, f=128)])[0]
        for name in ("hypercube", "folded")
    )
    behind = [
        survival.estimate("connected_diff", network=name, n=8, f=128)
        for name in ("crossed", "locally-twisted", "moebius0", "moebius1")
    ]
    assert all(difference.high < 0 for difference in behind)
    values = sorted(-difference.value for difference in behind)
    assert f"survivors of the hypercube are connected with probability {hypercube}. Four twisted cubes" in ONE_LINE
    assert f"are behind by {values[0]:.5f} to {values[-1]:.5f}, but" in ONE_LINE
    assert f"raises the probability to {folded}." in ONE_LINE
    rows = json.loads((ROOT / "data" / "critical.json").read_text())["rows"]
    place, low, high, *_ = rows["24"]
    assert f"measured for n = {min(map(int, rows))} to {max(map(int, rows))}" in ONE_LINE
    assert f"as {place} [{low}, {high}] at n = 24" in ONE_LINE
    mean, half = re.search(
        r"^40  20  200,000 .* ([\d.]+)e-07 ± ([\d.]+)e-10$", (ROOT / "docs/rare.md").read_text(), re.M
    ).groups()
    assert f"Among 20 faults in Q_40, ({mean} ± {float(half) / 1000:.4f}) · 10⁻⁷ nodes" in ONE_LINE
    assert (
        "about 6 · 10¹² for the mean" in read_page("rare")
        and "but plain sampling would need about 6 · 10¹²" in ONE_LINE
    )


@pytest.mark.kernels  # the script has an estimate of its time
def test_the_cluster_commands_are_those_of_the_script(capsys):
    (line,) = re.findall(r"^    fastcube (slurm .*?) > job\.sh", TEXT, re.MULTILINE)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(line.split())
    script = capsys.readouterr().out
    assert "\n#SBATCH --array=0-63\n" in script and "as three jobs that wait for each other" in script
    assert 'merge "${shards[@]}" -o "$name".h5' in script and "+=(survival-" in script
    assert "    fastcube info survival.h5 " in TEXT


def test_speed_is_that_of_the_record():
    record = {tuple(row[:2]): row[2:] for row in json.loads((ROOT / "data" / "speed.json").read_text())["rows"]}
    table = TEXT.partition("\n## Speed\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+ .+=.+) \| ([\d,]+) \| ([\d,]+) \((.+)\) \|$", table, re.MULTILINE)
    assert len(rows) == 3
    for name, *numbers, baseline in rows:
        rounded = [float(f"{value:.3g}") for value in record[name, baseline]]
        assert [float(number.replace(",", "")) for number in numbers] == rounded, name


def test_limitations_are_those_of_the_axes():
    limits = {
        name: {axis.name: axis.high for axis in fc.study(name).axes if hasattr(axis, "high")}
        for name in fc.study_names()
    }
    text = ONE_LINE.partition("## Limitations")[2]
    largest, faults = re.search(r"up to n = (\d+) and ([\d,]+) faults", text).groups()
    of_cubes = sorted({axes["n"] for axes in limits.values() if "n" in axes})
    *others, most = of_cubes
    assert (
        most == int(largest) and f"stop between n = {others[0]} and n = {others[-1]}, as `fastcube list STUDY`" in text
    )
    assert int(faults.replace(",", "")) == limits["unsafe-fraction"]["f"]
