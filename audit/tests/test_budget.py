"""Damage in the measured budget of the report: one line that names the file."""

from __future__ import annotations

import pytest
from helpers.damaged_data import damages_with_other_errors

from fastcube.measure.paper import papers_with_inventory
from fastcube_audit.registries import audited_paper
from fastcube_audit.report import plan


@pytest.fixture(autouse=True)
def clean():
    yield
    plan.budget.cache_clear()


def test_a_damaged_budget_is_one_line(monkeypatch):
    papers = [audited_paper(paper) for paper in papers_with_inventory()]

    def make_plan():
        plan.budget.cache_clear()
        plan.plan_of(papers, quick=True)

    assert damages_with_other_errors(monkeypatch, "budget", make_plan, "fastcube_audit.report") == {}
