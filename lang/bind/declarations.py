"""Binds declarations at top level: `use`, `input`, `param`, `output`, `schedule`, signatures and annotated bindings.

Declarations have a grammar of their own; the expressions inside them are read and bound like any other.
"""

from __future__ import annotations

import math
import re
import sys
from functools import lru_cache

from ..diagnostics.model import Code, Diagnostic, Edit, Fix
from ..primitives.table import ELEMENT_NAMES
from ..support.records import dataclass, replace
from ..syntax.source import BLANK, COMMENT, DECLARING, DIGITS, NAME, REAL, TEXT, WORD_END, Span, Token, TokenKind, Tokens
from ..tree import expressions, program
from ..tree.program import AS_WRITTEN, MISSING_POINT, CellFormat, ColumnFormat, has_time
from .applications import expression_of
from .expressions import bind_array, bind_assignment
from .names import allowed_name, checked_name, module_stem
from .scopes import BindContext, BindError, ResolvedValue, read_statement

# ---------------------------------------------------------------------------------------------------- grammar
#
# A parsimonious PEG of declarations, for the text of one statement in canonical glyphs.
#
# Parsimonious prefers the `regex` package and falls back to the standard `re`.  The grammar needs nothing that `re` lacks, and
# importing `regex` would take a third of the cold start of `rho check`, so `regex` is hidden while parsimonious is imported.

_hidden = "parsimonious" not in sys.modules and "regex" not in sys.modules
if _hidden:
    sys.modules["regex"] = None  # type: ignore[assignment]
try:
    from parsimonious.exceptions import ParseError
    from parsimonious.expressions import Regex
    from parsimonious.grammar import Grammar
    from parsimonious.nodes import Node
finally:
    if _hidden:
        del sys.modules["regex"]


DECLARATION_RULES = r"""
    declaration = (schedule / use / input / param / output) _end
    typed       = _colon (signature / annotated) _end
    use         = ~r"use(?![\w∆])" _blank (path / name)
    input       = ~r"input(?![\w∆])" _blank name _colon parameter (_gets path _blank)? clause* where?
    param       = ~r"param(?![\w∆])" _blank name _gets expression where?
    output      = ~r"output(?![\w∆])" _blank name (_gets shown)? _blank as?
    clause      = as / missing / sep / decimal / group_sign
    as          = ~r"as(?![\w∆])" _blank (quoted / form) _blank
    missing     = ~r"missing(?![\w∆])" _blank (literal / quoted) _blank
    sep         = ~r"sep(?![\w∆])" _blank quoted _blank
    decimal     = ~r"decimal(?![\w∆])" _blank quoted _blank
    group_sign  = ~r"group(?![\w∆])" _blank quoted _blank
    signature   = (function _arrow (function _arrow)?)? parameter _arrow (parameter _arrow)? type where?
    function    = "(" _blank type _arrow (type _arrow)? type ")" _blank
    annotated   = type ((_gets expression) / where)?
    parameter   = (quantity _gap type) / type

    type        = (given / tuple / array) _blank
    given       = "(" _blank name _blank ")"
    tuple       = "(" _blank type (~r"[⋄\n]" _blank type)+ ")"
    array       = element shape?
    element     = refined / name
    refined     = ~r"(idx|int|perm)<" _blank (bounded / size) (".." _blank size)? ">"
    shape       = _open (item (_gap item)*)? _close
    item        = variable / bounded / tight
    variable    = ".." name
    bounded     = name ~r"≤" _blank tight

    tight       = operand_t (operator _blank operand_t)*
    operand_t   = (monadic _blank)* (group / number / items / name)
    size        = operand_s (operator _blank operand_s)*
    operand_s   = (monadic _blank)* (group / number / items / name) _blank
    items       = "×/" name
    group       = "(" _blank size ")"

    where       = ~r"where(?![\w∆])" _blank fact (~r"[,∧]" _blank fact)* _blank
    fact        = class_fact / chain
    class_fact  = name _gap class _blank
    chain       = size (relation _blank size)*
    quantity    = omega / range / tight
    range       = tight ".." (omega / tight)

    schedule    = ~r"schedule(?![\w∆])" _blank block
    block       = "{" (_blank (separator / block / word))* _blank "}"
    word        = ~r"[^\s{}⋄⍝]+"
"""


@lru_cache(maxsize=1)
def declaration_grammar() -> Grammar:
    """The grammar of `use`, `input`, `param`, `output` and `schedule`; its rule `typed` is what follows the name in signatures
    and annotations.  Nodes of rules whose names start with `_` are dropped from the tree."""
    blank = rf"(?:\s|{COMMENT})*+"
    line = BLANK
    return Grammar(
        DECLARATION_RULES,
        _blank=Regex(line, "_blank"),
        _gap=Regex(rf"(?:\s|{COMMENT})++", "_gap"),
        _end=Regex(blank + r"\Z", "_end"),
        _colon=Regex(line + ":" + line, "_colon"),
        _gets=Regex(line + "←" + line, "_gets"),
        _arrow=Regex(line + "→" + line, "_arrow"),
        _open=Regex(r"\[" + blank, "_open"),
        _close=Regex(blank + r"\]", "_close"),
        name=Regex(rf"(?!(?:use|input|param|output|schedule|where)(?![\w∆])){NAME}", "name"),
        number=Regex(rf"¯?{DIGITS}{WORD_END}", "number"),
        operator=Regex("[-+×÷|⌈⌊*]", "operator"),
        monadic=Regex("[-⌊⌈]", "monadic"),
        relation=Regex("[=≠≤<≥>]", "relation"),
        omega=Regex(r"[ω⍵](?![\w∆])", "omega"),
        path=Regex(TEXT, "path"),
        quoted=Regex(TEXT, "quoted"),
        expression=Regex(rf"(?:{TEXT}|(?!(?<![\w∆])where(?![\w∆])).)++", "expression", dot_all=True),
        form=Regex(r"(?:date|time|present)(?![\w∆])", "form"),
        literal=Regex(rf"(?:⎕nan|⎕nat|{REAL})(?![\w∆])", "literal"),
        shown=Regex(rf"""(?:{TEXT}|(?!(?<![\w∆])as[ \t]+(?:date|time|["'])).)++""", "shown", dot_all=True),
        separator=Regex("[⋄\n]", "separator"),
        **{"class": Regex(r"(?:num|real|int|ord)(?![\w∆])", "class")},
    )


@lru_cache(maxsize=20_000)
def declared(rule: str, text: str) -> Node | ParseError:
    """Parse a text by the rule `declaration` or `typed`; the error if that fails.  Cached, since programs repeat types.

    The tree has only the named nodes, without those whose names start with `_`."""
    try:
        (node,) = _parts(declaration_grammar()[rule].parse(text))
    except ParseError as error:
        return error
    return _bare(node)


def _bare(node: Node) -> Node:
    node.children = [_bare(part) for part in _parts(node)]
    return node


def _parts(node: Node) -> list[Node]:
    """The nearest named descendants of a node, in order, without those whose names start with `_`."""
    parts: list[Node] = []
    for child in node.children:
        name = child.expr.name
        if not name:
            parts.extend(_parts(child))
        elif not name.startswith("_"):
            parts.append(child)
    return parts


# ---------------------------------------------------------------------------------------------------- types
#
# From the nodes of the declaration grammar to the nodes of types, sizes, quantities and facts of the tree.
#
# Sizes read right to left.  The grammar keeps a size flat and `TypeReader.size` nests it in a loop, so a long size cannot exhaust
# the stack.

_MAXIMUM_TERMS = 200


@dataclass(frozen=True, slots=True)
class TypeReader:
    """Converts the grammar's nodes of one declaration to nodes of the tree.  With `in_signature`, names in sizes are size
    variables."""

    context: BindContext
    in_signature: bool = False

    def span(self, node: Node) -> Span:
        """The span of a node without its trailing blanks."""
        return self.context.span(node.start, node.start + len(node.text.rstrip()))

    # ------------------------------------------------------------------------------------- types

    def type(self, node: Node) -> expressions.TypeExpression:
        (shape,) = node.children
        if shape.expr_name == "given":
            return self._given(shape)
        if shape.expr_name == "tuple":
            return expressions.TupleTypeExpression(self.span(shape), tuple(self.type(item) for item in shape.children))
        element, *rest = shape.children
        items = tuple(self._item(item) for item in rest[0].children) if rest else ()
        return expressions.ArrayTypeExpression(self.span(shape), self._element(element), items)

    def _given(self, node: Node) -> expressions.ArrayTypeExpression:
        """The type of a parameter `(k)`: an integer equal to the size k, or the element type if `k` is the name of one."""
        (name,) = node.children
        if name.text in ELEMENT_NAMES or name.text[0].isupper():
            return expressions.ArrayTypeExpression(self.span(node), expressions.ElementName(self.span(name), name.text), ())
        element = expressions.ElementName(self.span(node), expressions.GIVEN, (expressions.SizeName(self.span(name), name.text),))
        return expressions.ArrayTypeExpression(self.span(node), element, ())

    def _element(self, node: Node) -> expressions.ElementName:
        (inner,) = node.children
        if inner.expr_name == "name":
            return expressions.ElementName(self.span(node), inner.text)
        arguments = tuple([self._bounded(size) if size.expr_name == "bounded" else self.size(size) for size in inner.children])
        name = inner.text.split("<", 1)[0]
        if name == "int" and isinstance(arguments[0], expressions.BoundedSize):
            raise self.context.error(Code.E011, "`int` takes two sizes, as in `int<0..9>`", self.span(node))
        expected = 2 if name == "int" else 1
        if len(arguments) != expected:
            example = "int<0..9>" if name == "int" else f"{name}<n>"
            raise self.context.error(Code.E011, f"`{name}` takes {expected} size{'s' if expected > 1 else ''}, as in `{example}`",
                                     self.span(node))  # fmt: skip
        return expressions.ElementName(self.span(node), name, arguments)

    def _item(self, node: Node) -> expressions.ShapeItem:
        (inner,) = node.children
        match inner.expr_name:
            case "variable":
                return expressions.ShapeVariable(self.span(inner), inner.children[0].text)
            case "bounded":
                return self._bounded(inner)
            case _:
                return self.size(inner)

    def _bounded(self, node: Node) -> expressions.BoundedSize:
        name, bound = node.children
        return expressions.BoundedSize(self.span(node), name.text, self.size(bound))

    # ------------------------------------------------------------------------------------- sizes

    def size(self, node: Node) -> expressions.SizeExpression:
        """A size, whose children are operands and operators in turn, nested from the right; E012, E016."""
        nodes = node.children
        if len(nodes) > 2 * _MAXIMUM_TERMS:
            raise self.context.error(Code.E016, f"a size has more than {_MAXIMUM_TERMS} terms", self.span(node))
        self._reject_mixed_operators(nodes)
        *rest, last = nodes
        value = self._operand(last, None)
        for index in range(len(rest) - 2, -1, -2):
            operand, operator = rest[index], rest[index + 1]
            value = self._operand(operand, (operator.text, value))
        return value

    def _operand(self, node: Node, right: tuple[str, expressions.SizeExpression] | None) -> expressions.SizeExpression:
        """An operand combined with the size to its right; the operand's monadic functions apply to the result."""
        *monadic, atom = node.children
        value = self._atom(atom)
        if right is not None:
            operator, rest = right
            value = expressions.SizeCall(value.span.to(rest.span), operator, (value, rest))
        for function in reversed(monadic):
            value = expressions.SizeCall(self.span(function).to(value.span), function.text, (value,))
        return value

    def _atom(self, node: Node) -> expressions.SizeExpression:
        match node.expr_name:
            case "number":
                text = node.text.replace("_", "").replace("¯", "-")
                if len(text) > 19:
                    raise self.context.error(Code.E302, "this size does not fit i64", self.span(node))
                return expressions.SizeNumber(self.span(node), int(text))
            case "items":
                return expressions.SizeName(self.span(node), node.text)
            case "name":
                value = self.context.resolution.value_in_size(node.text, in_signature=self.in_signature)
                return expressions.SizeName(self.span(node), node.text, value)
            case _:
                (inner,) = node.children
                return self.size(inner)

    def _reject_mixed_operators(self, nodes: list[Node]) -> None:
        """E012 for `+` with `-`, or `×` left of `+` or `-`: people read these from the left, sizes are read from the right."""
        operators = nodes[1::2]
        first_of: dict[str, int] = {}
        for index, operator in enumerate(operators):
            sign = operator.text
            clash = next((other for other in first_of if {other, sign} == {"+", "-"} or (other == "×" and sign in "+-")), None)
            if clash is not None:
                other = operators[first_of[clash]]
                left, right = self.span(nodes[0]), self.span(nodes[2 * index])
                edits = (Edit(Span(left.file, left.start, left.start), "("), Edit(Span(right.file, right.end, right.end), ")"))
                raise BindError(Diagnostic(
                    Code.E012, f"this size has `{clash}` left of `{sign}`; sizes read right to left, so say which comes first",
                    self.span(other).to(self.span(operator)),
                    fixes=(Fix("put parentheses round the left part", edits),),
                ))  # fmt: skip
            first_of.setdefault(sign, index)

    # ------------------------------------------------------------------------- quantities and facts

    def parameter(self, node: Node) -> expressions.Parameter:
        *quantity, type_node = node.children
        return expressions.Parameter(self.span(node), self._quantity(quantity[0]) if quantity else None, self.type(type_node))

    def operand(self, node: Node) -> program.Signature:
        """The signature of an operand of an operator."""
        *parameters, result = [self.type(child) for child in node.children]
        left, right = [None, *[expressions.Parameter(type_.span, None, type_) for type_ in parameters]][-2:]
        assert right is not None
        name = program.StatedName(self.span(node), "⍺⍺")
        return program.Signature(self.span(node), name, left, right, result, ())

    def _quantity(self, node: Node) -> expressions.Quantity:
        (inner,) = node.children
        match inner.expr_name:
            case "omega":
                return expressions.Quantity(self.span(node), None, None)
            case "range":
                low, high = inner.children
                most = None if high.expr_name == "omega" else self.size(high)
                return expressions.Quantity(self.span(node), self.size(low), most)
            case _:
                exact = self.size(inner)
                return expressions.Quantity(self.span(node), exact, exact)

    def where(self, nodes: list[Node]) -> tuple[expressions.Fact, ...]:
        """The facts of the `where` clauses among some nodes."""
        facts: list[expressions.Fact] = []
        for node in nodes:
            for fact in node.children:
                (inner,) = fact.children
                if inner.expr_name == "class_fact":
                    name, kind = inner.children
                    element = expressions.SizeName(self.span(name), name.text)
                    facts.append(expressions.Fact(self.span(inner), kind.text, element, None))
                else:
                    facts.extend(self._chain(inner))
        return tuple(facts)

    def _chain(self, node: Node) -> list[expressions.Fact]:
        """The facts of a chain: two for `a ≤ b ≤ c`; a size `h|d` alone states that h divides d."""
        nodes = node.children
        sizes = [self.size(size) for size in nodes[::2]]
        if len(sizes) == 1:
            size = sizes[0]
            if isinstance(size, expressions.SizeCall) and size.function == "|" and len(size.args) == 2:
                return [expressions.Fact(self.span(node), "∣", *size.args)]
            raise self.context.error(Code.E011, "a fact compares two sizes, as in `n ≥ 1` or `h ∣ d`", self.span(node))
        return [
            expressions.Fact(left.span.to(right.span), relation.text, left, right)
            for left, relation, right in zip(sizes, nodes[1::2], sizes[1:], strict=False)
        ]


# ---------------------------------------------------------------------------------------------------- declarations

_VALUES = ("expression", "shown")
_KEYWORD = re.compile(rf"({DECLARING})(?!\s*←)")
_TYPED = re.compile(rf"(?!where{WORD_END})({NAME})[ \t]*:")

_EXPECTED = {
    "name": "a name", "_colon": "`:` and a type", "_gets": "`←`", "_arrow": "`→`", "type": "a type such as `f64[n 3]`",
    "tuple": "a type such as `f64[n 3]`", "array": "a type such as `f64[n 3]`", "element": "a type such as `f64[n 3]`",
    "given": "a type such as `f64[n 3]`",
    "refined": "a type such as `f64[n 3]`", "parameter": "a type such as `f64[n 3]`", "signature": "a type such as `f64[n 3]`",
    "annotated": "a type such as `f64[n 3]`",
    "function": "a type such as `f64[n 3]`", "quantity": "a type such as `f64[n 3]`", "omega": "a type such as `f64[n 3]`",
    "range": "a type such as `f64[n 3]`", "monadic": "a type such as `f64[n 3]`",
    "_open": "a shape in brackets", "_close": "`]`", "item": "a size", "size": "a size", "tight": "a size", "number": "a size",
    "operand_t": "a size", "operand_s": "a size", "items": "a size", "group": "a size", "variable": "a size", "bounded": "a size",
    "path": "a file name in quotes", "fact": "a fact such as `n ≥ 1`", "chain": "a fact such as `n ≥ 1`",
    "relation": "one of `= ≠ ≤ < ≥ >`", "expression": "a value", "_end": "the end of the declaration", "block": "`{`",
    "where": "the end of the declaration", "operator": "the end of the declaration", "_gap": "a blank",
    "clause": "the end of the declaration", "as": "the end of the declaration", "missing": "the end of the declaration",
    "sep": "the end of the declaration", "decimal": "the end of the declaration",
    "group_sign": "the end of the declaration", "shown": "a value",
    "form": "`present` or a format in quotes", "literal": "a number or a text", "quoted": "a text in quotes",
    "class": "`num`, `real`, `int` or `ord`", "_blank": "the end of the declaration",
}  # fmt: skip


def is_declaration(text: str) -> bool:
    """Whether a top-level statement is a declaration, by its first word or a `name :`."""
    return _KEYWORD.match(text) is not None or _TYPED.match(text) is not None


def keyword_of(text: str) -> str:
    """The keyword that a declaration starts with; empty for `name : …` and for other statements."""
    match = _KEYWORD.match(text)
    return "" if match is None else match.group(1)


def read_declaration(context: BindContext, text: str) -> tuple[BindContext, Node]:
    """Parse a declaration: a context with the base offset of its nodes, and its node.

    Of `name : …` only the part after the name is parsed.  Raises `BindError` (E011) where the declaration, or an expression in
    it, cannot be read."""
    typed = None if _KEYWORD.match(text) else _TYPED.match(text)
    if typed is not None:
        context, text = replace(context, base=context.base + typed.end(1)), text[typed.end(1) :]
    node = declared("declaration" if typed is None else "typed", text)
    if isinstance(node, ParseError):
        raise _unreadable_declaration(context, text, node)
    for expression in [part for inner in (node, *node.children) for part in inner.children if part.expr_name in _VALUES]:
        _tokens(context, expression)
    return context, node


def bind_declaration(context: BindContext, text: str, value: ResolvedValue) -> program.Statement:
    inside, node = read_declaration(context, text)
    span = context.span(0, len(text))
    types = TypeReader(inside, node.expr_name == "signature")
    children = node.children
    match node.expr_name:
        case "signature" | "annotated":
            return _typed(context, text[: inside.base - context.base], span, types, node, value)
        case "use":
            return _use(context, span, children[0])
        case "schedule":
            return program.ScheduleBlock(span, _directives(context, children[0]))
    match node.expr_name:
        case "input":
            target = _target(context, children[0])
            parts = {child.expr_name: child for child in children}
            path = parts.get("path")
            parameter = types.parameter(parts["parameter"])
            clauses = [child for child in children if child.expr_name == "clause"]
            return program.InputDeclaration(
                span, target, parameter.type, None if path is None else _unquoted(path),
                types.where([child for child in children if child.expr_name == "where"]), _column_format(context, types, clauses),
                tuple([types.span(clause) for clause in clauses]), parameter.quantity,
            )  # fmt: skip
        case "param":
            default = _expression(context, children[1], value)
            return program.Param(span, _target(context, children[0]), default, types.where(children[2:]))
        case _:
            printed = [child for child in children if child.expr_name == "shown"]
            clauses = [child for child in children if child.expr_name == "as"]
            shown = _expression(context, (printed or children)[0], value)
            return program.OutputDeclaration(span, _target(context, children[0]), shown, _column_format(context, types, clauses))


def _column_format(context: BindContext, types: TypeReader, clauses: list[Node]) -> ColumnFormat:
    """The column format that the clauses of a declaration give; E011 for a clause that occurs twice."""
    column_format, words = AS_WRITTEN, set[str]()
    for node in clauses:
        (clause,) = node.children if node.expr_name == "clause" else (node,)
        (value,) = clause.children
        word, span = clause.expr_name, types.span(value)
        if word in words:
            raise context.error(Code.E011, f"`{word.removesuffix('_sign')}` stands here twice", types.span(clause))
        words.add(word)
        match word:
            case "as":
                column_format = _with_cell_format(context, column_format, value, span)
            case "missing":
                missing = _unquoted(value) if value.expr_name == "quoted" else _number(value.text)
                column_format = replace(column_format, missing=missing)
            case "sep":
                column_format = replace(column_format, separator=_separator(context, value, span))
            case "decimal":
                column_format = replace(column_format, decimal=_separator(context, value, span))
            case _:
                sign = _separator(context, value, span)
                column_format = replace(column_format, group=" " if sign.isspace() else sign)
    if column_format.group == column_format.decimal:
        message = f"`{column_format.decimal}` separates groups here and decimals: say both, as `group \".\" decimal \",\"`"
        raise context.error(Code.E011, message, types.span(clauses[-1]))
    return column_format


def _with_cell_format(context: BindContext, column_format: ColumnFormat, value: Node, span: Span) -> ColumnFormat:
    if value.expr_name == "form":
        if value.text != "present":
            note = f"declare it so, as in `input x : {value.text}[n]`; values of that type are written so"
            raise context.error(Code.E011, f"`{value.text}` is an element type, and no clause", span, notes=(note,))
        return replace(column_format, form=CellFormat[value.text.upper()])
    pattern = _unquoted(value)
    if "%" not in pattern:
        raise context.error(Code.E011, 'a format of dates has directives, as in `"%d.%m.%Y"`', span)
    return replace(column_format, form=CellFormat.TIME if has_time(pattern) else CellFormat.DATE, pattern=pattern)


def _number(text: str) -> int | float:
    plain = text.replace("¯", "-").replace("_", "").replace("∞", "inf")
    if text == "⎕nan":
        return math.nan
    if text == "⎕nat":
        return MISSING_POINT
    return int(plain) if plain.removeprefix("-").isdigit() else float(plain)


def _separator(context: BindContext, value: Node, span: Span) -> str:
    sign = _unquoted(value).replace("\\t", "\t")
    if len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
        raise context.error(Code.E011, "this is one sign, such as `;`", span)
    return sign


def _target(context: BindContext, node: Node, name: str = "") -> expressions.NameTarget:
    """The assignment target for a name: the text of `node`, or `name` where the node spells the name otherwise, as a path
    does."""
    name = name or node.text
    return checked_name(context, Token(TokenKind.NAME, node.start, node.end, name, (), context.resolution.top.find(name)))


def _unquoted(node: Node) -> str:
    text: str = node.text
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)


def _typed(
    context: BindContext, name: str, span: Span, types: TypeReader, node: Node, value: ResolvedValue
) -> program.Statement:  # fmt: skip
    """The statement of `name : …`: a signature, an annotated binding, or the annotation of the next binding of the name."""
    target = program.StatedName(*allowed_name(context, Token(TokenKind.NAME, 0, len(name), name)))
    children = node.children
    if node.expr_name == "signature":
        operands = tuple([types.operand(child) for child in children if child.expr_name == "function"])
        parameters = [types.parameter(child) for child in children if child.expr_name == "parameter"]
        result, *where = children[len(operands) + len(parameters) :]
        left = parameters[0] if len(parameters) == 2 else None
        return program.Signature(span, target, left, parameters[-1], types.type(result), types.where(where), operands)
    type_ = types.type(children[0])
    if len(children) > 1 and children[1].expr_name == "expression":
        statement, _ = bind_assignment(replace(context, base=context.base + value.offset), value.tokens, type_)
        if not isinstance(statement, expressions.BindArray):
            message = f"`{name}` is bound to a function; its type has an arrow, as in `f64[n] → f64`"
            raise context.error(Code.E011, message, types.span(children[0]))
        return statement
    return program.Annotation(span, target, type_, types.where(children[1:]))


def _tokens(context: BindContext, node: Node) -> Tokens:
    return read_statement(replace(context, base=context.base + node.start), node.text.rstrip())


def _expression(context: BindContext, node: Node, value: ResolvedValue) -> expressions.Expression:
    """The bound expression of a node: the tokens of `value` that are inside the node, without the clauses after it."""
    inner, start = replace(context, base=context.base + value.offset), node.start - value.offset
    tokens = tuple([token for token in value.tokens if token.start < start + len(node.text.rstrip())])
    return expression_of(bind_array(inner, tokens, (start, start + len(node.text))))


# ------------------------------------------------------------------------------------ use, schedule


def _use(context: BindContext, span: Span, node: Node) -> program.ModuleUse:
    name_span = context.span(node.start, node.end)
    if node.expr_name == "name":
        name, path = node.text, None
        target = _target(context, node)
    else:
        path = _unquoted(node)
        name = module_stem(path)
        if re.fullmatch(NAME, name) is None:
            raise context.error(Code.E010, f"a module is called by its file's name, and `{name}` is not a name", name_span)
        target = _target(context, node, name)
    if context.modules is not None and context.modules(path or name) is None:
        raise context.error(Code.E019, f"there is no module `{path or name}`", name_span)
    return program.ModuleUse(span, target, path)


def _directives(context: BindContext, block: Node) -> tuple[program.Directive, ...]:
    directives: list[program.Directive] = []
    words: list[program.DirectiveWord | program.DirectiveGroup] = []

    def finish() -> None:
        if words:
            directives.append(program.Directive(words[0].span.to(words[-1].span), tuple(words)))
            words.clear()

    for node in block.children:
        span = context.span(node.start, node.end)
        match node.expr_name:
            case "separator":
                finish()
            case "word":
                words.append(program.DirectiveWord(span, node.text))
            case _:
                words.append(program.DirectiveGroup(span, _directives(context, node)))
    finish()
    return tuple(directives)


# ------------------------------------------------------------------------------------------ errors


_AFTER_PATH = (
    'a column is named in the path, `"x.csv:day"`; these clauses may follow it: `as "%d.%m.%Y"`, `as present`, `missing 0`, '
    '`sep ";"`, `decimal ","`, `group "."`, `where n ≥ 1`'
)


def _unreadable_declaration(context: BindContext, text: str, error: ParseError) -> BindError:
    """E011 with what the grammar expected at the position where parsing stopped."""
    start = error.pos
    while start < len(text) and text[start] in " \t":
        start += 1
    end = start
    while end < len(text) and not text[end].isspace() and text[end] not in "()[]{}⋄;:←→,'\"":
        end += 1
    end = max(end, min(start + 1, len(text)))
    expected = _EXPECTED.get(error.expr.name, "a declaration") if error.expr is not None else "a declaration"
    if text[start : start + 1] in ("'", '"') and text.startswith("input") and "←" not in text[:start]:
        expected = "`←`"
    has_path = text.startswith("input") and expected == _EXPECTED["_end"] and '"' in text[:start]
    instead = f", not `{text[start:end]}`" if start < len(text) else ""
    return context.error(Code.E011, f"{expected} is expected here{instead}", context.span(min(start, len(text)), end),
                         notes=(_AFTER_PATH,) if has_path else _example(text))  # fmt: skip


def _example(text: str) -> tuple[str, ...]:
    keyword = keyword_of(text)
    if keyword == "input" and "(" in text.partition(":")[0]:
        return ('an input is one array: each column has a line, `input day : date[n] ← "x.csv:day"`',)
    form = {
        "use": '`use stats` or `use "./geometry.rho"`', "input": '`input x : f64[n 3] ← "x.npy"`',
        "param": "`param k ← 3 where k ≥ 1`", "output": '`output labels`, `output labels ← e` or `output day ← e as "%d.%m.%Y"`',
        "schedule": "`schedule { gpu { a ⋄ b } }`",
    }[keyword] if keyword else "`name : f64[n] → f64` or `name : f64[3] ← e`"  # fmt: skip
    return (f"the form is {form}",)
