"""Your own instruments: the functions that you wrote in the course's notebooks, taken from the saved files.

    from autograder import instruments
    instruments.load()["audit_chain"]                      # your function, from the notebook where you wrote it
    instruments.export_instruments("my_instruments.py")    # all of them in one file that you can import anywhere

Only what you saved counts. A solution cell brings along what it uses of its notebook: imports, constants, and
functions of other cells. Nothing else of the notebook is run.
"""

from __future__ import annotations

import ast
import builtins
import json
import symtable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator

HEADER = '"""Instruments from the course on debugging neural-network training, as I wrote them."""'


@dataclass(frozen=True)
class Written:
    """A solution cell as it was saved.

    notebook: the file's name. grade_id: the cell's. source: its code. names: what it defines.
    needs: statements of other cells that it uses, in order. lacking: names that the notebook does not define.
    solved: whether the stub was replaced.
    """

    notebook: str
    grade_id: str
    source: str
    names: tuple[str, ...]
    needs: tuple[str, ...]
    lacking: tuple[str, ...]
    solved: bool

    def code(self) -> str:
        """Python that defines `names`, all that they use included."""
        return "\n\n".join([*self.needs, self.source])


def collect(folder: str | Path = ".") -> list[Written]:
    """The solution cells of all notebooks in a folder, in order. A file that can't be read counts for nothing."""
    found = []
    for path in sorted(Path(folder).glob("*.ipynb")):
        try:
            found += _solutions(path)
        except (OSError, ValueError, KeyError, TypeError, SyntaxError, AttributeError):
            continue
    return found


def load(folder: str | Path = ".") -> dict[str, Any]:
    """What the solved cells of a folder's notebooks define, by name.

    A cell that is not solved, or that fails when it is run, is left out.
    """
    own: dict[str, Any] = {}
    for cell in collect(folder):
        if not cell.solved:
            continue
        space: dict[str, Any] = {"__name__": "instruments_of_my_own"}
        try:
            exec(compile(cell.code(), f"{cell.notebook}, {cell.grade_id}", "exec"), space)
        except Exception:
            continue
        own |= {name: space[name] for name in cell.names}
    return own


def export_instruments(path: str | Path, folder: str | Path = ".") -> list[str]:
    """Write the solved cells of a folder's notebooks into one Python file that can be imported anywhere.

    path: the file; an earlier export there is replaced. folder: where the notebooks lie.
    Returns: the names that the file offers.
    Errors: ValueError where two cells define one name in two ways, or a cell uses a name that its notebook does
    not define; FileExistsError where `path` is another file.
    """
    path = Path(path)
    if path.exists() and not path.read_text(encoding="utf-8").startswith(HEADER):
        raise FileExistsError(f"{path} is no earlier export; choose another name")
    cells = [cell for cell in collect(folder) if cell.solved]
    texts: dict[str, str] = {}  # by what Python reads, so that nothing comes twice
    for cell in cells:
        if cell.lacking:
            raise ValueError(f"{cell.notebook}, {cell.grade_id}: no cell defines {', '.join(cell.lacking)}")
        for text in cell.needs:
            texts.setdefault(_plain(text), text)
        texts[_plain(cell.source)] = f"# {cell.notebook}, {cell.grade_id}\n{cell.source}"
    _refuse_clashes(texts.values())
    imports = [text for text in texts.values() if _is_import(text)]
    rest = [text for text in texts.values() if not _is_import(text)]
    path.write_text("\n\n".join([HEADER, "\n".join(imports), *rest]) + "\n", encoding="utf-8")
    return [name for cell in cells for name in cell.names]


def _refuse_clashes(texts: Iterable[str]) -> None:
    """In one file a name has one meaning. Errors: ValueError where it has two."""
    known: dict[str, str] = {}
    for text in texts:
        for node in ast.parse(text).body:
            meaning = ast.unparse(node)
            for name in _bound(node):
                if not _same(known.setdefault(name, meaning), meaning, name):
                    raise ValueError(f"two cells define {name!r} in two ways; rename one of them, save, and try again")


def _same(one: str, other: str, name: str) -> bool:
    """Whether two statements mean the same by a name; imports do if they find the same object."""
    if one == other or not (_is_import(one) and _is_import(other)):
        return one == other
    spaces: tuple[dict, dict] = ({}, {})
    for text, space in zip((one, other), spaces):
        exec(text, space)
    return spaces[0][name] is spaces[1][name]


def _solutions(path: Path) -> Iterator[Written]:
    """A notebook's solution cells. Errors: KeyError, ValueError and others where the file is no notebook."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    sources = [_code("".join(cell["source"])) for cell in cells]
    for position, cell in enumerate(cells):
        grader = cell.get("metadata", {}).get("nbgrader", {})
        if grader.get("solution") is not True or grader.get("grade") is True:
            continue
        source = sources[position]
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        others = [*sources[position + 1 :], *sources[:position]]  # what stands before the cell wins
        needs, lacking = _closure(source, _table(others))
        names = tuple(dict.fromkeys(n for n in _bound(tree) if not n.startswith("_")))
        solved = not any(isinstance(n, ast.Raise) and _is_stub(n) for n in ast.walk(tree))
        yield Written(path.name, str(grader.get("grade_id", "")), source, names, needs, lacking, solved)


def _code(source: str) -> str:
    """A cell's Python, with magics and shell lines blanked out."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")).strip("\n")


def _table(sources: list[str]) -> dict[str, str]:
    """Definitions by name: imports, functions, classes, and constants. Later ones win."""
    table = {}
    for source in sources:
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            continue
        for node in statements:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                table |= _imports(node)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) or _is_constant(node):
                # with its decorators, and with its comments and layout
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                text = "\n".join(source.split("\n")[first - 1 : node.end_lineno])
                table |= dict.fromkeys(_bound(node), text)
    return table


def _imports(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Each name that an import binds, with an import of that name alone; none of this package's."""
    found = {}
    for alias in node.names:
        one = type(node)(**{**{f: getattr(node, f) for f in node._fields}, "names": [alias]})
        text = ast.unparse(one)
        if not text.startswith(("from autograder", "import autograder")):
            found[alias.asname or alias.name.partition(".")[0]] = text
    return found


def _is_constant(node: ast.stmt) -> bool:
    """An assignment of numbers, strings and the like: what can be repeated without running the notebook."""
    allowed = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp, ast.operator,
               ast.unaryop, ast.expr_context)  # fmt: skip
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    return all(isinstance(n, allowed) or _is_float_call(n) for n in _nodes(node.value))


def _nodes(value: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression, not those inside a call like float("nan")."""
    yield value
    if not _is_float_call(value):
        for child in ast.iter_child_nodes(value):
            yield from _nodes(child)


def _is_float_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"


def _closure(source: str, table: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The definitions that a source uses, what they use first; and the names that none of them defines."""
    needs: dict[str, None] = {}
    lacking: dict[str, None] = {}
    own = set(_bound(ast.parse(source)))

    def visit(text: str, path: tuple[str, ...]) -> None:
        for name in _globals(text):
            if name in own or name in path or hasattr(builtins, name):
                continue
            if name not in table:
                lacking.setdefault(name)
                continue
            visit(table[name], (*path, name))
            needs.setdefault(table[name])

    visit(source, ())
    return tuple(needs), tuple(lacking)


def _globals(source: str) -> list[str]:
    """Names that a source reads and does not bind itself, wherever in it."""
    top = symtable.symtable(source, "cell", "exec")
    bound = set(_bound(ast.parse(source)))
    found: dict[str, None] = {}

    def look(scope: symtable.SymbolTable) -> None:
        for symbol in scope.get_symbols():
            outer = scope is top or symbol.is_global()
            if outer and symbol.is_referenced() and symbol.get_name() not in bound:
                found.setdefault(symbol.get_name())
        for child in scope.get_children():
            look(child)

    look(top)
    return list(found)


def _bound(tree: ast.AST) -> Iterator[str]:
    """Names that statements bind at the top: definitions, imports, assignments."""
    for node in getattr(tree, "body", []) if isinstance(tree, ast.Module) else [tree]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        else:
            yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _is_stub(node: ast.Raise) -> bool:
    named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(named, ast.Name) and named.id == "NotImplementedError"


def _is_import(text: str) -> bool:
    return all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.parse(text).body)


def _plain(text: str) -> str:
    """A text as Python reads it, without comments and layout."""
    return ast.unparse(ast.parse(text))
