"""Cache verdicts in the user's cache folder, so that unchanged code decides a claim with one effort only once.

An entry is a JSON file.  Its name is a hash of everything that the verdict depends on: all sources of the engine and of the
audit, the versions of Python and of the libraries, the claim and the effort.  The sources are hashed before the worker that
decides the claim starts.  The worker imports modules on demand, so a verdict is stored only if no source file changed until the
verdict arrived.
Claims from code outside the audit are not cached, because the hash does not cover their code.  Only the user can write to the
cache folder (``kernels/machine/cache_roots.py``).  A damaged entry, or an entry of another claim, is ignored.
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

from fastcube.errors import FastcubeError
from fastcube.results.provenance import library_versions

from . import storage
from .claims import Claim, Effort
from .sources import hash_sources, have_sources_changed

#: Deciders of modules with this prefix have their sources in the package's hash.
_PACKAGE_PREFIX = f"{__name__.partition('.')[0]}."


@functools.cache
def _cache_folder() -> Path | None:
    """Return the folder of cached verdicts, created if necessary, or None if no cache folder is usable."""
    from fastcube.kernels.machine.cache_roots import explain_unusable, list_cache_roots

    for named in list_cache_roots():
        root = Path(os.path.realpath(named))
        if explain_unusable(root) is None and explain_unusable(root / "verdicts") is None:
            return root / "verdicts"
    return None


@functools.cache
def _code_fingerprint() -> str:
    """Return the code that a verdict depends on, as JSON: hash of the sources, versions of Python and of the libraries."""
    return json.dumps([hash_sources(looks=False), platform.python_version(), library_versions()])


def _verdict_path(claim: Claim, quick: bool) -> Path | None:
    """Return the cache file of a verdict, or None for a claim that is not cached."""
    if not claim.decider.__module__.startswith(_PACKAGE_PREFIX) or (folder := _cache_folder()) is None:
        return None
    hangs_on = [_code_fingerprint(), claim.paper, claim.id, quick]
    return folder / f"{hashlib.sha256(json.dumps(hangs_on).encode()).hexdigest()}.json"


def load_verdict(claim: Claim, quick: bool) -> dict[str, Any] | None:
    """Return the cached report of a claim, as from ``Claim.report``, or None if this code and effort have not decided it."""
    place = _verdict_path(claim, quick)
    held = None if place is None else storage.read_entry(place, storage.REPORT)
    frame = claim.report_header(Effort(quick))
    return held if held is not None and {name: held[name] for name in frame} == frame else None


def store_verdict(claim: Claim, report: dict[str, Any]) -> None:
    """Cache the report of a claim, unless deciding failed or a source file changed while the claim was decided."""
    place = None if "failed" in report else _verdict_path(claim, report["effort"] == "quick")
    if place is not None and not have_sources_changed():
        with contextlib.suppress(OSError, FastcubeError):  # a full disk must not cost the verdict
            storage.write_entry(place, report)
