"""Damage in the data that come with a package, field by field."""

import copy

import fastcube as fc
from fastcube import resources

READ = resources.read_json
#: Damages tried of a file, evenly among all.
MOST = 15


def damages(data):
    """Each field of the upper three levels, as its path, and its replacement: another type, or nothing."""

    def walk(value, path):
        inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
        for key, child in list(inside):
            yield (*path, key)
            if len(path) < 3:
                yield from walk(child, (*path, key))

    for path in [(), *walk(data, ())]:
        yield from ((path, wrong) for wrong in (None, 7, "text", [], {}, [[]], "gone"))


def damaged(data, path, wrong):
    """The data with that in the field's place."""
    out = copy.deepcopy({"": data})
    at = out
    for key in ("", *path)[:-1]:
        at = at[key]
    last = ("", *path)[-1]
    if wrong == "gone":
        if path:
            del at[last]
    else:
        at[last] = wrong
    return out[""]


def damages_with_other_errors(monkeypatch, name, use, *package):
    """Return the damages of ``NAME.json`` for which ``use()`` raises anything but an error of one line, with the error."""
    whole, at = READ(name, *package), {}
    monkeypatch.setattr(
        resources, "read_json", lambda asked, *place: at["data"] if asked == name else READ(asked, *place)
    )
    wrong = {}
    tried = list(damages(whole))
    for path, value in tried[:: max(1, len(tried) // MOST)]:
        at["data"] = damaged(whole, path, value)
        try:
            use()
        except fc.FastcubeError as error:
            if not str(error).isprintable():
                wrong[path, str(value)] = str(error)
        except Exception as error:
            wrong[path, str(value)] = f"{type(error).__name__}: {error}"
    return wrong
