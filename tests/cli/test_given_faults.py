"""Fault sets of a user's own: graphs of NetworkX, CSV, and ``fastcube evaluate``."""

from __future__ import annotations

import csv
import os
import re

import networkx as nx
import pytest
from helpers.compiled import mark_others_slow

import fastcube as fc
from fastcube.measure import evaluations, fault_set_csv
from fastcube.running.progress import Progress


def write_sets(path, study, point, stop, seed=0):
    from fastcube.measure.fault_sets import iter_csv_rows

    chosen = fc.study(study)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(iter_csv_rows(chosen, [chosen.point(point)], seed, 0, stop))
    return path


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        *mark_others_slow([("hypercube", 40), ("hypercube", 500)]),
        *mark_others_slow([("exchanged", 40), ("exchanged", 500)]),
    ],
)
def test_fault_sets_go_through_networkx_and_back(name, sets, tmp_path):
    point = {"network": name, "n": 5, "f": 3, "links": 6}
    given = fc.read_fault_sets(write_sets(tmp_path / "sets.csv", "survival", point, sets))
    assert [row.trial for row in given] == list(range(sets))
    drawn = fc.fault_sets("survival", trials=sets, field="faulty_links", **point)
    for row, links in zip(given, drawn.tolist(), strict=True):
        net = row.network
        assert net.faulty_links == frozenset(map(tuple, links)) and len(net.faulty_nodes) == 3
        graph = net.to_networkx()
        as_text = nx.relabel_nodes(graph, lambda v: format(v, "05b"))
        as_tuples = nx.relabel_nodes(graph, lambda v: tuple(map(int, format(v, "05b"))))
        for some in (graph, as_text, as_tuples):
            again = fc.from_networkx(some, family=name, n=5)
            assert again.faulty_nodes == net.faulty_nodes
            assert again.faulty_links == {link for link in net.faulty_links if not net.faulty_nodes & {*link}}
            assert fc.survival(again) == fc.survival(net)


def test_a_graph_that_is_none_of_the_family_is_refused():
    cube = nx.hypercube_graph(3)
    assert fc.from_networkx(cube) == fc.Hypercube(3)
    for graph, n, message in (
        (nx.Graph([(0, 3)]), None, "links of graph must be links of hypercube for n=2, got 0 - 3"),
        (nx.Graph([("00", "010")]), None, "bit strings of one length, got 2 and 3"),
        (nx.Graph([("a", "b")]), None, "nodes of graph must be integers, bit strings or tuples of bits, got 'a'"),
        (
            nx.Graph([((0, 2), 1)]),
            None,
            r"nodes of graph must be integers, bit strings or tuples of bits, got \(0, 2\)",
        ),
        (nx.Graph([(-1, 0)]), 3, r"nodes of graph must be in \[0, 1048575\], got -1"),
        (nx.Graph([("0" * 21, "0" * 20 + "1")]), None, r"n must be in \[1, 20\] for the nodes of graph, got 21"),
        (cube, 4, "n must be 3, the number of bits of the nodes of graph, got 4"),
        (nx.Graph([(0, 9)]), 3, r"nodes of graph must be in \[0, 7\] for n=3, got 9"),
        (nx.DiGraph([(0, 1)]), None, "graph must be an undirected networkx.Graph, got an object of type DiGraph"),
        (nx.Graph(), None, "n must be given for a graph without nodes"),
        (nx.Graph([(1, 1)]), 3, "links of graph must be links of hypercube"),
        ("graph", None, "graph must be an undirected networkx.Graph, got an object of type str"),
    ):
        with pytest.raises(fc.ParameterError, match=message):
            fc.from_networkx(graph, n=n)
    with pytest.raises(fc.ParameterError, match=r"^family must be one of .*, got crosed; did you mean crossed\?$"):
        fc.from_networkx(cube, family="crosed")


def test_a_graph_of_a_large_cube_is_refused():
    with pytest.raises(fc.ParameterError, match=r"^bits of a label must be in \[1, 20\] to list all nodes, got 21$"):
        fc.Hypercube(21).to_networkx()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "must have the columns n"),
        ("n,faulty_nodes\n3,8\n", r"line 2: faulty_nodes must be in \[0, 7\] for n=3, got 8"),
        ("n,faulty_nodes\n3,x\n", "line 2: faulty_nodes must be an integer from 0, got 'x'"),
        ("n,faulty_nodes\n3,1\n3,2 5 2 5\n", "line 3: faulty_nodes must be different labels, got 2 twice"),
        ("n,faulty_links\n3,0-3\n", r"line 2: faulty_links must be pairs"),
        ("n,faulty_links\n3,0-1\n3,0-2 2-0\n", "line 3: faulty_links must be different links, got 2-0 twice"),
        ("n,faulty_nodes\n3,1,2\n", "line 2: a row must have as many cells as the header"),
        ("network,n,faulty_nodes\ncrosed,3,1\n", "did you mean crossed"),
        ("n,faulty_nodes\n3,on demand\n", "got 'on demand'"),
        ("", "must have the columns n"),
        ("n,m,faulty_nodes\n4,2,1\n", "some.csv must have one of the columns n and m, got both"),
        ("n,faulty_nodes,faulty_nodes\n3,1,2\n", "must name each column once"),
        ("n,faulty_nodes\n3," + "9" * 5000 + "\n", "line 2: faulty_nodes must be an integer from 0, got"),
        (
            "n,faulty_nodes\n6,000011 000001\n",
            "line 2: faulty_nodes must be decimal .*, or 0b000011 for bits, got '000011'",
        ),
        (
            "n,faulty_nodes\n6,101010\n",
            "line 2: faulty_nodes must be decimal labels .* or 0b101010 for bits, got '101010'",
        ),
        ("n,faulty_nodes\n6,007\n", "line 2: faulty_nodes must be decimal labels without leading zeros, got '007'"),
        ("m,faulty_nodes\n2,011\n", "line 2: faulty_nodes must be decimal labels .*, or 0b011 for bits"),
        ("n,faulty_links\n3,000-001\n", "line 2: faulty_links must be decimal labels .*, or 0b000 for bits"),
        ("n,faulty_nodes\n3,0b2\n", "line 2: faulty_nodes must be an integer from 0, got '0b2'"),
        ("n,f,faulty_nodes\n4,2,1 3\n4,3,1 3\n", "line 3: f must be the number of faulty_nodes, which is 2, got 3"),
        ("n,links,faulty_links\n4,2,0-1\n", "line 2: links must be the number of faulty_links, which is 1, got 2"),
        (
            "n,f,links,faulty_nodes\n4,2,1,1 3\n",
            "line 2: links must be the number of faulty_links, .* 0 without .*, got 1",
        ),
        ("n,f,faulty_links\n4,3,0-1\n", "line 2: f must be the number of faulty_nodes, .* 0 without .*, got 3"),
        ("n,f,faulty_nodes\n4,two,1 3\n", "line 2: f must be an integer from 0, got 'two'"),
        ("n,faulty_nodes\n20," + "1 " * 16_383 + "7\n", "line 2: faulty_nodes must be different labels"),
        (
            "n,faulty_nodes\n20,1" + " " * 32_766 + "\n",
            "has the 32,767 characters at which spreadsheets cut a cell: add .* f ",
        ),
        ("n,f,faulty_nodes\n20,2,1" + " " * 32_766 + "\n", "f must be the number of faulty_nodes, which is 1, got 2"),
        ("n,f,trial,faulty_nodes\n4,1,0,1\n4,1,1,2\n4,1,0,3\n", "line 4: trial must be different .*, got 0 twice"),
        ("m,network,faulty_nodes\n2,folded,1\n", "line 2: network must be empty for m, a dual-cube, got 'folded'"),
    ],
)
def test_what_is_no_fault_set_is_one_line(text, message, tmp_path):
    (tmp_path / "some.csv").write_text(text)
    with pytest.raises(fc.ParameterError, match=message) as caught:
        fc.read_fault_sets(tmp_path / "some.csv")
    assert "\n" not in str(caught.value)
    with pytest.raises(fc.ParameterError, match="path must be a CSV file that can be read"):
        fc.read_fault_sets(tmp_path / "none.csv")


def test_cells_may_be_long_and_the_limit_of_csv_is_restored(tmp_path):
    """Each row restores it: also a row that is refused, and rows after which the reader stops."""
    limit = csv.field_size_limit()
    (tmp_path / "some.csv").write_text(f"n,faulty_nodes,{(limit + 1) * 'c'}\n3,1,{(limit + 1) * 'c'}\n3,2,\n3,9,\n")
    rows = fault_set_csv.iter_fault_sets(tmp_path / "some.csv")
    for node in (1, 2):
        assert next(rows).network.faulty_nodes == {node} and csv.field_size_limit() == limit
    with pytest.raises(fc.ParameterError, match="line 4: "):
        next(rows)
    assert csv.field_size_limit() == limit


def fold_names():
    """Names that differ from a column that is read in case, blanks, - or _, or by a slip, and names that speak of faults."""
    for name in ("faulty_nodes", "faulty_links"):
        yield from (name.title(), name.upper(), name.replace("_", " "), name.replace("_", "-"), name.replace("_", ""))
        yield from (name[:-1], name.replace("faulty", "failed"), name[:3] + name[4:])
    yield from (
        "faulty_edges",
        "Faulty",
        "faults",
        "failed_edges",
        "broken links",
        "links_faulty",
        "Edge faults",
        "nodes-failed",
        "Network",
        "netwrok",
        "Trial",
        "trail",
        "N",
    )
    yield from ("S", "T", "F", "Links", "link s")


@pytest.mark.parametrize("name", [*fold_names()])
def test_a_column_that_is_nearly_read_is_refused(name, tmp_path, run):
    (tmp_path / "some.csv").write_text(f"n,faulty_nodes,{name}\n4,,0\n")
    code, out, said = run("evaluate some.csv --study survival")
    assert code == 2 and out == "" and said.count("\n") == 1
    assert f"must not have the column {name}, which is not read; did you mean " in said


def test_harmless_columns_and_all_spellings_of_labels_are_read(tmp_path):
    head = "n,faulty_links,faulty_nodes,nodes,note,comment,rate,k,status_key,source,order,f,links,s,t"
    (tmp_path / "some.csv").write_text(f"{head}\n6,0-0b1,0x3F 0B000011 17,fine,a b,x,.1,1,7,2,1 2,3,1,2,3\n")
    given = fc.read_fault_sets(tmp_path / "some.csv")[0]
    assert given.network == fc.Hypercube(6, [63, 3, 17], [(0, 1)]) and given.others["source"] == "2"


@pytest.mark.parametrize(
    ("name", "cell", "column"),
    [
        ("edges", "0-1 0-2 0-4 0-8", "faulty_links"),
        ("Edges", "0-1", "faulty_links"),
        ("Edge", "(0, 1); (0, 2)", "faulty_links"),
        ("arcs", "[[0,1],[0,2]]", "faulty_links"),
        ("channels", "0b0-0b1", "faulty_links"),
        ("nodes", "3 5", "faulty_nodes"),
        ("Node", "3", "faulty_nodes"),
        ("vertices", "0x3 0x5", "faulty_nodes"),
        ("Processors", "[3, 5]", "faulty_nodes"),
    ],
)
def test_a_column_of_nodes_or_links_is_not_overlooked(name, cell, column, tmp_path, run):
    other, *_ = {"faulty_nodes", "faulty_links"} - {column}
    rows = f'4,,"{cell}"\n'
    (tmp_path / "some.csv").write_text(f"n,{other},{name}\n4,,\n{rows}")
    code, out, said = run("evaluate some.csv --study survival")
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert f"line 3: {name} must be named {column} if it holds faults, or be left out: it is not read, got " in said
    (tmp_path / "both.csv").write_text(f"n,{other},{name},{column}\n{rows[:-1]},\n")
    assert run("evaluate both.csv --study survival")[0] == 0
    for harmless in ("", "all", "16", "cut by storm 5"):
        (tmp_path / "fine.csv").write_text(f"n,{other},{name}\n4,,{harmless}\n")
        assert run("evaluate fine.csv --study survival")[0] == 0


def test_labels_of_one_hash_value_take_no_longer_than_others(tmp_path):
    """A set of them would compare each with all others; they are told to be out of range, as soon as they are read."""

    class Label(int):
        compared = 0

        def __lt__(self, other):
            Label.compared += 1
            return int.__lt__(self, other)

        def __eq__(self, other):
            Label.compared += 1
            return int.__eq__(self, other)

        def __hash__(self):
            return 0

    labels = [Label(i) for i in range(1, 2000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fault_set_csv, "parse_label", lambda name, text, bits: labels[int(text)])
        patch.setattr(fault_set_csv, "network", lambda *given: fc.Hypercube(3))
        for name, cell in (
            ("faulty_nodes", " ".join(map(str, range(1999)))),
            ("faulty_links", " ".join(f"{i}-{i + 1}" for i in range(1998))),
        ):
            Label.compared = 0
            fault_set_csv._parse_row({"n": "3", name: cell}, 0)
            assert Label.compared < 100 * 2000


def test_rows_and_columns_have_a_limit_and_long_files_say_how_far_they_are(tmp_path, run, monkeypatch):
    monkeypatch.setattr(fault_set_csv, "_MOST_ROWS", 20)
    (tmp_path / "some.csv").write_text("n,faulty_nodes\n" + 20 * "3,1\n")
    assert len(fc.read_fault_sets(tmp_path / "some.csv")) == 20
    (tmp_path / "more.csv").write_text("n,faulty_nodes\n" + 21 * "3,1\n")
    with pytest.raises(fc.ParameterError, match=r"must have at most 20 rows, got more: divide it into several files"):
        fc.read_fault_sets(tmp_path / "more.csv")
    (tmp_path / "wide.csv").write_text(",".join(["n", "faulty_nodes", *(f"c{i}" for i in range(999))]) + "\n")
    with pytest.raises(fc.ParameterError, match="must have at most 1000 columns, got 1001"):
        fc.read_fault_sets(tmp_path / "wide.csv")
    monkeypatch.setattr(Progress, "is_due", lambda self, *_: True)
    (tmp_path / "long.csv").write_text("n,faulty_nodes\n" + 30 * "\n" + "3,1\n")
    code, out, said = run("evaluate long.csv --study unsafe-fraction")
    assert code == 0 and len(out.splitlines()) == 2
    assert re.search(r"\b32 lines  .* checking long.csv$", said.replace("lines/s  ", "lines/s "), re.MULTILINE)


@pytest.mark.parametrize("end", ["s", "t"])
def test_one_end_of_a_message_is_not_overlooked(end, tmp_path, run):
    (tmp_path / "some.csv").write_text(f"n,faulty_nodes,{end},from\n4,,0,3\n")
    for study in ("survival", "routing"):
        code, out, said = run(f"evaluate some.csv --study {study}")
        assert (code, out) == (2, "")
        assert f"line 2: s and t must both be columns, got {end} alone" in said


def test_ends_by_another_name_are_not_overlooked(tmp_path, run):
    (tmp_path / "some.csv").write_text("n,faulty_nodes,source,target\n4,,0,3\n")
    code, out, said = run("evaluate some.csv --study survival")
    assert code == 2 and "line 2: s must be a column, got source in its place: rename it" in said
    code, out, said = run("evaluate some.csv --study unsafe-fraction")
    assert code == 0 and out.splitlines()[1] == "0,0,0.0,0"


@pytest.mark.parametrize(
    "study", ["routing", "routing-rate", "routing-rules", "routing-rules-rate", "dualcube-routing"]
)
def test_messages_are_routed_as_one_by_one(study, tmp_path, run):
    size, network = ("m", fc.DualCube(3, [1, 5])) if study.startswith("dual") else ("n", fc.Hypercube(5, [1, 5]))
    (tmp_path / "some.csv").write_text(f"{size},faulty_nodes,s,t,trial,k\n{'3' if size == 'm' else '5'},1 5,0,23,7,2\n")
    code, out, _ = run(f"evaluate some.csv --study {study}")
    (row,) = csv.DictReader(out.splitlines())
    assert code == 0 and row.pop("trial") == "7"
    rules = [name for name in row if not name.endswith("_links")]
    assert len(rules) == {"routing": 4, "routing-rate": 3, "routing-rules": 8, "routing-rules-rate": 5}.get(study, 2)
    for rule in rules:
        options = {"k": 2} if rule in ("route1", "route2") else {"seed": 7} if rule == "sidetrack" else {}
        found = fc.route(network, 0, 23, rule.upper(), **options)
        assert (row[rule], row[f"{rule}_links"]) == (found.outcome, "" if found.length is None else str(found.length))
    (tmp_path / "none.csv").write_text(f"{size},faulty_nodes\n3,1\n")
    code, _, said = run(f"evaluate none.csv --study {study}")
    assert code == 2 and "line 2: s and t must be columns for this study, of one message" in said


@pytest.mark.kernels
def test_given_sets_are_evaluated_as_they_are_counted(tmp_path, run):
    point = {"network": "torus-8", "n": 6, "f": 12, "links": 10}
    write_sets(tmp_path / "sets.csv", "survival", point, 50)
    code, out, _ = run("evaluate sets.csv --study survival")
    rows = list(csv.DictReader(out.splitlines()))
    counts = fc.study("survival").count(point, 50).counts
    assert code == 0 and [row["trial"] for row in rows] == [str(t) for t in range(50)]
    assert sum(row["connected"] == "1" for row in rows) == counts["connected"]
    assert sum(row["distance"] != "" for row in rows) == counts["st_connected"]
    (tmp_path / "own.csv").write_text("n,faulty_nodes\n3,1 2\n3,\n")
    code, out, _ = run("evaluate own.csv --study unsafe-fraction")
    assert code == 0 and out.splitlines()[0] == "trial,unsafe,unsafe_fraction,rounds" and len(out.splitlines()) == 3
    code, _, said = run("evaluate sets.csv --study spanning")
    assert (
        code == 2
        and "study must be survival, unsafe-fraction, find-tree, routing, " in said
        and "got 'spanning'" in said
    )


@pytest.mark.parametrize(
    ("study", "rows", "message"),
    [
        (
            "survival",
            "n,faulty_nodes,s,t\n3,1,0,2\n3,1 1,0,2\n",
            "line 3: faulty_nodes must be different labels, got 1 twice",
        ),
        ("survival", "n,faulty_nodes,s,t\n3,1,0,2\n3,1,0,1\n", r"line 3: t must be a nonfaulty node, got 1 \(001\)"),
        (
            "find-tree",
            "network,n,faulty_nodes\nhypercube,3,1\nfolded,3,1\n",
            "line 3: network must be hypercube .*, got folded",
        ),
        ("unsafe-fraction", "m,faulty_nodes\n2,1\n", "line 2: network must be hypercube .*, got a dual-cube"),
        ("survival", "n,faulty_nodes\n3,1\n21,1\n", r"line 3: bits of a label must be in \[1, 20\] .*, got 21"),
    ],
)
def test_all_rows_are_checked_before_the_first_result(study, rows, message, tmp_path, run):
    (tmp_path / "sets.csv").write_text(rows)
    code, out, said = run(f"evaluate sets.csv --study {study}")
    assert code == 2 and out == "" and re.search(message, said) and said.count("\n") == 1


def test_too_little_memory_is_one_line(monkeypatch, run):
    def fail(*_):
        raise MemoryError("Unable to allocate 3.20 GiB")

    monkeypatch.setattr("fastcube.measure.evaluations.iter_evaluations", fail)
    assert run("evaluate sets.csv --study survival") == (
        2,
        "",
        "fastcube: not enough memory: Unable to allocate 3.20 GiB\n",
    )


@pytest.mark.parametrize("study", ["survival", "unsafe-fraction", "find-tree"])
def test_a_file_without_rows_gives_the_header(study, tmp_path, run):
    (tmp_path / "sets.csv").write_text("n,faulty_nodes\n")
    code, out, _ = run(f"evaluate sets.csv --study {study}")
    assert code == 0 and out.startswith("trial,") and out.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "status", "shown"),
    [
        (
            "\ufeffn,faulty_nodes\r\n3,1\r\n\r\n3,2 5\r\n",
            0,
            "trial,unsafe,unsafe_fraction,rounds\n0,0,0.0,0\n1,0,0.0,0\n",
        ),
        ("n,faulty_nodes\n3,1\n3,2 2\n", 2, r"line 3: faulty_nodes must be different labels, got 2 twice$"),
        ("n,faulty_nodes\n" + 50 * "3,1\n", 2, r"must have at most 200 bytes from a pipe, got more: write the rows"),
        ("n,faulty_nodes\n" + 200 * "3,", 2, r"must have lines of at most 300 characters, got a longer line$"),
    ],
    ids=["results", "rows", "bytes", "characters"],
)
def test_rows_of_a_pipe_are_held_up_to_a_limit(text, status, shown, run, monkeypatch):
    monkeypatch.setattr(evaluations, "_MOST_PIPED", 200)
    monkeypatch.setattr(fault_set_csv, "_LONGEST_LINE", 300)
    end, start = os.pipe()
    try:
        os.write(start, text.encode())
        os.close(start)
        code, out, said = run(f"evaluate /dev/fd/{end} --study unsafe-fraction")
    finally:
        os.close(end)
    assert code == status
    if status:
        assert out == "" and re.search(shown, said, re.MULTILINE) and said.count("\n") == 1
    else:
        assert out == shown


def test_an_evaluation_that_fails_names_the_trial(tmp_path, run, monkeypatch):
    def fail(given):
        raise fc.ParameterError("too much")

    monkeypatch.setitem(
        evaluations.EVALUATIONS, "find-tree", evaluations.Evaluation(lambda given: None, fail, ("tree",))
    )
    (tmp_path / "sets.csv").write_text("n,trial,faulty_nodes\n3,7,1\n")
    code, _, said = run("evaluate sets.csv --study find-tree")
    assert code == 2 and said.splitlines()[-1] == "fastcube: sets.csv, trial 7: too much"
