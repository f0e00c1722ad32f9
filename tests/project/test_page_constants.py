"""Limits, defaults and sizes in sentences of the documentation equal the code's, or the records of attempts."""

from __future__ import annotations

import gzip
import importlib.util
import inspect
import io
import json
import math
import re
import signal
import tomllib
from pathlib import Path

import h5py
import pytest
import yaml
from click.shell_completion import BashComplete

import fastcube as fc
from fastcube.cli import sweep
from fastcube.cli.slurm import MOST_IDLE_RESTARTS
from fastcube.cli.slurm import command as slurm
from fastcube.kernels.draws.bernoulli import MIN_DIGIT_RATE
from fastcube.kernels.draws.pairs import _MOST_PAIRS
from fastcube.kernels.tally.layout import DIGIT_BITS
from fastcube.measure import evaluations, fault_sets
from fastcube.measure.estimate import proportion
from fastcube.measure.goal import FEW_EVENTS, FIRST_PREFIX
from fastcube.measure.outputs import MAX_BINS, STEPS
from fastcube.results import citing, hdf5, memory, parallel_sum
from fastcube.results.rounding import estimate_text, estimate_texts
from fastcube.results.size import LIMB_BITS
from fastcube.running import checkpoints, planning, signals
from fastcube.studies.lee_hayes import threshold

ROOT = Path(__file__).resolve().parents[2]
TRIED = json.loads((ROOT / "data/tried.json").read_text())["programs"]
KEPT = gzip.decompress((ROOT / "docs/results/unsafe-fraction.h5.gz").read_bytes())


def read_words(name: str) -> str:
    """A document with all its words on one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def count_points() -> int:
    return len(fc.study("unsafe-fraction").grid().points)


def python_needed() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return f"Python {project['requires-python'].removeprefix('>=')} or later"


SENTENCES = {
    "README.md": [python_needed],
    "docs/batch.md": [
        lambda: f"A run writes its file after {checkpoints.FIRST:.0f} s, then every {checkpoints.EVERY:.0f} s",
        lambda: f"later once per {checkpoints.GROWTH:.0%} of the run time",
        lambda: f"but at least every {checkpoints.AT_MOST / 60:.0f} minutes",
        lambda: f"checks all runs, at most {sweep._MOST_RUNS:,}, then",
        lambda: f"| {signals.WORK_REMAINS} | work remains after SIGUSR1, SIGXCPU or `--max-seconds`",
        lambda: (
            f"| {', '.join(map(str, codes(signal.SIGHUP, signal.SIGINT, signal.SIGTERM)))} | SIGHUP, SIGINT, SIGTERM;"
        ),
        lambda: f"takes at most {TRIED['Slurm']['MaxArraySize']} tasks in an array (`MaxArraySize`)",
        lambda: f"after {('two', 'three', 'four')[MOST_IDLE_RESTARTS - 2]} restarts only if it counted new trials",
        lambda: f"as seen on Slurm {TRIED['Slurm']['version'].rpartition('.')[0]}, where tests submit the script",
        lambda: (
            f"an image that Podman {TRIED['Podman']['version'].rpartition('.')[0]} built from {TRIED['Podman']['base']}."
        ),
        lambda: f"time limit in {next(x.default for x in slurm.params if x.name == 'margin')} s (`--margin`)",
        lambda: f"and {memory.needed_memory('own', 1)} MiB for a study of your own with one worker",
        lambda: (
            f"requests a {('fifth', 'quarter', 'third')[round(12 * (memory._MARGIN - 1)) - 2]} more than a run that compiles"
        ),
        lambda: "compiled kernels takes up to {} MiB, and each further worker up to {} MiB".format(
            *most("warm", "worker")
        ),
        lambda: "A run that compiles takes up to {} MiB, and `routing-rules` {} MiB".format(
            *most("cold", but="routing-rules"), *most("cold")
        ),
    ],
    "docs/costs.md": [
        lambda: f"at most {('three', 'four', 'five')[parallel_sum._MAX_PROCESSES - 3]} and at most one per processor",
        lambda: f"on shards of {count_points()} points of `unsafe-fraction`",
    ],
    "docs/comparison.md": [
        lambda: f"Q_5 did not fit into {TRIED['Graphillion']['memory']} when we tried it",
        lambda: f"Graphillion: version {TRIED['Graphillion']['version']}, run by us",
    ],
    "docs/critical.md": [
        lambda: f"A polynomial of degree {('four', 'five', 'six')[threshold.DEGREE - 4]} in log p",
        lambda: f"one sample in {('a thousand', 'a hundred')[chance_of_a_worse_fit() > 1e-3]} does: chi-square",
    ],
    "docs/faults.md": [
        lambda: f"may bring {evaluations._MOST_PIPED >> 20} MiB of text",
        lambda: f"in networks of up to 2^{fault_sets.MAX_LISTED.bit_length() - 1} nodes",
    ],
    "docs/format.md": [
        lambda: f"readable by HDF5 1.{hdf5._CREATE_OPTIONS['libver'][1].removeprefix('v10')} and later",
        lambda: f"Octave {TRIED['Octave']['version'].rpartition('.')[0]} reads a whole file",
        lambda: f"| `Conventions` | text | `{read_attributes()['Conventions']}` |",
        lambda: f"limbs in base 2^{LIMB_BITS}, least significant first",
        lambda: f"the sum is limb 0 + 2^{LIMB_BITS} limb 1 + 2^{2 * LIMB_BITS} limb 2",
    ],
    "docs/glossary.md": [lambda: f"part of a wide sum in base 2^{DIGIT_BITS};"],
    "docs/index.md": [python_needed, lambda: f"from {count_points()} million random fault sets"],
    "docs/install.md": [python_needed],
    "docs/rare.md": [lambda: f"Request at least {FEW_EVENTS} events"],
    "docs/reading.md": [
        lambda: f"`{estimate_texts([proportion(0, 10**5), proportion(300, 1000)])[0]}` | no trial showed the event",
        lambda: f"`{estimate_text(proportion(20_000, 20_000))}` | all trials showed the event",
    ],
    "docs/lanes.md": [lambda: f"takes about {cycles_per_trial():.0f} cycles of the processor"],
    "docs/random.md": [
        lambda: f"For p < 1/{1 / MIN_DIGIT_RATE:.0f} the number of faults K is binomial(2^n, p)",
        lambda: f"(for `survival-rate` from 1/{1 / MIN_DIGIT_RATE:.0f} on see below)",
        lambda: f"A trial is discarded if the first 2^{_MOST_PAIRS.bit_length() - 1} attempts all fail",
        lambda: f"or if the first 2^{_MOST_PAIRS.bit_length() - 1} candidates all fail",
    ],
    "docs/report.md": [
        lambda: f"{signals.WORK_REMAINS} if work remains, {signals.INTERRUPTED} or {signals.TERMINATED} after a signal",
    ],
    "docs/rules.md": [
        lambda: f"from papers of {min(rule_years())} to {max(rule_years())}, of which we have read",
        lambda: f"with a given probability, up to n = {fc.study('routing-rules-rate').axes[0].high}",
    ],
    "docs/speed.md": [lambda: f"rates from 1/{1 / MIN_DIGIT_RATE:.0f} up, where each node has its own number"],
    "docs/start.md": [lambda: f"`< {proportion(0, 10**5).high:.6f}` is the upper limit of the interval"],
    "docs/statistics.md": [
        lambda: f"complete prefixes of {superscript(FIRST_PREFIX)}, {superscript(2 * FIRST_PREFIX)}, ... trials",
        lambda: f"stops on fewer than {FEW_EVENTS} events prints `few events`",
    ],
    "docs/study.md": [
        lambda: f"counted in steps of 2⁻{superscript(int(STEPS))[1:]} of the range",
        lambda: f"requires a constant bound of at most {MAX_BINS - 1};",
    ],
    "docs/terminal.md": [
        lambda: f"bash ({re.search(r'older than ([0-9.]+)[.]', inspect.getsource(BashComplete))[1]} or newer)",
        lambda: f"Up to {planning.MEASURED} of the points run for half a second in total",
        lambda: f"from equal numbers of trials, about {math.erfc(1.959964):.1%} are listed by chance",
    ],
}


def chance_of_a_worse_fit() -> float:
    """Probability that chi-square of one degree of freedom is larger than the page's."""
    return math.erfc(math.sqrt(json.loads((ROOT / "data/critical.json").read_text())["chi_square"]["18"] / 2))


def cycles_per_trial() -> float:
    record = json.loads((ROOT / "data/scaling.json").read_text())
    return float(record["processor"].split()[-2]) * 1e9 / (record["trials"]["1"]["1"] * 1e6)


def rule_years() -> list[int]:
    return [int(fields["year"]) for _, _, fields in citing.listed_entries("routing_rules")]


def read_attributes() -> dict[str, str]:
    with h5py.File(io.BytesIO(KEPT), "r") as file:
        return {name: value.decode() if isinstance(value, bytes) else value for name, value in file.attrs.items()}


def most(*columns: str, but: str = "") -> list[int]:
    """Return the largest measured memory of all studies but one, in MiB."""
    measured = memory._measured_studies()
    return [max(figures[column] for name, figures in measured.items() if name != but) for column in columns]


def codes(*numbers: int) -> list[int]:
    return [signals.CODES[number] for number in numbers]


def superscript(power: int) -> str:
    return "2" + str(power.bit_length() - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


@pytest.mark.parametrize(("page", "number"), [(page, i) for page, some in SENTENCES.items() for i in range(len(some))])
def test_sentences_have_the_values_of_the_code(page, number):
    assert SENTENCES[page][number]() in read_words(page)


def test_shown_numbers_that_sentences_repeat():
    """Each decimal number of these sentences is in the output that the pages show, or is the exact mean of rare unsafe nodes.

    The answer of docs/rare.md has further numbers, which the test of answers computes.
    """
    pages, shown = ("start", "reading", "rare"), ""
    for page in pages:
        shown += "".join(re.findall(r"^```.*?^```", (ROOT / f"docs/{page}.md").read_text(), re.MULTILINE | re.DOTALL))
    exact = math.comb(20, 2) * math.comb(40, 2) * 2 / (2**40 - 1) * 1e7
    powers = [exact, *(float(number) for number in re.findall(r"([\d.]+)e-07", shown))]
    for page in pages:
        text = (ROOT / f"docs/{page}.md").read_text()
        text = text[text.index("\n## ") :] if page == "rare" else text
        prose = re.sub(r"^```.*?^```|\]\([^)]*\)", "", text, flags=re.M | re.S)
        for number in re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", prose):
            assert number in shown or float(number) in [round(x, len(number) - 2) for x in powers], number


def test_dask_has_the_defaults_that_the_page_names():
    """Read without importing it, which takes seconds."""
    package = importlib.util.find_spec("distributed")
    if package is None:
        pytest.skip("needs distributed")
    defaults = yaml.safe_load(Path(package.origin).with_name("distributed.yaml").read_text())["distributed"]
    page = read_words("docs/batch.md")
    assert f"(Dask's `distributed.scheduler.allowed-failures`, {defaults['scheduler']['allowed-failures']})" in page
    patience = 2 * int(defaults["comm"]["timeouts"]["connect"].removesuffix("s"))
    assert f"twice as long as Dask's `distributed.comm.timeouts.connect`, {patience} s by default" in page


def test_the_file_does_not_grow_with_checkpoints(tmp_path):
    (tmp_path / "r.h5").write_bytes(KEPT)
    results, sizes = fc.open_results(tmp_path / "r.h5"), set()
    for _ in range(3):
        results.save(tmp_path / "r.h5")
        sizes.add((tmp_path / "r.h5").stat().st_size)
    assert len(sizes) == 1


def test_what_graphillion_gave_is_exact():
    for n in (3, 4):
        links = fc.exact_survival("hypercube", n).links
        for case, given in TRIED["Graphillion"]["reliability"].items():
            if case.startswith(f"{n} "):
                p = float(case.split()[1])
                exact = sum(many * (1 - p) ** k * p ** (len(links) - 1 - k) for k, many in enumerate(links))
                assert given == pytest.approx(exact, rel=1e-14)


def test_shapes_of_raw_arrays():
    page = read_words("docs/format.md")
    with h5py.File(io.BytesIO(KEPT), "r") as file:
        for pattern, columns, text in (
            ("ranges", 3, "`ranges` | range, 3 |"),
            ("max_", 2, "`max_`EXTREME | point, 2 |"),
        ):
            assert {data.shape[1] for name, data in file["raw"].items() if name.startswith(pattern)} == {columns}
            assert text in page
        widths = {data.shape[1] for name, data in file["raw"].items() if name.startswith("numbers_")}
        assert "`numbers_`STATISTIC | point, 4 |" in page and "point, 4 + 3 K |" in page
        assert 4 in widths and all(width % 3 == 1 for width in widths)


def test_plain_sampling_of_rare_events():
    rows = json.loads((ROOT / "data/speed.json").read_text())["rows"]
    assert max(row[2] for row in rows) > 1e8  # 100 events of probability 10^-7 in 10^9 trials
    assert "runs more than 10⁸ trials per second in the fastest studies" in read_words("docs/rare.md")


def test_a_normal_interval_of_a_rare_event_misses_one_sample_in_three():
    page = (ROOT / "docs/statistics.md").read_text()
    rare = [
        float(x)
        for x in re.findall(r"^(?:proportion 0.01, 100|proportion 0.0001, 10,000|mean of 0).*?% +([\d.]+)%", page, re.M)
    ]
    assert len(rare) == 4 and all(abs(held / 100 - 2 / 3) < 0.06 for held in rare)
    assert abs(math.exp(-1) - 1 / 3) < 0.04  # no event where one is expected


def test_json_texts_of_new_files(tmp_path):
    """Of fixed length, as the page says."""
    (tmp_path / "kept.h5").write_bytes(KEPT)
    fc.open_results(tmp_path / "kept.h5").save(tmp_path / "new.h5")
    for name in ("kept", "new"):
        with h5py.File(tmp_path / f"{name}.h5", "r") as file:
            assert not any(file[f"{group}/json"].id.get_type().is_variable_str() for group in ("study", "provenance"))


def test_fields_of_json_texts():
    """Each field of a cached file's texts is in the page's tables, but for names of counters."""
    page = (ROOT / "docs/format.md").read_text(encoding="utf-8").partition("## Group `study`")[2]
    with h5py.File(io.BytesIO(KEPT), "r") as file:
        study, history = (json.loads(file[f"{group}/json"][()].rstrip(b"\0")) for group in ("study", "provenance"))
    fields = {name for entry in history for name in entry} | {name for axis in study["axes"] for name in axis}
    for statistic in study["statistics"]:
        counters = {counter["name"] for counter in study["counters"]}
        fields |= {name for name, value in statistic.items() if not isinstance(value, list) and value not in counters}
    assert {name for name in fields if name not in page} - {"shown"} == set()
    assert f"`schema_version` | version of these fields, `{history[0]['schema_version']}`" in page
