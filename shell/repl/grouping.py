"""The grouping of an expression (all parentheses, and a tree), and the steps of its evaluation: `)tree` and `)trace`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias, get_args

from ...lang.diagnostics.model import Rejected
from ...lang.support.records import dataclass
from ...lang.syntax.glyph_input import to_glyphs
from ...lang.syntax.parser import parse
from ...lang.syntax.source import Source, TokenKind, lexemes
from ...lang.tree import expressions as tree
from ...lang.tree.expressions import NameClass, SymbolKind
from ...lang.tree.program import OutputDeclaration
from ..console.process_exit import UsageError

Node: TypeAlias = tree.Expression | tree.Function | tree.Operator
_ATOMS: Final = (tree.Number, tree.Text, tree.Zilde, tree.Slot, tree.Name, tree.Member, tree.SystemName)
_EXPRESSIONS: Final = get_args(tree.Expression)
_CLASSES: Final = {
    SymbolKind.FUNCTION: NameClass.FUNCTION, SymbolKind.OPERATOR: NameClass.MONADIC_OPERATOR, SymbolKind.MODULE: NameClass.MODULE,
}  # fmt: skip
MOST_TEXT: Final = 48


@dataclass(frozen=True, slots=True)
class GroupedStatement:
    """A statement's value: its node, the text that the spans of the node point into, and the names that get the value."""

    text: str
    node: Node
    targets: str = ""

    def lines(self) -> list[str]:
        """The statement with all parentheses, and below it the tree: functions above their arguments, the left one first."""
        return [self.targets + self.parenthesised(self.node), *self._tree(self.node)]

    # ------------------------------------------------------------------------------------------- parentheses

    def parenthesised(self, node: Node) -> str:
        """The text of a node with parentheses around everything that is computed first."""
        match node:
            case tree.Monadic():
                return _joined(self._applied(node.function), self._item(node.right))
            case tree.Dyadic():
                return _joined(self._item(node.left), self._applied(node.function), self._item(node.right))
            case tree.Strand():
                return " ".join(self._item(item) for item in node.items)
            case tree.IndexExpression():
                return f"{self._item(node.array)}[{self._axes(node.axes)}]"
            case tree.ArrayNotation():
                return f"[{' ⋄ '.join(map(self.parenthesised, node.items))}]"
            case tree.Tuple():
                return f"({' ⋄ '.join(map(self.parenthesised, node.items))})"
            case tree.InlineBind() | tree.Modify() | tree.PrintExpression() | tree.Replace():
                return f"{self._assigned(node)}{self.parenthesised(node.value)}"
            case tree.Fork():
                return f"({_joined(self._item(node.left), self._item(node.middle), self._item(node.right))})"
            case tree.Atop():
                return f"({_joined(self._item(node.outer), self._item(node.inner))})"
            case tree.Derived() if node.operator != "∘." and node.axis is None:
                left, *others = [self._item(operand) for operand in node.operands]
                return _joined(left, node.operator, *others)
            case tree.OperatorCall():
                left, *others = [self._item(operand) for operand in node.operands]
                return _joined(left, self._written(node.operator), *others)
            case _:
                return self._written(node)

    def _item(self, node: Node) -> str:
        """The text of an argument or operand: in parentheses if it groups several things."""
        text = self.parenthesised(node)
        closed = (*_ATOMS, tree.GlyphFunction, tree.FunctionName, tree.FunctionMember, tree.Dfn, tree.Fork, tree.Atop, tree.Tuple,
                  tree.ArrayNotation, tree.IndexExpression)  # fmt: skip
        return text if isinstance(node, closed) else f"({text})"

    def _applied(self, function: tree.Function) -> str:
        """The text of a function before its argument: in parentheses if its right operand would run into that."""
        runs_on = isinstance(function, tree.Derived | tree.OperatorCall) and len(function.operands) > 1
        return self._item(function) if runs_on else self.parenthesised(function)

    def _axes(self, axes: Sequence[tree.Expression | None]) -> str:
        return ";".join("" if axis is None else self.parenthesised(axis) for axis in axes)

    def _assigned(self, node: tree.InlineBind | tree.Modify | tree.PrintExpression | tree.Replace) -> str:
        """The left side of an assignment, with the arrow."""
        match node:
            case tree.InlineBind():
                return f"{self._written(node.target)} ← "
            case tree.PrintExpression():
                return "⎕←"
            case tree.Modify():
                return f"{node.name.name} {self.parenthesised(node.function)}←"
            case tree.Replace():
                function = "" if node.function is None else f" {self.parenthesised(node.function)}"
                return f"{node.name.name}[{self._axes(node.axes)}]{function}←"

    def _written(self, node: Node | tree.Target) -> str:
        """The text of a node as it is written, in one line."""
        return in_one_line(self.text[node.span.start : node.span.end])

    # -------------------------------------------------------------------------------------------------- tree

    def _tree(self, node: Node) -> list[str]:
        label, children = self._branches(node)
        lines = [short(label)]
        for number, child in enumerate(children):
            last = number == len(children) - 1
            first, *others = self._tree(child)
            lines += [f"{'└' if last else '├'} {first}", *(f"{' ' if last else '│'} {line}" for line in others)]
        return lines

    def _branches(self, node: Node) -> tuple[str, Sequence[Node]]:
        """The label of a node and its children in the tree."""
        match node:
            case tree.Monadic():
                return self._function_label(node.function), [*self._parts(node.function), node.right]
            case tree.Dyadic():
                return self._function_label(node.function), [*self._parts(node.function), node.left, node.right]
            case tree.Strand():
                return "strand", node.items
            case tree.IndexExpression():
                return "index", [node.array, *[axis for axis in node.axes if axis is not None]]
            case tree.ArrayNotation():
                return "[ ⋄ ]", node.items
            case tree.Tuple():
                return "( ⋄ )", node.items
            case tree.InlineBind() | tree.Modify() | tree.PrintExpression() | tree.Replace():
                return self._assigned(node).rstrip(), [node.value]
            case tree.Fork():
                return "fork", [node.left, node.middle, node.right]
            case tree.Atop():
                return "atop", [node.outer, node.inner]
            case tree.Derived() if any(not _is_simple(operand) for operand in node.operands):
                return node.operator, node.operands
            case tree.OperatorCall() if any(not _is_simple(operand) for operand in node.operands):
                return self._written(node.operator), node.operands
            case _:
                return self.parenthesised(node), []

    def _function_label(self, function: tree.Function) -> str:
        return self.parenthesised(function) if not self._parts(function) else "apply"

    def _parts(self, function: tree.Function) -> list[Node]:
        """The function itself, if it groups other functions and so needs a branch; else nothing."""
        return [function] if isinstance(function, tree.Fork | tree.Atop) or self._branches(function)[1] else []

    # ------------------------------------------------------------------------------------------------- steps

    def steps(self) -> list[tuple[str, str]]:
        """The parts that are computed, in the order of evaluation (the right argument first).

        Each is its text and, if it is an assignment, the name that gets its value.
        """
        steps: dict[str, str] = {}
        for node in self._evaluated(self.node):
            match node:
                case tree.InlineBind():
                    steps.setdefault(self._written(node), self._written(node.target))
                case tree.Replace() | tree.Modify():
                    steps.setdefault(self._written(node), node.name.name)
                case _:
                    steps.setdefault(self._written(node), "")
        return list(steps.items()) or [(self._written(self.node), "")]

    def _evaluated(self, node: Node) -> Iterator[Node]:
        for child in reversed(self._arguments(node)):
            yield from self._evaluated(child)
        if isinstance(node, _EXPRESSIONS) and not isinstance(node, _ATOMS):
            yield node

    def _arguments(self, node: Node) -> list[tree.Expression]:
        """The expressions that are evaluated before a node; none inside functions."""
        match node:
            case tree.Monadic():
                return [node.right]
            case tree.Dyadic():
                return [node.left, node.right]
            case tree.Strand() | tree.ArrayNotation() | tree.Tuple():
                return list(node.items)
            case tree.IndexExpression():
                return [node.array, *[axis for axis in node.axes if axis is not None]]
            case tree.Replace():
                return [*[axis for axis in node.axes if axis is not None], node.value]
            case tree.InlineBind() | tree.Modify() | tree.PrintExpression():
                return [node.value]
            case _:
                return []


def grouping_of(text: str, kinds: Mapping[str, SymbolKind]) -> GroupedStatement:
    """The grouping of the last statement of a text; `kinds` are those of the names in scope.  Raises Rejected."""
    glyphs = to_glyphs(Source("<asked>", text)).text
    source = Source("<asked>", glyphs)
    parsed = parse(source, names={name: _CLASSES.get(kind, NameClass.ARRAY) for name, kind in kinds.items()})
    errors = [one for one in parsed.diagnostics if one.is_error]
    if errors or not parsed.program.statements:
        raise Rejected(errors, {source.name: source})
    statement = parsed.program.statements[-1]
    match statement:
        case tree.Evaluate() | tree.BareFunction():
            return GroupedStatement(glyphs, statement.value)
        case tree.BindArray() | tree.BindFunction() | OutputDeclaration():
            target = statement.target.span
            return GroupedStatement(glyphs, statement.value, f"{glyphs[target.start : target.end]} ← ")
        case _:
            raise UsageError("only expressions and assignments group", "for example: )tree (+/x)÷≢x")


def _is_simple(node: Node) -> bool:
    """Is this one name, glyph or literal, or a brace?"""
    return isinstance(node, (*_ATOMS, tree.GlyphFunction, tree.FunctionName, tree.FunctionMember, tree.Dfn))


def _joined(*texts: str) -> str:
    """The texts joined, with a blank where two words or numbers would run together."""
    joined = ""
    for text in texts:
        needs_blank = joined and (joined[-1].isalnum() or joined[-1] in "_'\"") and (text[0].isalnum() or text[0] in "_¯.'\"⎕")
        joined += f" {text}" if needs_blank else text
    return joined


def in_one_line(text: str) -> str:
    """A text of several lines in one, without comments: `⋄` separates the statements."""
    written = ""
    for kind, start, end in lexemes(text):
        word = text[start:end]
        if kind is TokenKind.SEPARATOR and word == "\n":
            before = written.rstrip()
            written = before if before[-1:] in ("", "{", "(", "[", "⋄") else f"{before} ⋄ "
        elif kind in (TokenKind.BLANK, TokenKind.COMMENT):
            written += " " if written[-1:] not in ("", " ", "{") else ""
        else:
            closes = word in ("}", ")", "]") and written.rstrip().endswith("⋄")
            written = written.rstrip()[:-1].rstrip() + word if closes else written + word
    return written.rstrip()


def short(text: str) -> str:
    """A text of at most `MOST_TEXT` characters."""
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
