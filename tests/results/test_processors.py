"""Limits on processors: affinity mask, Slurm, and quotas of control groups as containers and batch systems set them."""

import os

import pytest

import fastcube as fc
from fastcube.cli import main
from fastcube.results import provenance
from fastcube.results.processors import processor_limits

V1 = "32 31 0:29 {root} /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct"
V2 = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"


def group_limit(folder, cgroup, mountinfo, files):
    """The limit that a made-up /proc and /sys give; None where the control group sets none."""
    for name, text in {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n")
    return next((n for name, n in processor_limits(folder).items() if "control group" in name), None)


def v1(quota, period=100_000, group=""):
    folder = f"sys/fs/cgroup/cpu/{group}".rstrip("/")
    return {f"{folder}/cpu.cfs_quota_us": str(quota), f"{folder}/cpu.cfs_period_us": str(period)}


@pytest.mark.parametrize(
    ("cgroup", "mounts", "files", "expected"),
    [
        # Docker and Podman with a name space of their own, version 2
        ("0::/", V2.format(root="/"), {"sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
        ("0::/", V2.format(root="/"), {"sys/fs/cgroup/cpu.max": "50000 100000"}, 1),
        ("0::/", V2.format(root="/"), {"sys/fs/cgroup/cpu.max": "max 100000"}, None),
        # a parent's quota holds too
        (
            "0::/a/b",
            V2.format(root="/"),
            {"sys/fs/cgroup/a/cpu.max": "300000 100000", "sys/fs/cgroup/a/b/cpu.max": "max 100000"},
            3,
        ),
        (
            "0::/a/b",
            V2.format(root="/"),
            {"sys/fs/cgroup/a/cpu.max": "900000 100000", "sys/fs/cgroup/a/b/cpu.max": "200000 100000"},
            2,
        ),
        # Kubernetes, version 1: the path is the host's, the mount shows the pod's group as its root
        ("4:cpu,cpuacct:/kubepods/pod1", V1.format(root="/kubepods/pod1"), v1(400_000), 4),
        ("4:cpu,cpuacct:/kubepods/pod1/x", V1.format(root="/kubepods/pod1"), v1(250_000, group="x"), 3),
        ("4:cpu:/", V1.format(root="/"), v1(-1), None),
        ("4:cpu:/a/b", V1.format(root="/"), {**v1(-1, group="a/b"), **v1(700_000, group="a")}, 7),
        # both versions mounted; the processors are with version 1
        ("1:cpu:/a\n0::/", V1.format(root="/") + "\n" + V2.format(root="/"), v1(100_000, group="a"), 1),
        # a path outside of the name space
        ("0::/../other", V2.format(root="/"), {"sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        ("5:memory:/", V1.format(root="/").replace("cpu,cpuacct", "memory"), {}, None),
        ("", "", {}, None),
        ("0::/", V2.format(root="/"), {"sys/fs/cgroup/cpu.max": "nonsense"}, None),
    ],
)
def test_quotas_of_control_groups(tmp_path, cgroup, mounts, files, expected):
    assert group_limit(tmp_path, cgroup, mounts, files) == expected


def test_threads_are_the_least_of_all_limits(monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    monkeypatch.setattr(provenance, "processor_limits", lambda: {"affinity mask": 8, "CPU quota": 3})
    assert provenance.available_cpus() == 3
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "2")
    with pytest.raises(SystemExit):
        main(["info"])
    printed = capsys.readouterr().out
    assert f"threads   2\nlimit     SLURM_CPUS_PER_TASK; the machine has {os.cpu_count()} processors\n" in printed


@pytest.mark.parametrize("text", ["²", "0", "-1", "many", "1.5"])
def test_a_number_of_processors_that_is_none_is_named(monkeypatch, text):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", text)
    with pytest.raises(
        fc.ParameterError, match=rf"SLURM_CPUS_PER_TASK must be an integer in \[1, 999999999\], got {text}"
    ):
        processor_limits()
