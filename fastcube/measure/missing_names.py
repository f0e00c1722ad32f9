"""Find the line of a user's function at which the compiler found no such name or attribute, which Numba's error does not give."""

from __future__ import annotations

import dis
import re
from typing import Any

from ..kernels.machine import captured_values
from .user_files import is_user_module


def locate_name(root: Any, error: BaseException) -> str:
    """Return the place where a user's function, compiled into ``root``, reads the name or attribute that an error misses.

    The place is ``File "FILE", line N`` of the first such use, as in tracebacks, or empty if the error is of another kind.
    """
    found = re.search(r"name '(\w+)' is not defined|has no attribute '(\w+)'", str(error))
    if found is None:
        return ""
    opcodes = {"LOAD_GLOBAL"} if found[1] else {"LOAD_ATTR", "LOAD_METHOD"}
    for function, _ in captured_values.iter_compiled_functions([root], is_user_module):
        if found[1] in function.__globals__ or not is_user_module(captured_values.defining_module(function)):
            continue
        for instruction in dis.get_instructions(function):
            if (
                instruction.opname in opcodes
                and instruction.argval == found[found.lastindex or 0]
                and instruction.positions
            ):
                return f'File "{function.__code__.co_filename}", line {instruction.positions.lineno}'
    return ""
