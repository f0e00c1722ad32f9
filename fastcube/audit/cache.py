"""Verdicts that are stored in fastcube's cache folder, so that one code decides a claim with one effort only once.

An entry is JSON.  Its name is a hash of the inputs of its verdict: every source of the package, the versions of Python and of
the libraries, the claim and the effort.  The sources are hashed before the worker that decides the claim starts.  A verdict
is stored only if no source was touched from then until the verdict came, because the worker imports modules when it needs them.
Claims of code outside of the package are not stored, because the hash does not hold their code.  The folder belongs to the user
and nobody else can write to it (``kernels/machine/cache_roots.py``).  An entry that was damaged, or is of another claim, is
ignored.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

from ..errors import FastcubeError
from ..results.provenance import hash_sources, have_sources_changed, library_versions
from . import storage
from .claims import Claim, Effort

#: Deciders whose sources the package's hash holds.
_PACKAGE_PREFIX = f"{__name__.partition('.')[0]}."


@functools.cache
def _cache_folder() -> Path | None:
    """Where verdicts are kept, made if need be; None when no folder of the user can be written."""
    from ..kernels.machine.cache_roots import explain_unusable, list_cache_roots

    for named in list_cache_roots():
        root = Path(os.path.realpath(named))
        if explain_unusable(root) is None and explain_unusable(root / "verdicts") is None:
            return root / "verdicts"
    return None


@functools.cache
def _code_fingerprint() -> str:
    """What decides here: the sources, Python and the libraries."""
    return json.dumps([hash_sources(looks=False), platform.python_version(), library_versions()])


def _verdict_path(claim: Claim, quick: bool) -> Path | None:
    """The file of a verdict; None where it is not kept."""
    if not claim.decider.__module__.startswith(_PACKAGE_PREFIX) or (folder := _cache_folder()) is None:
        return None
    hangs_on = [_code_fingerprint(), claim.paper, claim.id, quick]
    return folder / f"{hashlib.sha256(json.dumps(hangs_on).encode()).hexdigest()}.json"


def load_verdict(claim: Claim, quick: bool) -> dict[str, Any] | None:
    """What :meth:`~fastcube.audit.claims.Claim.report` gave with this code and effort; None where that is not known."""
    place = _verdict_path(claim, quick)
    held = None if place is None else storage.read_entry(place, storage.REPORT)
    frame = claim.report_header(Effort(quick))
    return held if held is not None and {name: held[name] for name in frame} == frame else None


def store_verdict(claim: Claim, report: dict[str, Any]) -> None:
    """Store a verdict if possible.  A failed decision is not a verdict, and one while sources changed may be of other code."""
    place = None if "failed" in report else _verdict_path(claim, report["effort"] == "quick")
    if place is not None and not have_sources_changed():
        with contextlib.suppress(OSError, FastcubeError):  # a full disk must not cost the verdict
            storage.write_entry(place, report)
