"""The processors that this process may use: affinity mask, Slurm, and control groups."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

from .environment import read_count


def processor_limits(root: Path = Path("/")) -> dict[str, int]:
    """Return the numbers of processors by the limit that sets them; limits that are not set are left out.

    ``root`` is the folder that contains ``proc``.  Raises ParameterError unless ``SLURM_CPUS_PER_TASK`` is a positive integer.
    """
    mask = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = {"affinity mask": mask}
    if (slurm := read_count("SLURM_CPUS_PER_TASK")) is not None:
        limits["SLURM_CPUS_PER_TASK"] = slurm
    quotas = list(_control_group_quotas(root))
    if quotas:
        quota = min(quotas)
        limits[f"CPU quota of the control group, {quota:.4g}"] = max(1, math.ceil(quota))
    return limits


def _control_group_quotas(root: Path) -> Iterator[float]:
    """Yield the quotas, in processors, of this process's control groups of version 1 and 2 and of all their parents."""
    for folder, top in _control_group_folders(root):
        for group in (folder, *folder.parents):
            with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
                yield _read_quota(group)
            if group == top:
                break


def _read_quota(group: Path) -> float:
    """Return the quota of one control group in processors.  Raises OSError or ValueError if it has none."""
    if (group / "cpu.max").exists():
        quota, period = (group / "cpu.max").read_text().split()
    else:
        quota = (group / "cpu.cfs_quota_us").read_text()
        period = (group / "cpu.cfs_period_us").read_text()
    processors = int(quota) / int(period)  # ValueError for "max", no limit
    if processors <= 0:  # -1 also means no limit
        raise ValueError("no quota")
    return processors


def _control_group_folders(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the folders of this process's control groups that may limit processors, each with its mount point."""
    try:
        groups = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
        mounts = [line.split() for line in (root / "proc/self/mountinfo").read_text().splitlines() if " - " in line]
    except OSError:  # not Linux
        return
    for fields in mounts:
        kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
        if kind not in ("cgroup", "cgroup2") or (kind == "cgroup" and "cpu" not in options):
            continue
        top = root / _unescape(fields[4]).lstrip("/")
        for _, controllers, path in groups:
            if ("cpu" in controllers.split(",")) if kind == "cgroup" else not controllers:
                # in a container the group is at the mount, and ``path`` is relative to the host or to the name space
                inside = os.path.relpath(path, _unescape(fields[3]))
                folder = top if inside.startswith("..") else top / inside
                yield (folder if folder.is_dir() else top), top


def _unescape(text: str) -> str:
    """Decode a path in mountinfo, where whitespace and backslashes are written as octal numbers."""
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
