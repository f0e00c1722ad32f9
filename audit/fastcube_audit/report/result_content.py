"""The content of one published result of the report page: its printed numbers next to the measured ones, and its verdict."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

from fastcube.measure.estimate import Estimate
from fastcube.measure.inventory import Evidence, Inventory, PrintedNumber, PublishedResult
from fastcube.measure.paper import Paper

from . import agreement
from .pieces import Pieces, anchor_result, find_readings, title_of

#: Largest number of characters of the statement on the line of a collapsed result.
_SHORT_TEXT_WIDTH = 120


def collect_result(pieces: Pieces, paper: Paper, result: PublishedResult) -> dict[str, Any]:
    """Return the whole content of one published result."""
    anchor, inventory = anchor_result(paper, result), paper.inventory
    by_name: dict[str, dict[str, Any]] = {}
    claims, examples = [], []
    for evidence in result.shown_by:
        if evidence.study:
            piece = pieces.find_study(evidence)
            if piece is not None and piece.name not in by_name:
                by_name[piece.name] = pieces.collect_study(piece, anchor)
        elif (key := (paper.name, evidence.claim)) in pieces.claims:
            claims.append(pieces.collect_claim(pieces.claims[key], anchor) | {"side": evidence.side})
        elif (key := (paper.name, evidence.example)) in pieces.examples:
            examples.append(pieces.collect_example(pieces.examples[key], anchor))
    studies = list(by_name.values())
    numbers = _collect_numbers(pieces, result, inventory)
    is_printed = result in inventory.results
    return {
        "anchor": anchor,
        "title": title_of(result),
        "result": result,
        "short": _shorten_text(result.stated),
        "readings": find_readings(paper, f"{result.interpretations} {result.stated}"),
        "table": _collect_table(result, inventory.tables, numbers, claims, _describe_statistics(pieces, result)),
        "more": _list_further_evidence(claims, studies, examples),
        "numbers": numbers,
        "compared": any(row["judged"] for row in numbers),
        "claims": claims,
        "studies": studies,
        "examples": examples,
        "verdict": _find_verdict(result, is_printed, numbers, claims, studies, examples),
        "measured": _describe_measured(pieces, result, numbers, claims, examples),
    }


def _shorten_text(text: str) -> str:
    """Return the text on one line of at most ``_SHORT_TEXT_WIDTH`` characters, cut at a word."""
    return textwrap.shorten(text, _SHORT_TEXT_WIDTH, placeholder=" ...") if len(text) > _SHORT_TEXT_WIDTH else text


def _find_verdict(
    result: PublishedResult,
    is_printed: bool,
    numbers: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    studies: list[dict[str, Any]],
    examples: list[dict[str, Any]],
) -> str:
    """Return the verdict on a result, from the verdicts on its evidence."""
    decided = [agreement.ClaimOutcome(claim["verdict"], claim["claim"].added, claim["side"]) for claim in claims]
    of_claims = agreement.claim_verdicts(decided, printed=is_printed)
    evidence = ["missing" if study["drawn"] is None and study["piece"].goal else "shown" for study in studies]
    evidence += [example["verdict"] for example in examples]
    return agreement.item_verdict(of_claims, _list_number_verdicts(numbers), evidence, bool(result.concept))


# ------------------------------------------------------------ printed numbers


def _collect_numbers(pieces: Pieces, result: PublishedResult, inventory: Inventory) -> list[dict[str, Any]]:
    """Return the printed numbers of a result, each with its comparisons or with the claim that decides it."""
    runs, compared = agreement.averaged_runs(result, inventory.tables), list(agreement.comparable_numbers([result]))
    out = []
    for printed in result.printed:
        claim = pieces.claims.get((inventory.paper, printed.claim))
        out.append(
            {
                "name": printed.name,
                "printed": agreement.printed_text(printed),
                "judged": [
                    _compare_number(pieces, number, evidence, runs)
                    for number, evidence in compared
                    if number is printed
                ],
                "claim": printed.claim,
                "verdict": "" if claim is None else pieces.find_outcome(claim),
            }
        )
    return out


def _compare_number(
    pieces: Pieces, printed: PrintedNumber, evidence: Evidence, runs: int | None
) -> agreement.Comparison:
    """Return the comparison of a printed number with the estimate of a statistic at its point."""
    piece = pieces.find_study(evidence)
    drawn = None if piece is None else pieces.drawn[piece.name]
    given_point = printed.point or {}
    found = [
        entry
        for entry in ([] if drawn is None else drawn["estimates"])
        if entry["statistic"] == evidence.statistic
        and all(entry["point"].get(name) == value for name, value in given_point.items())
    ]
    if len(found) != 1:
        return agreement.Comparison(evidence.statistic, "-", "missing")
    numbers = (found[0][name] for name in ("value", "stderr", "low", "high"))
    estimate = Estimate(*(math.nan if number is None else number / printed.unit for number in numbers))
    return agreement.compare_printed(printed, evidence.statistic, estimate, found[0]["eligible"], runs)


def _list_number_verdicts(numbers: list[dict[str, Any]]) -> list[str]:
    """Return one verdict per compared number; among several interpretations, one that agrees is enough."""
    out = []
    for row in numbers:
        keys = [comparison.key for comparison in row["judged"]]
        if keys:
            out.append(next(key for key in ("holds", "undecided", "unreproduced", "missing") if key in keys))
    return out


def _describe_statistics(pieces: Pieces, result: PublishedResult) -> dict[str, str]:
    """Return the descriptions of the statistics that show a result, by their names."""
    pairs = ((evidence.statistic, pieces.find_study(evidence)) for evidence in result.shown_by if evidence.statistic)
    return {name: piece.study.statistic(name).description for name, piece in pairs if piece is not None}


def _collect_table(
    result: PublishedResult,
    tables: Mapping[str, Any],
    numbers: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    descriptions: Mapping[str, str],
) -> dict[str, Any] | None:
    """Return a printed table, row by row, with a column of measured values for each compared statistic.

    Return None if the inventory does not hold the table in rows.  ``descriptions`` are those of the statistics.  The verdict of
    a row is the verdict of the claim ``ID-row-N``.
    """
    table = tables.get(result.id.replace("-", ""))
    if not isinstance(table, dict) or not {"columns", "rows"} <= table.keys():
        return None
    by_name = {row["name"]: row for row in numbers}
    by_claim = {claim["claim"].id: claim for claim in claims}
    compared = [
        (column, comparison.statistic)
        for column in table["columns"]
        if (row := by_name.get(f"{column}, row 1"))
        for comparison in row["judged"]
    ]
    rows = []
    for values in table["rows"]:
        of_row = {column: by_name.get(f"{column}, row {values[0]}") for column in table["columns"]}
        comparisons = {
            (column, comparison.statistic): comparison
            for column, row in of_row.items()
            if row
            for comparison in row["judged"]
        }
        claim = by_claim.get(f"{result.id}-row-{values[0]}")
        rows.append(
            {
                "printed": [
                    (of_row[column] or {"printed": f"{value:,}"})["printed"]
                    for column, value in zip(table["columns"], values, strict=True)
                ],
                "measured": [comparisons[key].measured if key in comparisons else "-" for key in compared],
                "verdict": claim["verdict"] if claim else "",
                "text": "; ".join(  # only for the first compared column: the other columns are the same value in other units
                    comparisons[key].text.partition(",")[0]
                    for key in compared
                    if key in comparisons and key[0] == compared[0][0]
                ),
            }
        )
    return {
        "columns": table["columns"],
        "measured_columns": [
            f"{column}, {descriptions[statistic].partition(', among ')[0]}" for column, statistic in compared
        ],
        "rows": rows,
    }


# ------------------------------------------------------------ texts


def _describe_measured(
    pieces: Pieces, result: PublishedResult, numbers: list[Any], claims: list[Any], examples: list[Any]
) -> str:
    """Return the measured side of a result's line: its numbers, decided claims, ranges of estimates, or an example."""
    if result.concept:
        return result.concept
    compared = [(row, row["judged"][0]) for row in numbers if row["judged"] and row["judged"][0].measured != "-"]
    parts = _describe_numbers(numbers, compared)
    worst = _find_worst_claim(claims)
    if worst and (not compared or worst["verdict"] in ("refuted", "depends", "misprint")):
        parts.append(_describe_line(worst["cases"][0]) if worst["cases"] else worst["checked"])
    if not compared:
        ranges = (_describe_estimates(pieces, evidence) for evidence in result.shown_by)
        parts += [text for text in ranges if text][:1]
    if not parts:
        parts += [_describe_line(example) for example in examples if example["gives"]][:1]
    return "; ".join(parts) or "-"  # not shortened, because the verdict can depend on the last word


def _describe_numbers(numbers: list[Any], compared: list[tuple[Any, agreement.Comparison]]) -> list[str]:
    """Return the first compared number as text, and how many of several compared numbers agree."""
    if not compared:
        return []
    row, first = compared[0]
    parts = [first.measured + (f" where {row['name']} is {row['printed']}" if len(numbers) > 1 else "")]
    if len(compared) > 1:
        parts.append(f"{_list_number_verdicts(numbers).count('holds')} of {len(compared)} numbers agree")
    return parts


def _find_worst_claim(claims: list[Any]) -> Any | None:
    """Return the checked claim with the worst verdict, of the claims that are about the result itself if there are any."""
    all_added = all(claim["claim"].added for claim in claims)
    own = [claim for claim in claims if not claim["side"] and (all_added or not claim["claim"].added)] or claims
    checked = [claim for claim in own if claim["checked"]]
    return min(checked, key=lambda claim: agreement.ORDER.index(claim["verdict"]), default=None)


def _describe_estimates(pieces: Pieces, evidence: Evidence) -> str:
    """Return the range of a statistic's estimates as text: the ends with their intervals and points."""
    piece = pieces.find_study(evidence) if evidence.study else None
    drawn = None if piece is None else pieces.drawn[piece.name]
    if piece is None or drawn is None:
        return ""
    span = drawn["spans"].get(evidence.statistic or piece.study.statistics[0].name)
    if span is None:
        return ""
    ends = (span["least"], span["most"])
    least, most = (f"{end['text']} ({end['at']})" if end["at"] else end["text"] for end in ends)
    return least if span["least"]["text"] == span["most"]["text"] else f"from {least} to {most}"


def _list_further_evidence(claims: list[Any], studies: list[Any], examples: list[Any]) -> str:
    """Return the evidence for a refuted result other than the claim that is shown first."""
    refuted = next((claim for claim in claims if claim["verdict"] == "refuted"), None)
    parts = [
        f"claim {claim['claim'].id} ({agreement.VERDICT_LABELS[claim['verdict']][0]})"
        for claim in claims
        if claim is not refuted
    ]
    parts += [f"study {study['piece'].name}" for study in studies]
    parts += [f"example {example['name']}" for example in examples]
    return ", ".join(parts)


def _describe_line(line: dict[str, Any]) -> str:
    """Return a case or an example as text: its description, and its value if it adds to the description."""
    return f"{line['description']}: {line['value']}" if line["has_value"] else str(line["description"])
