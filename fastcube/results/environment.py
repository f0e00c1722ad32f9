"""Checks of settings in the environment: integers, and values that Numba ignores or at which Numba or LLVM fail."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

from ..errors import ParameterError, plain_text


def read_count(name: str, least: int = 1) -> int | None:
    """Return the integer in an environment variable, or None if it is unset or empty.

    Raises ParameterError unless it is an integer of at least ``least``, with at most nine digits.
    """
    text = os.environ.get(name, "")
    if text and not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= least):
        raise ParameterError(f"{name} must be an integer in [{least}, 999999999], got {plain_text(text, 40)}")
    return int(text) if text else None


#: Settings of Numba that are integers, after ``NUMBA_``.
NUMBA_INTEGERS = """
    ALWAYS_WARN_UNINIT_VAR BOUNDSCHECK CUDA_ARRAY_INTERFACE_SYNC CUDA_DEBUGINFO CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY
    CUDA_LOG_API_ARGS CUDA_LOG_SIZE CUDA_LOW_OCCUPANCY_WARNINGS CUDA_MAX_PENDING_DEALLOCS_COUNT CUDA_PER_THREAD_DEFAULT_STREAM
    CUDA_USE_NVIDIA_BINDING CUDA_VERBOSE_JIT_LOG CUDA_WARN_ON_IMPLICIT_COPY DEBUG DEBUGINFO DEBUG_ARRAY_OPT
    DEBUG_ARRAY_OPT_RUNTIME DEBUG_ARRAY_OPT_STATS DEBUG_CACHE DEBUG_FRONTEND DEBUG_INLINE_CLOSURE DEBUG_JIT DEBUG_NRT
    DEBUG_NRT_STACK_LIMIT DEBUG_TYPEINFER DEVELOPER_MODE DIFF_IR DISABLE_CUDA DISABLE_INTEL_SVML DISABLE_JIT
    DISABLE_PERFORMANCE_WARNINGS DISABLE_TYPEINFER_FAIL_CACHE DUMP_ANNOTATION DUMP_ASSEMBLY DUMP_BYTECODE DUMP_CFG
    DUMP_FUNC_OPT DUMP_IR DUMP_LLVM DUMP_OPTIMIZED DUMP_SSA ENABLE_AVX ENABLE_CUDASIM ENABLE_PROFILING ENABLE_SYS_MONITORING
    EXTEND_VARIABLE_LIFETIMES FULL_TRACEBACKS HIGHLIGHT_DUMPS JIT_COVERAGE LLVM_PASS_TIMINGS LLVM_REFPRUNE_PASS LOOP_VECTORIZE
    NRT_STATS PARALLEL_DIAGNOSTICS PARFOR_MAX_TUPLE_SIZE SHOW_HELP SLP_VECTORIZE TRACE USE_LEGACY_TYPE_SYSTEM
    USE_LLVMLITE_MEMORY_MANAGER
"""

_COMPUTE_CAPABILITY = r"(\d+\.\d+)?", "a compute capability such as 8.0"

#: Setting of Numba, after ``NUMBA_`` -> pattern and description of the values that Numba takes.
_NUMBA_SETTINGS = {
    **dict.fromkeys(NUMBA_INTEGERS.split(), (r"\s*[+-]?\d{1,9}\s*", "an integer of at most nine digits")),
    "COLOR_SCHEME": (
        "(no_color|(dark|light|blue)_bg|jupyter_nb)",
        "no_color, dark_bg, light_bg, blue_bg or jupyter_nb",
    ),
    "CPU_FEATURES": (r"([+-][^\s,]+(,[+-][^\s,]+)*)?", "names that begin with + or -"),
    "CUDA_DEFAULT_PTX_CC": _COMPUTE_CAPABILITY,
    "CUDA_MAX_PENDING_DEALLOCS_RATIO": (r"\d+(\.\d*)?", "a number"),
    "FORCE_CUDA_CC": _COMPUTE_CAPABILITY,
    "FUNCTION_CACHE_SIZE": (r"\d{1,9}", "an integer in [0, 999999999]"),
    "LLVM_REFPRUNE_FLAGS": (r"((all|per_bb|diamond|fanout|fanout_raise)(,|$))*", "all, or names of its passes"),
    "NUM_THREADS": (r"(?!0+$)[0-9]{1,9}", "an integer in [1, 999999999]"),
    "OPT": (r"[0-3]|max", "0, 1, 2, 3 or max"),
}

#: Settings of the processor to compile for.
_TARGET = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


def check_numba_settings() -> None:
    """Raise ParameterError if a variable has a value that Numba ignores, or at which it fails or LLVM ends the process."""
    for name, (pattern, allowed) in _NUMBA_SETTINGS.items():
        text = os.environ.get(f"NUMBA_{name}")
        if text is not None and not re.fullmatch(pattern, text):
            raise ParameterError(f"NUMBA_{name} must be {allowed}, got {plain_text(text, 40)}")
    for name in ("NUMBA_CHROME_TRACE", "NUMBA_DUMP_HTML"):
        text = os.environ.get(name)
        if text is not None and (Path(text).is_dir() or not os.access(Path(text).parent, os.W_OK)):
            raise ParameterError(f"{name} must be a file in a folder that can be written, got {plain_text(text)}")
    target = {name: text for name in _TARGET if (text := os.environ.get(name)) is not None}
    if target and (reason := _explain_llvm_failure(*target.items())):
        shown = " and ".join(plain_text(text) or "nothing" for text in target.values())
        raise ParameterError(
            f"{' and '.join(target)} must be known to LLVM and fit this machine, got {shown} ({reason})"
        )


@functools.cache
def _explain_llvm_failure(*target: tuple[str, str]) -> str:
    """Return the reason why LLVM cannot compile for the target in the environment, or "".

    The target is the key of the cache.  Another process tries it, because LLVM may end that process.
    """
    command = [sys.executable, "-P", str(Path(__file__).with_name("llvm_probe.py"))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except (OSError, ValueError):  # no process can be started
        return ""
    line = next(iter(done.stderr.splitlines()), "")
    return plain_text(line, 120) or (f"LLVM ends with status {done.returncode}" if done.returncode else "")
