"""``fastcube reproduce``: everything that the papers print next to the measured values, in one HTML file.

``plan.py`` lists the pieces, ``running.py`` computes them, ``folder.py`` stores them, ``agreement.py`` compares printed with
measured values, ``content.py`` collects the content of the page (``pieces.py`` of a piece, ``result_content.py`` of a published
result), and ``render.py`` fills the HTML templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plan import Plan
    from .running import Maker


def _check_extra() -> None:
    """Raise MissingDependencyError if Jinja2 or matplotlib is not installed."""
    from fastcube.errors import MissingDependencyError
    from fastcube.plot import require_matplotlib

    need = "reports need Jinja2 and matplotlib: pip install jinja2 matplotlib"
    require_matplotlib(need)
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingDependencyError(need) from None


def prepare(papers: Sequence[str] | None, quick: bool) -> Plan:
    """Return the plan for some papers, or all.  Raises every error that can be detected before anything is computed."""
    _check_extra()
    from fastcube.measure.paper import papers_with_inventory

    from ..registries import audited_paper
    from .plan import plan_of

    return plan_of([audited_paper(paper) for paper in papers_with_inventory(papers)], quick)


def reproduce(
    folder: str | Path,
    *,
    quick: bool = False,
    papers: str | Sequence[str] | None = None,
    workers: Any = None,
    max_seconds: Any = None,
    progress: str = "none",
    force: bool = False,
) -> Path:
    """Measure and decide everything that the papers print, and write it next to their statements into ``folder/report.html``.

    Call it again to continue where it stopped, or to extend a quick report to full effort.  Finished pieces are reused.

    Parameters
    ----------
    folder : path
        The folder of the report, created if it does not exist.  It receives results files, verdicts and the report.
    quick : bool
        Whether to use fewer trials and smaller ranges: some 5 minutes on two cores instead of 20.
    papers : str or sequence of str, optional
        ``lee_hayes``, ``leu_kuo``, ``sui_wang_lee``, ``wang_lin_kuo``, ``li_peng_chu``; by default all.
    workers : int, optional
        As in :func:`fastcube.run`.
    max_seconds : float, optional
        Stop after this time, in seconds, and keep all finished pieces.  Call again to continue.
    progress : str
        ``auto``, ``bar``, ``lines`` or ``none``.
    force : bool
        Whether to compute every piece again.

    Returns
    -------
    Path
        The path of ``report.html``.

    Raises
    ------
    ParameterError, StudyMismatchError, ResultFileError, MissingDependencyError
    KeyboardInterrupt, SystemExit
        After SIGINT or SIGTERM; finished pieces are kept.

    Examples
    --------
    >>> fastcube_audit.reproduce("report", papers="lee_haye")
    Traceback (most recent call last):
        ...
    fastcube.errors.ParameterError: paper must be lee_hayes, ..., got lee_haye; did you mean lee_hayes?
    """
    from fastcube.errors import ParameterError, check_flag, is_many, short_repr
    from fastcube.running.signals import raise_signal_error

    if papers is not None and not is_many(names := [papers] if isinstance(papers, str) else papers):
        raise ParameterError(f"papers must be names of papers, got {short_repr(papers)}")
    quick, force = check_flag("quick", quick), check_flag("force", force)
    plan = prepare(None if papers is None else list(names), quick)
    maker = build_maker(folder, plan, workers, max_seconds, progress, force)
    raise_signal_error(maker.run())
    return maker.folder.page


def build_maker(folder: str | Path, plan: Plan, workers: Any, max_seconds: Any, progress: str, force: bool) -> Maker:
    """Check all arguments and return the object that computes the pieces of a plan."""
    import time

    from fastcube.errors import check_path, parse_count
    from fastcube.measure.grid import parse_number
    from fastcube.running.engines import check_workers
    from fastcube.running.run_checks import check_seconds

    from .folder import Folder
    from .running import CombinedProgress, Maker

    whole = CombinedProgress(progress, plan)
    count = None if workers is None else parse_count("workers", workers)
    check_workers(count)
    seconds = None if max_seconds is None else parse_number("max_seconds", max_seconds)
    check_seconds(seconds)
    deadline = None if seconds is None else time.monotonic() + seconds
    return Maker(plan, Folder(check_path("folder", folder)), whole, count, deadline, force)
