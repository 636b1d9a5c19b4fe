"""From the nodes of the declaration grammar to the type, size, quantity and fact nodes of the tree.

Sizes read right to left.  The grammar keeps a size flat; the nesting is made here, so a long size cannot
exhaust the stack while parsing.
"""

from __future__ import annotations

from . import type_tree
from .codes import Code
from .diagnostics import Diagnostic, Edit, Fix
from .peg import Node
from .problems import Problem
from .records import dataclass
from .source import Span
from .units import Binding

_MAXIMUM_TERMS = 200


@dataclass(frozen=True, slots=True)
class TypeReader:
    """Reads nodes of one declaration; `binding` gives spans."""

    binding: Binding

    def span(self, node: Node) -> Span:
        """Of a node without the blanks it ends with."""
        return self.binding.span(node.start, node.start + len(node.text.rstrip()))

    # ------------------------------------------------------------------------------------- types

    def type(self, node: Node) -> type_tree.TypeExpression:
        (shape,) = node.children
        if shape.expr_name == "tuple":
            return type_tree.TupleTypeExpression(self.span(shape), tuple(self.type(item) for item in shape.children))
        element, *rest = shape.children
        items = tuple(self._item(item) for item in rest[0].children) if rest else ()
        return type_tree.ArrayTypeExpression(self.span(shape), self._element(element), items)

    def _element(self, node: Node) -> type_tree.ElementName:
        (inner,) = node.children
        if inner.expr_name == "name":
            return type_tree.ElementName(self.span(node), inner.text)
        arguments = tuple([self._bounded(size) if size.expr_name == "bounded" else self.size(size) for size in inner.children])
        name = inner.text.split("<", 1)[0]
        if name == "int" and isinstance(arguments[0], type_tree.BoundedSize):
            raise self.binding.problem(Code.E011, "`int` takes two sizes, as in `int<0..9>`", self.span(node))
        wanted = 2 if name == "int" else 1
        if len(arguments) != wanted:
            example = "int<0..9>" if name == "int" else f"{name}<n>"
            raise self.binding.problem(Code.E011, f"`{name}` takes {wanted} size{'s' if wanted > 1 else ''}, as in `{example}`",
                                       self.span(node))  # fmt: skip
        return type_tree.ElementName(self.span(node), name, arguments)

    def _item(self, node: Node) -> type_tree.ShapeItem:
        (inner,) = node.children
        match inner.expr_name:
            case "variable":
                return type_tree.ShapeVariable(self.span(inner), inner.children[0].text)
            case "bounded":
                return self._bounded(inner)
            case _:
                return self.size(inner)

    def _bounded(self, node: Node) -> type_tree.BoundedSize:
        name, bound = node.children
        return type_tree.BoundedSize(self.span(node), name.text, self.size(bound))

    # ------------------------------------------------------------------------------------- sizes

    def size(self, node: Node) -> type_tree.SizeExpression:
        """A `size` or a `tight` one: operands and operators in turn, read right to left."""
        nodes = node.children
        if len(nodes) > 2 * _MAXIMUM_TERMS:
            raise self.binding.problem(Code.E016, f"a size has more than {_MAXIMUM_TERMS} terms", self.span(node))
        self._refuse_mixture(nodes)
        *rest, last = nodes
        value = self._operand(last, None)
        for at in range(len(rest) - 2, -1, -2):
            operand, operator = rest[at], rest[at + 1]
            value = self._operand(operand, (operator.text, value))
        return value

    def _operand(self, node: Node, right: tuple[str, type_tree.SizeExpression] | None) -> type_tree.SizeExpression:
        """An operand joined to what is right of it; its monadic functions then apply to the whole."""
        *monadic, atom = node.children
        value = self._atom(atom)
        if right is not None:
            operator, rest = right
            value = type_tree.SizeCall(value.span.to(rest.span), operator, (value, rest))
        for function in reversed(monadic):
            value = type_tree.SizeCall(self.span(function).to(value.span), function.text, (value,))
        return value

    def _atom(self, node: Node) -> type_tree.SizeExpression:
        match node.expr_name:
            case "number":
                text = node.text.replace("_", "").replace("¯", "-")
                if len(text) > 19:
                    raise self.binding.problem(Code.E302, "this size does not fit i64", self.span(node))
                return type_tree.SizeNumber(self.span(node), int(text))
            case "name":
                stands = self.binding.names.meanings.get(self.binding.base + node.start)
                return type_tree.SizeName(self.span(node), node.text, None if stands is None else stands.symbol)
            case _:
                (inner,) = node.children
                return self.size(inner)

    def _refuse_mixture(self, nodes: list[Node]) -> None:
        """E012: `+` with `-`, or `×` left of `+` or `-`, which most people read from the left."""
        operators = nodes[1::2]
        first_of: dict[str, int] = {}
        for index, operator in enumerate(operators):
            sign = operator.text
            clash = next((other for other in first_of if {other, sign} == {"+", "-"} or (other == "×" and sign in "+-")), None)
            if clash is not None:
                other = operators[first_of[clash]]
                left, right = self.span(nodes[0]), self.span(nodes[2 * index])
                edits = (Edit(Span(left.file, left.start, left.start), "("), Edit(Span(right.file, right.end, right.end), ")"))
                raise Problem(Diagnostic(
                    Code.E012, f"this size has `{clash}` left of `{sign}`; sizes read right to left, so say which comes first",
                    self.span(other).to(self.span(operator)),
                    fixes=(Fix("put parentheses round the left part", edits),),
                ))  # fmt: skip
            first_of.setdefault(sign, index)

    # ------------------------------------------------------------------------- quantities and facts

    def parameter(self, node: Node) -> type_tree.Parameter:
        *quantity, type_node = node.children
        return type_tree.Parameter(self.span(node), self._quantity(quantity[0]) if quantity else None, self.type(type_node))

    def _quantity(self, node: Node) -> type_tree.Quantity:
        (inner,) = node.children
        match inner.expr_name:
            case "omega":
                return type_tree.Quantity(self.span(node), None, None)
            case "range":
                low, high = inner.children
                return type_tree.Quantity(self.span(node), self.size(low), self.size(high))
            case _:
                exact = self.size(inner)
                return type_tree.Quantity(self.span(node), exact, exact)

    def where(self, nodes: list[Node]) -> tuple[type_tree.Fact, ...]:
        """The facts of an optional `where`."""
        facts: list[type_tree.Fact] = []
        for node in nodes:
            for fact in node.children:
                (inner,) = fact.children
                if inner.expr_name == "class_fact":
                    name, kind = inner.children
                    element = type_tree.SizeName(self.span(name), name.text)
                    facts.append(type_tree.Fact(self.span(inner), kind.text, element, None))
                else:
                    facts.extend(self._chain(inner))
        return tuple(facts)

    def _chain(self, node: Node) -> list[type_tree.Fact]:
        """`a ≤ b ≤ c` is two facts; a size `h|d` alone says that h divides d."""
        nodes = node.children
        sizes = [self.size(size) for size in nodes[::2]]
        if len(sizes) == 1:
            size = sizes[0]
            if isinstance(size, type_tree.SizeCall) and size.function == "|" and len(size.args) == 2:
                return [type_tree.Fact(self.span(node), "∣", *size.args)]
            raise self.binding.problem(Code.E011, "a fact compares two sizes, as in `n ≥ 1` or `h ∣ d`", self.span(node))
        return [
            type_tree.Fact(left.span.to(right.span), relation.text, left, right)
            for left, relation, right in zip(sizes, nodes[1::2], sizes[1:], strict=False)
        ]
