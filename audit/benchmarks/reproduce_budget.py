"""What the pieces of ``fastcube reproduce`` cost, and how many trials a quick one takes: makes ``report/budget.json``.

    python audit/benchmarks/reproduce_budget.py studies > studies.jsonl          # a line a grid
    python audit/benchmarks/reproduce_budget.py claims [full] > claims.jsonl     # a line a claim
    python audit/benchmarks/reproduce_budget.py write studies.jsonl claims.jsonl [claims-full.jsonl]

Times are CPU seconds of one core, with kernels compiled before, so that a loaded machine measures nearly the same.  A grid's
trials are doubled until they take SECONDS; what a trial costs at all its points together follows by division.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import fastcube as fc
from fastcube.measure import registry
from fastcube_audit import registries
from fastcube_audit.claims import Effort

#: CPU seconds of a grid in a quick run: some 25 grids, two cores.
SECONDS = 6.0

#: Not run: hours.  Shown where the folder holds its file.
SKIPPED_GRIDS = {"unsafe-critical": ["fine"]}

DATA = Path(__file__).parent.parent / "fastcube_audit" / "report" / "budget.json"


def print_json(**line: object) -> None:
    print(json.dumps(line), flush=True)


def measure_cost(study: str, grid: str, trials: int) -> float:
    begun = time.process_time()
    fc.run(study, grid=grid, trials=trials, workers=1)
    return time.process_time() - begun


def measure_studies() -> None:
    for study in registry.studies().values():
        for grid in study.grids:
            if grid.name in SKIPPED_GRIDS.get(study.name, ()):
                continue
            measure_cost(study.name, grid.name, 1)  # loads or compiles the kernels
            still, trials = measure_cost(study.name, grid.name, 1), 1
            while (took := measure_cost(study.name, grid.name, trials) - still) < SECONDS / 3 and trials < grid.trials:
                trials = min(grid.trials, trials * max(2, min(64, int(SECONDS / 2 / max(took, 1e-3)))))
            print_json(study=study.name, grid=grid.name, still=still, each=max(took, 1e-4) / trials, trials=grid.trials)


def measure_claims(full: bool) -> None:
    for claim in registries.claims():
        begun = time.process_time()
        try:
            claim.decide(Effort(quick=not full))
        except Exception as error:
            print(f"{claim.paper} {claim.id}: {error}", file=sys.stderr)
        print_json(paper=claim.paper, claim=claim.id, seconds=time.process_time() - begun, full=full)


def round_down(trials: float) -> int:
    """Two digits, downwards; at least 16."""
    digits = 10 ** max(0, len(str(int(trials))) - 2)
    return max(16, int(trials) // digits * digits)


def format_budget(data: dict[str, dict[str, dict[str, object]]]) -> str:
    """The data as JSON, a grid or a claim a line."""
    parts = []
    for part, owners in data.items():
        texts = []
        for owner, entries in owners.items():
            lines = ",\n".join(f"   {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
            texts.append(f"  {json.dumps(owner)}: {{\n{lines}\n  }}")
        parts.append(f" {json.dumps(part)}: {{\n" + ",\n".join(texts) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_budget(files: list[str]) -> None:
    out: dict[str, dict[str, dict[str, object]]] = {"studies": {}, "claims": {}}
    for line in (json.loads(line) for file in files for line in Path(file).read_text().splitlines()):
        if "grid" in line:
            quick = min(line["trials"], round_down((SECONDS - line["still"]) / line["each"]))
            seconds = [round(line["still"] + trials * line["each"], 1) for trials in (quick, line["trials"])]
            out["studies"].setdefault(line["study"], {})[line["grid"]] = {
                "quick": quick,
                "full": line["trials"],
                "seconds": seconds,
            }
        else:
            seconds = out["claims"].setdefault(line["paper"], {}).setdefault(line["claim"], [0.0, 0.0])
            seconds[line["full"]] = round(line["seconds"], 1)  # type: ignore[index]
    for study, grids in SKIPPED_GRIDS.items():
        for grid in grids:
            out["studies"].setdefault(study, {})[grid] = {"quick": 0, "full": 0, "seconds": [0, 0]}
    DATA.write_text(format_budget(out))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["studies"]:
            measure_studies()
        case ["claims"]:
            measure_claims(full=False)
        case ["claims", "full"]:
            measure_claims(full=True)
        case ["write", *files] if files:
            write_budget(files)
        case _:
            sys.exit(__doc__)
