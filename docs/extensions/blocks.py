"""Console blocks and tables: prompts, long commands, figures in columns.

A console block's only prompt is ``$ `` at the start of a line.  Commands of more than 88 columns are broken by a backslash, so
that they can be read whole and pasted.  In tables, columns of numbers are set right, with intervals in smaller letters, short
names are on one line, and rows of one group stand together.
"""

import re

from docutils import nodes
from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic, Text
from sphinx.transforms import SphinxTransform

#: Columns of a command.
WIDTH = 88

#: A piece of a command that no line may end in: words with their quotations.
PIECE = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+""")

#: A cell of a column of numbers: counts, shares, intervals, signs of comparison; a dash where there is none.
NUMBER = re.compile(
    r"[\s\d.,:;+−–\-%~<>≤≥≈±×/^()\[\]…]*(?:\b(?:e[+-]?\d+|to|within|s|ms|min|h|KiB|MiB|GiB)\b[\s\d.,+−–\-%]*)*"
)

#: The limits of an interval in a column of numbers.
INTERVAL = re.compile(r"(\[[^\]]*\])")

#: Longest name that a table has on one line, which leaves half of a phone's width to the numbers.
LONGEST_NAME = 20

#: Characters in a row of a table, above which its letters are smaller, so that it fits beside the contents of the page.
WIDEST_TABLE = 100


class ConsoleLexer(RegexLexer):
    """Commands after ``$ ``, with the lines that a backslash continues; all else is what they print."""

    name = "Console"
    aliases = ["console"]  # noqa: RUF012  (Pygments' name)
    tokens = {  # noqa: RUF012
        "root": [
            (r"(\$ )((?:.*\\\n)*.*\n?)", bygroups(Generic.Prompt, Text)),
            (r".*\n|.+", Generic.Output),
        ]
    }


def break_command(command, width=WIDTH):
    """A command on lines of at most so many columns where spaces outside of quotations allow it."""
    if len(command) + 2 <= width or "\n" in command:
        return command
    lines, line = [], ""
    for piece in PIECE.findall(command):
        indent = "    " if lines else "$ "
        # an option stays with its value, and a sign of the shell begins a line
        if line and len(indent) + len(line) + 1 + len(piece) > width - 2:
            *kept, last = line.split(" ")
            if kept and (last.startswith("-") or last in {"|", "&&", "||", ">"}) and "=" not in last:
                lines.append(" ".join(kept))
                line = f"{last} {piece}"
            else:
                lines.append(line)
                line = piece
        else:
            line = f"{line} {piece}" if line else piece
    return " \\\n    ".join([*lines, line])


def break_commands(text):
    """A console block whose commands have at most 88 columns."""
    lines, here = [], ""
    for line in text.split("\n"):
        if here:  # the lines of a here-document are as they are
            here = "" if line.strip() == here else here
        elif line.startswith("$ "):
            if found := re.search(r"<<-?\s*'?(\w+)'?", line):
                here = found[1]
            elif not line.endswith("\\"):
                line = f"$ {break_command(line[2:])}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


class BlockTransform(SphinxTransform):
    """Breaks commands; marks columns of numbers and the first row of each group."""

    default_priority = 870  # before mathematics is set

    def apply(self):
        for block in self.document.findall(nodes.literal_block):
            if block.get("language") == "console":
                text = break_commands(block.astext())
                block.rawsource = text  # highlighted only where it is the text
                block.clear()
                block.append(nodes.Text(text))
        for table in self.document.findall(nodes.table):
            mark_columns(table)


def _is_number_column(texts):
    return any(re.search(r"\d", text) for text in texts) and all(NUMBER.fullmatch(text) for text in texts)


def mark_intervals(cell):
    """Mark the limits of intervals in a cell."""
    for text in list(cell.findall(nodes.Text)):
        pieces = INTERVAL.split(text)
        if len(pieces) > 1:
            new = [nodes.inline("", piece, classes=["interval"] * (i % 2)) for i, piece in enumerate(pieces) if piece]
            text.parent.replace(text, new)


def mark_columns(table):
    """Mark columns of numbers, the column that names rows among them, and the first row of each group.

    A narrow window leaves out what stands before the names (``before``).
    """
    for body in table.findall(nodes.tbody):
        rows = [list(row.findall(nodes.entry)) for row in body.children]
        if not rows or len({len(row) for row in rows}) != 1 or any("morecols" in cell for row in rows for cell in row):
            continue
        heads = [list(row.findall(nodes.entry)) for head in table.findall(nodes.thead) for row in head.children]
        columns = list(zip(*[head for head in heads if len(head) == len(rows[0])], *rows, strict=True))
        numbers = [_is_number_column([row[i].astext().strip() for row in rows]) for i in range(len(columns))]
        name = numbers.index(False) if False in numbers else 0
        if not any(numbers[name:]):
            name = 0
        for i, column in enumerate(columns):
            kinds = ["number"] * numbers[i] + ["name"] * (i == name) + ["before"] * (i < name)
            if i == name and any(numbers) and max(len(cell.astext()) for cell in column) <= LONGEST_NAME:
                kinds.append("short")
            for cell in column:
                cell["classes"] += kinds
                if numbers[i]:
                    mark_intervals(cell)
        if any(numbers) and sum(max(len(row[i].astext()) for row in rows) for i in range(len(columns))) > WIDEST_TABLE:
            table["classes"].append("wide")
        first = [row[0].astext() for row in rows]
        if 1 < len(set(first)) < len(first):
            for row, text, before in zip(body.children[1:], first[1:], first, strict=False):
                if text != before:
                    row["classes"].append("group")


def setup(app):
    app.add_lexer("console", ConsoleLexer)
    app.add_transform(BlockTransform)
    return {"parallel_read_safe": True}
