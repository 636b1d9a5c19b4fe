"""Translates expressions of Python (or C, R) into Rho: `x**2` is `x*2`, `2*a+1` is `(2×a)+1`, `np.sum(x)` is `+/,x`.

In `y = 2*a+1` the operators have the meaning and precedence of the other language, so a statement is translated as a whole: in a
statement that is partly Rho it would be unclear which language its `*` and `/` belong to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import ceil, prod
from typing import Final

from ..support.records import dataclass
from .equivalence_domains import (
    KINDS,
    ArgumentFact,
    RhoSpelling,
    TranslationContext,
    conversion_to,
    describe_domain,
    holds,
    kinds_of,
    spelling_for,
    without_ranks,
)
from .function_names import (
    ALONG_FIRST_AXIS,
    BARE_FUNCTIONS,
    BUILTINS,
    CALLS,
    CONSTANTS,
    JOINING_FUNCTIONS,
    KINDS_OF_WORDS,
    MONADIC_FUNCTIONS,
    PACKAGES,
    ROW_BY_ROW,
)

# ---------------------------------------------------------------------------------------------------- operators, lists, slices

_OPERATORS: Final[Mapping[type[ast.operator | ast.cmpop | ast.boolop], str]] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.MatMult: "matmul",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
    ast.And: "both", ast.Or: "either", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.In: "contained", ast.Mod: "mod", ast.FloorDiv: "floor_divide", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
"""The functions (of `function_names.CALLS`) that operators stand for."""
_ELEMENTWISE: Final = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.operator, ast.cmpop, ast.boolop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip
"""The nodes of expressions whose value has the axes of the names in them."""
_ITEM: Final = re.compile(r"[^\W\d]\w*|¯?[\d.]+(?: ¯?[\d.]+)*|\([^()]*\)|'[^']*'|\"[^\"]*\"")


_COUNT: Final = RhoSpelling("", "0 i ≥0", "", "a negative bound counts from the end there")
_NOT: Final = RhoSpelling("~", "b", "b", "of integers it turns all bits, which `⎕bnot n` does")
_LOGICAL_NOT: Final = RhoSpelling("~", "0 b", "b", "of other numbers it is `0=`, and no array is true or false there")


@dataclass(frozen=True, slots=True)
class StretchedAxis:
    """An axis of length 1, the last or the first one, and the expression without it."""

    of: ast.expr
    is_last: bool


class Untranslatable(Exception):
    """Rho has no spelling of the expression that is known to be equivalent."""


class ExpressionTranslator:
    """Translates nodes of the Python expression `text`.

    Every method returns Rho text or raises `Untranslatable`; remarks are added to `context`."""

    def __init__(self, text: str, context: TranslationContext) -> None:
        self.text, self.context = text, context

    def translate(self, node: ast.expr) -> str:
        """The Rho text of a node."""
        match node:
            case ast.BinOp(left, operator, right):
                return self.binary_operation(left, operator, right)
            case ast.Compare(left, [ast.NotIn()], [right]):
                return f"~{self.binary_operation(left, ast.In(), right)}"
            case ast.Compare(left, operators, others):
                pairs = zip([left, *others], operators, others, strict=False)
                *before, last = (self.binary_operation(*pair) for pair in pairs)
                return "".join(f"({item})∧" for item in before) + last
            case ast.BoolOp(operator, values):
                return self.boolean_operation(operator, values)
            case ast.IfExp(test, body, orelse):
                if len({fact and fact.kind for fact in self.context.facts([self.translate(body), self.translate(orelse)])}) > 1:
                    self.differ("the result has the type of the chosen one there")
                return self.apply_template(CALLS["where", 3], [test, body, orelse])
            case ast.UnaryOp(ast.USub(), ast.Constant() as number):
                return f"¯{self.translate(number)}"
            case ast.UnaryOp(ast.USub(), value):
                return self.apply_prefix(MONADIC_FUNCTIONS["negative"], value)
            case ast.UnaryOp(ast.Not() | ast.Invert() as operator, value):
                return self.apply_prefix(_NOT if isinstance(operator, ast.Invert) else _LOGICAL_NOT, value)
            case ast.List(items):
                return self.list_of(items)
            case ast.Tuple([_, *_] as items):
                return self.strand(items) or ",".join(map(self.operand, items))
            case ast.Call():
                return self.call(node)
            case ast.Attribute(ast.Name(package), word) if package in PACKAGES:
                return self.require_text(CONSTANTS.get(word))
            case ast.Attribute(value, ("T" | "shape" | "size" | "ndim") as word):
                return {"size": "×/⍴"}.get(word, MONADIC_FUNCTIONS[word]) + self.operand(value)
            case ast.Subscript(value, index):
                return self.subscript(value, index)
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                written = self.segment(node).replace("_", "").replace("e-", "e¯").replace("E-", "e¯")
                return str(number) if written[:2].lower() in ("0x", "0b", "0o") else written
            case ast.Name("end"):
                raise Untranslatable  # Julia's last index, which counts from 1
            case ast.Constant(str()) | ast.Name():
                return CONSTANTS[self.segment(node)] if self.segment(node) in ("True", "False") else self.segment(node)
            case ast.Constant(bool() as truth):
                return str(int(truth))
            case _:
                raise Untranslatable

    def binary_operation(self, left: ast.expr, operator: ast.operator | ast.cmpop, right: ast.expr) -> str:
        text = CALLS[self.require_text(_OPERATORS.get(type(operator))), 2]
        return self.stretched(text, left, right) or self.apply_template(text, [left, right])

    def stretched(self, text: str, left: ast.expr, right: ast.expr) -> str | None:
        """A function of two arrays whose ranks differ, or of which one has an axis of length 1 that NumPy stretches; None for
        others.

        A column agrees with the leading axes as it is: `A / A.sum(axis=1, keepdims=True)` is `A÷+/A`.  A row is used with every
        cell of its rank: `A - A.mean(axis=0)` is `A -⍤1 ⊢ (+⌿÷≢)A`."""
        if not isinstance(text, RhoSpelling) or "fits" not in text.domain.split():
            return None  # no elementwise function
        axes = [self.stretched_axis(node) for node in (left, right)]
        nodes = [node if axis is None else axis.of for node, axis in zip((left, right), axes, strict=True)]
        operands = list(map(self.operand, nodes))
        facts = self.context.facts(operands)
        ranks = [-1 if fact is None else fact.rank for fact in facts]
        longer, shorter = (0, 1) if ranks[0] > ranks[1] else (1, 0)
        axis = axes[shorter]
        if axes[longer] is not None or (axis is None and min(ranks) < 1) or -1 in ranks or ranks[0] == ranks[1]:
            return None
        if axis is not None and ranks[longer] != ranks[shorter] + 1:
            return None
        spelling = self.choose_spelling(without_ranks(text), facts)
        if axis is None or not axis.is_last:
            infix = re.fullmatch(r"\{([01])\} ?([^\s\w{}()]|⎕\w+) ?\{([01])\}", spelling)
            if infix is None:
                raise Untranslatable
            first, second = int(infix[1]), int(infix[3])
            written = f"{operands[first]} {infix[2]}⍤{ranks[shorter]} ⊢ {self.translate(nodes[second])}"
        else:
            operands[1] = self.translate(nodes[1]) if spelling.endswith("{1}") and spelling.count("{1}") == 1 else operands[1]
            written = spelling.format(*operands)
        return self.with_foreign_kind(spelling, written, facts, "")

    def stretched_axis(self, node: ast.expr) -> StretchedAxis | None:
        """The axis of length 1 of a reduction with `keepdims`, or of `v[:, None]` or `v[None, :]`; None for other nodes."""
        match node:
            case ast.Subscript(value, ast.Tuple([ast.Slice(None, None, None), one])) if _is_new_axis(one):
                return StretchedAxis(value, True) if self.rank(value) == 1 else None
            case ast.Subscript(value, ast.Tuple([one, ast.Slice(None, None, None)])) if _is_new_axis(one):
                return StretchedAxis(value, False) if self.rank(value) == 1 else None
            case ast.Call(function, arguments, keywords) if any(keyword.arg == "keepdims" for keyword in keywords):
                named = {keyword.arg: keyword.value for keyword in keywords}
                keepdims, axis = named.pop("keepdims"), named.get("axis")
                reduced = ast.Call(function, arguments, [keyword for keyword in keywords if keyword.arg != "keepdims"])
                ast.copy_location(reduced, node)
                package = isinstance(function, ast.Attribute) and not is_package(function.value)
                array = function.value if package and isinstance(function, ast.Attribute) else arguments[0] if arguments else None
                if array is None or axis is None or not (isinstance(keepdims, ast.Constant) and keepdims.value is True):
                    return None
                rank, position = self.rank(array), self.translate(axis)
                is_last = position == "¯1" or position == f"{(rank or 0) - 1}"
                return StretchedAxis(reduced, is_last) if is_last or position == "0" else None
        return None

    def boolean_operation(self, operator: ast.boolop, values: Sequence[ast.expr]) -> str:
        """`and` or `or` of several values."""
        text = CALLS[_OPERATORS[type(operator)], 2]
        *first, end = values
        for value in first:
            self.choose_spelling(text, self.context.facts([self.operand(value), self.operand(end)]))
        return "".join(f"{self.operand(value)}{text[3]}" for value in first) + self.translate(end)

    def apply_template(self, text: str, nodes: Sequence[ast.expr], gives: str = "") -> str:
        """A function of several arguments, by its template such as `{0}⍴{1}`."""
        operands = list(map(self.operand, nodes))
        facts = self.context.facts(operands)
        spelling = self.choose_spelling(text, facts)
        last = re.search(r"\{(\d)\}$", spelling)
        if last is not None and spelling.count(last[0]) == 1:
            operands[int(last[1])] = self.translate(nodes[int(last[1])])
        return self.with_foreign_kind(spelling, spelling.format(*operands), facts, gives)

    def apply_prefix(self, text: str, node: ast.expr, gives: str = "") -> str:
        """A function of one argument, written left of it."""
        operand = self.operand(node)
        facts = self.context.facts([operand])
        spelling = self.choose_spelling(text, facts)
        written = self.translate(node) if text in ("-", "~") else operand
        if spelling == "-" and written[:1].isdigit():
            written = f"({written})"  # `-3*x` may be read as a product by -3
        return self.with_foreign_kind(spelling, spelling + written, facts, gives)

    def choose_spelling(self, text: str, facts: Sequence[ArgumentFact | None]) -> str:
        """The spelling of a function that is equivalent for such arguments.

        Without one, the reason becomes a difference and `Untranslatable` is raised, or, if the context qualifies, a remark."""
        spelling = spelling_for(text, facts)
        if spelling is None:
            assert isinstance(text, RhoSpelling)
            domain = describe_domain(" | ".join(item.domain for item in (text, *text.alternatives)))
            words = f"it means the same only for {domain}" if domain else "languages differ"
            self.differ(words + (f": {text.differs}" if text.differs else ""))
            return text
        return spelling

    def differ(self, words: str) -> None:
        """Record a difference between the languages: a remark on the translation if the context qualifies, else the reason why
        there is none."""
        if not self.context.qualifies:
            self.context.differences[words] = None
            raise Untranslatable
        self.context.remarks[words] = None

    def with_foreign_kind(self, text: str, written: str, facts: Sequence[ArgumentFact | None], gives: str) -> str:
        """`written`, converted where its element kind is not that of the other language's result.

        `gives`: the package `math` or `scipy`, or the letter of a kind, where that decides the kind of the result."""
        if not isinstance(text, RhoSpelling) or not text.result_kind:
            return written
        foreign_kind = kinds_of(text.result_kind, facts)
        match gives:
            case "math" if text.result_kind not in "bi":
                foreign_kind = "i" if re.search("[⌊⌈]", text) else "f"
            case "scipy" if foreign_kind == "i":
                foreign_kind = "f"
            case "i":
                foreign_kind = "i"
        (fact,) = self.context.facts([written])
        if fact is not None and foreign_kind is not None and (convert := conversion_to(foreign_kind, fact.kind)) is not None:
            return convert + written
        if foreign_kind is None and text.result_kind == "+":
            return written  # sums and products have the same type here
        if foreign_kind is None:
            self.differ("elsewhere the result has the type of its arguments")
        else:
            actual = f", here of {KINDS[fact.kind]}" if fact is not None else ""
            self.differ(f"elsewhere the result is of {KINDS[foreign_kind]}{actual}")
        return written

    def operand(self, node: ast.expr) -> str:
        """A node as an argument of a glyph: in parentheses unless it is one item."""
        written = self.translate(node)
        item = _ITEM.fullmatch(written) or (isinstance(node, ast.Subscript | ast.Call) and written == self.segment(node))
        return written if item or re.fullmatch(r"\w+\[[^\[\]]*\]", written) else f"({written})"

    def strand(self, items: Sequence[ast.expr]) -> str | None:
        """A strand of numbers; None if some item is not a number."""
        written = [self.translate(item) for item in items]
        return " ".join(written) if all(re.fullmatch(r"¯?[\d.]+(?:e¯?\d+)?", item) for item in written) else None

    def list_of(self, items: Sequence[ast.expr]) -> str:
        """A list: a strand of numbers, or cells in brackets."""
        if not items:
            return "⍬"
        return self.strand(items) or "[" + " ⋄ ".join(map(self.translate, items)) + "]"

    def subscript(self, value: ast.expr, index: ast.expr) -> str:
        """`value[index]`."""
        if isinstance(value, ast.Call) and _gives_positions(value):
            rank = self.rank(value.args[0])
            axis = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else -1
            if rank is None or axis not in range(rank):
                raise Untranslatable
            positions = self.positions(value.args[0])
            return positions if rank == 1 else f"({positions})[;{axis}]"
        array = self.operand(value)
        match index:
            case ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))):
                return f"⊖{array}"
            case ast.Slice(first, last, None):
                return self.slice_of(value, first, last)
            case ast.UnaryOp(ast.USub(), ast.Constant(1)):
                return f"0⌷⊖{array}"
            case ast.Compare() | ast.BoolOp() | ast.BinOp(_, ast.BitAnd() | ast.BitOr(), _) | ast.UnaryOp(ast.Invert(), _):
                mask = self.translate(index)
                flat = _is_elementwise(index, value) and self.rank(value) != 1
                return f"(,{mask})⌿,{array}" if flat else f"({mask})⌿{array}"
            case ast.Tuple(axes) if ast.List in map(type, axes) and sum(isinstance(one, ast.List | ast.Name) for one in axes) > 1:
                raise Untranslatable  # NumPy pairs the positions of several index arrays
            case ast.Tuple(axes):
                return f"{array}[{';'.join(self.axis_index(item, f'(⍴{array})[{axis}]') for axis, item in enumerate(axes))}]"
        return f"{array}[{self.axis_index(index, f'(≢{array})')}]"

    def positions(self, node: ast.expr) -> str:
        """The positions at which an array is not 0."""
        (fact,) = self.context.facts([self.operand(node)])
        return f"⍸{'' if fact is not None and fact.kind == 'b' else '0≠'}{self.translate(node)}"

    def rank(self, node: ast.expr) -> int | None:
        """The rank of a value; None if it is unknown."""
        (fact,) = self.context.facts([self.operand(node)])
        return None if fact is None else fact.rank

    def slice_of(self, value: ast.expr, first: ast.expr | None, last: ast.expr | None) -> str:
        """`value[first:last]`, which is shorter where the array is."""
        array, bounds = self.operand(value), ["" if bound is None else self.operand(bound) for bound in (first, last)]
        fact, *limits = self.context.facts([array, *[bound or "0" for bound in bounds]])
        length = fact.lengths[0] if fact is not None and fact.lengths else None
        begin, stop = "" if bounds[0] == "0" else bounds[0], bounds[1]
        for bound, limit in zip((begin, stop), limits, strict=True):
            if bound and not bound.startswith("¯"):
                self.choose_spelling(_COUNT, [limit])
        if begin and stop and "¯" not in begin + stop:
            return f"{array}[{arange(begin, stop)}]"
        if begin.startswith("¯") and not stop:
            return f"{self.at_most(begin, length, array)}↑{array}"
        if begin.startswith("¯"):
            raise Untranslatable
        part = f"{begin}↓{array}" if begin else array
        if not stop:
            return part
        return f"{stop}↓{part}" if stop.startswith("¯") else f"{self.at_most(stop, length, array)}↑{part}"

    def at_most(self, count: str, length: int | None, array: str) -> str:
        """A count for `↑` that is at most the length of the array, since `↑` would pad with fills."""
        number = count.removeprefix("¯")
        if number.isdigit() and length is not None and int(number) <= length:
            return count
        return f"(-{number}⌊≢{array})" if count.startswith("¯") else f"({count}⌊≢{array})"

    def axis_index(self, index: ast.expr, length: str) -> str:
        """The index of one axis of that length; empty for the whole axis."""
        match index:
            case ast.Slice(None, None, None):
                return ""
            case ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))):
                return f"⌽⍳{length}"
            case ast.Slice(first, last, step):
                step_text = "1" if step is None else self.operand(step)
                ends = ((first, "0"), (last, length))
                bounds = [default if end is None else self.axis_index(end, length) for end, default in ends]
                start, stop = (item if item == length or _ITEM.fullmatch(item) else f"({item})" for item in bounds)
                return arange(start, stop, self.require_text(None if step_text.startswith("¯") else step_text))
            case ast.Compare() | ast.BoolOp():
                return f"⍸{self.translate(index)}"
            case ast.UnaryOp(ast.USub(), ast.Constant() as back):
                return f"{length}-{self.translate(back)}"
            case ast.Constant(value) if value is None or value is ...:
                raise Untranslatable
            case ast.List([one]):  # the axis stays
                return f",{self.translate(one)}"
        return self.translate(index)

    def require_text(self, written: str | None) -> str:
        if written is None:
            raise Untranslatable
        return written

    def segment(self, node: ast.expr) -> str:
        return self.require_text(ast.get_source_segment(self.text, node))

    # -- calls

    def call(self, node: ast.Call) -> str:
        """A call of a function of the other language, or of a function of the program."""
        match node.func:
            case ast.Name(word) if word in _TRANSLATED:
                arguments, bare = list(node.args), True
            case ast.Attribute(value, word) if is_package(value):
                self.require_text(word if word in _TRANSLATED else None)
                arguments, bare = list(node.args), False
            case ast.Attribute(value, "astype") if len(node.args) == 1:
                return self.conversion(self.type_name(node.args[0]), value)
            case ast.Attribute(value, word) if word in _TRANSLATED:
                arguments, bare = [value, *node.args], False
            case ast.Name() if not node.keywords:
                return f"{self.segment(node.func)}({', '.join(map(self.translate, node.args))})"
            case _:
                raise Untranslatable
        named = {keyword.arg or "": keyword.value for keyword in node.keywords if keyword.arg not in _IGNORED_KEYWORDS}
        if word == "sorted" and isinstance(reverse := named.get("reverse"), ast.Constant) and reverse.value is True:
            return f"⌽{self.apply_to_items(word, arguments, bare)}" if len(named) == 1 else self.require_text(None)
        if bare and word in BARE_FUNCTIONS and not (word in ("zeros", "ones") and len(arguments) > 1):
            self.choose_spelling(BARE_FUNCTIONS[word], self.context.facts(list(map(self.operand, arguments))))
        if bare and word in ("max", "min", "sorted") and len(arguments) == 1:
            facts = self.context.facts([self.operand(arguments[0])])
            if not holds("biu | sure", facts):
                self.context.remarks[f"where an item is NaN, `{word}` has other results in Python and MATLAB"] = None
        if not bare and word == "append" and not is_package(node.func.value if isinstance(node.func, ast.Attribute) else node):
            self.differ("a list of Python is changed by it, which `x ,← y` does here")
        if word in _DEVIATIONS and (bare or self.segment(node.func).startswith("torch.")):
            raise Untranslatable  # Julia, MATLAB, R and torch divide by one less
        if word == "round" and bare and len(arguments) > 1:
            raise Untranslatable  # Python rounds the decimal number, not the product
        if word == "log" and len(arguments) > 1 and not self.segment(node.func).startswith("math."):
            raise Untranslatable  # R has the base on the right, Julia on the left
        axis, kind = named.pop("axis", named.pop("dim", None)), named.pop("dtype", None)
        extra = [named.pop(item) for item in ("ddof", "weights") if item in named and axis is None]
        if named or not arguments:
            raise Untranslatable
        if axis is None and not extra and not bare and len(arguments) == 2 and (word in ALONG_FIRST_AXIS or word in ROW_BY_ROW):
            axis = arguments.pop()
        if axis is not None and not (isinstance(axis, ast.Constant) and axis.value is None):
            written = self.along_axis(word, arguments, self.translate(axis))
        elif word == "int" and isinstance(arguments[0], ast.Constant) and isinstance(arguments[0].value, str):
            raise Untranslatable
        else:
            package = self.segment(node.func).partition(".")[0]
            kind_of_bare = BARE_FUNCTIONS[word].result_kind if bare and word in BARE_FUNCTIONS else ""
            gives = package if package in ("math", "scipy") else kind_of_bare
            written = self.apply_to_items(word, [*arguments, *extra], bare, gives)
        return written if kind is None else f"{self.type_name(kind)} {written}"

    def along_axis(self, word: str, arguments: Sequence[ast.expr], axis: str) -> str:
        """A function along an axis: 0, the last one (¯1), or 1 of a matrix."""
        if word in JOINING_FUNCTIONS and axis in ("0", "1", "¯1"):
            return self.join_arrays(arguments, _JOINED_ALONG[axis])
        if word == "stack" and axis == "0":
            return self.apply_to_items(word, arguments, False)
        if word == "roll" and len(arguments) == 2 and axis in ("0", "1", "¯1"):
            return f"(-{self.operand(arguments[1])}){'⊖' if axis == '0' else '⌽'}{self.operand(arguments[0])}"
        if len(arguments) != 1 or word not in MONADIC_FUNCTIONS:
            raise Untranslatable
        operand = self.operand(arguments[0])
        facts = self.context.facts([operand])
        if facts[0] is not None and axis == f"{facts[0].rank - 1}" and axis not in ("0", "1"):
            axis = "¯1"
        self.choose_spelling(_AXIS_DOMAINS[axis == "1"] if axis != "¯1" else _AXIS_DOMAINS[0], facts)
        self.choose_spelling(without_ranks(MONADIC_FUNCTIONS[word]), facts)
        return self.with_foreign_kind(MONADIC_FUNCTIONS[word], self.reduction(word, operand, axis), facts, "")

    def reduction(self, word: str, operand: str, axis: str) -> str:
        """A reduction, or another function, along an axis."""
        if axis == "0" and word in ALONG_FIRST_AXIS:
            text = ALONG_FIRST_AXIS[word]
            return f"{text} {operand}" if text[-1].isalpha() else text + operand
        if axis == "0" and word in ROW_BY_ROW:
            return f"⍉({ROW_BY_ROW[word]}⍤1) ⍉{operand}"
        function = ROW_BY_ROW.get(word) or ALONG_FIRST_AXIS.get(word)
        if function is None or axis not in ("1", "¯1"):
            raise Untranslatable
        plain = function.replace("⌿", "/").replace("⍀", "\\").replace("⊖", "⌽")
        is_plain = word not in ROW_BY_ROW and re.fullmatch(r"[^\w{(]+|2-⍨/|.*≠", plain)
        return plain + operand if is_plain else f"({function}⍤1) {operand}"

    def conversion(self, kind: str, value: ast.expr) -> str:
        """`astype`."""
        operand = self.operand(value)
        (fact,) = self.context.facts([operand])
        if kind.startswith(("i", "u")) and not (fact is not None and fact.kind in "bi"):
            return self.apply_prefix(_TO_WHOLE_NUMBER if kind == "i64" else self.require_text(None), value)
        if kind == "bool":
            return f"0≠{operand}"
        return f"{kind} {operand}"

    def apply_to_items(self, word: str, arguments: Sequence[ast.expr], bare: bool, gives: str = "") -> str:
        """A function applied without an axis."""
        if word in JOINING_FUNCTIONS:
            return self.join_arrays(arguments, JOINING_FUNCTIONS[word])
        if word in ("stack", "column_stack") and isinstance(arguments[0], ast.List | ast.Tuple) and len(arguments) == 1:
            return ("⍉" if word == "column_stack" else "") + "[" + " ⋄ ".join(map(self.translate, arguments[0].elts)) + "]"
        if word in ("reshape", "zeros", "ones"):
            return self.array_of_shape(word, arguments)
        if word in ("arange", "range") and len(arguments) > 1:
            return arange(*map(self.operand, arguments))
        template = (BUILTINS.get((word, len(arguments))) if bare else None) or CALLS.get((word, len(arguments)))
        if word in ("where", "nonzero") and len(arguments) == 1:
            (fact,) = self.context.facts([self.operand(arguments[0])])
            self.choose_spelling(MONADIC_FUNCTIONS[word], [fact])
            self.context.remarks["elsewhere the positions are in a tuple"] = None
            return self.positions(arguments[0])
        if template is not None:
            return self.apply_template(template, arguments, gives)
        if len(arguments) != 1 or word not in MONADIC_FUNCTIONS:
            raise Untranslatable
        text = MONADIC_FUNCTIONS[word]
        return self.apply_prefix(text, arguments[0], gives) if text else self.translate(arguments[0])

    def join_arrays(self, arguments: Sequence[ast.expr], glyph: str) -> str:
        """The arrays of a list, or the arguments, joined."""
        arrays = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.List | ast.Tuple) else arguments
        facts = self.context.facts(list(map(self.operand, arrays)))
        for fact in facts:
            glyph = self.choose_spelling(glyph, [fact, facts[0]])
        return glyph.join([*map(self.operand, arrays[:-1]), self.translate(arrays[-1])])

    def array_of_shape(self, word: str, arguments: Sequence[ast.expr]) -> str:
        """`reshape`, `zeros` or `ones`, whose shape is one argument or several."""
        *array, lengths = (arguments[0], list(arguments[1:])) if word == "reshape" else (list(arguments),)
        if len(lengths) == 1 and isinstance(lengths[0], ast.Tuple | ast.List):
            lengths = list(lengths[0].elts)
        items = self.operand(array[0]) if array else {"zeros": "0.0", "ones": "1.0"}[word]
        written = [self.operand(item) for item in lengths]
        if written == ["¯1"]:
            return f",{items}"
        if not written:
            raise Untranslatable
        if word == "reshape":
            written = self.lengths_of_as_many(items, written)
        digits = all(item.isdigit() for item in written)
        shape = " ".join(written) if digits else written[0] if len(written) == 1 else f"({','.join(written)})"
        return f"{shape}⍴{items}"

    def lengths_of_as_many(self, items: str, written: Sequence[str]) -> list[str]:
        """The lengths of a reshape that keeps the number of items.  NumPy refuses another number; `⍴` would repeat or drop
        items."""
        array, *facts = self.context.facts([items, *written])
        numbers = [number for fact in facts for number in ((fact and fact.items) or (None,)) if number != -1]
        known = [] if array is None else [length for length in array.lengths if length is not None]
        product = prod(number for number in numbers if isinstance(number, int))
        is_known = array is not None and len(known) == array.rank
        is_whole = all(isinstance(number, int) for number in numbers) and product > 0
        if "¯1" not in written:
            if not (is_known and is_whole and prod(known) == product):
                self.differ("another number of items is an error there; `⍴` repeats or drops items")
            return list(written)
        if not is_whole or array is None or prod(known) % product:
            self.differ("a number of items without such an axis is an error there; `⍴` drops items")
        rest = "×".join(item for item in written if item != "¯1")
        count = f"(×/⍴{items})" if product == 1 else f"(⌊(×/⍴{items})÷{rest})"
        count = str(prod(known) // product) if is_known and is_whole else count
        return [count if item == "¯1" else item for item in written]

    def type_name(self, node: ast.expr) -> str:
        """The Rho name of an element type."""
        return self.require_text(KINDS_OF_WORDS.get(re.split(r"\W", self.segment(node).strip("'\""))[-1]))



def arange(first: str, last: str, step: str = "1") -> str:
    """The Rho text of `arange(first, last, step)`."""
    try:
        start, stop, stride = (float(item.replace("¯", "-")) for item in (first, last, step))
        count = str(max(0, ceil((stop - start) / stride)))
    except (ValueError, ZeroDivisionError):
        span = last if first == "0" else f"{last}-{first}"
        count = span if step == "1" else f"⌈{span if first == '0' else f'({span})'}÷{step}"
    items = f"⍳{count}" if step == "1" else f"{step}×⍳{count}"
    return items if first == "0" else f"{first}+{items}"


def _is_new_axis(node: ast.expr) -> bool:
    """Is it `None` or `np.newaxis`?"""
    return (isinstance(node, ast.Constant) and node.value is None) or (
        isinstance(node, ast.Attribute) and node.attr == "newaxis" and is_package(node.value)
    )


def _gives_positions(node: ast.expr) -> bool:
    """Is it a call of `where` or `nonzero` of one argument, which gives the positions on each axis?"""
    return (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and (isinstance(node.func, ast.Attribute) and node.func.attr in ("where", "nonzero") and is_package(node.func.value))
    )


def _is_elementwise(mask: ast.expr, array: ast.expr) -> bool:
    """Is the mask computed elementwise from the array and numbers alone, so that it has the array's shape?"""
    names = [item for item in ast.walk(mask) if isinstance(item, ast.Name)]
    return {*map(ast.dump, names)} == {ast.dump(array)} and all(isinstance(item, _ELEMENTWISE) for item in ast.walk(mask))


def is_package(node: ast.expr) -> bool:
    """Is it a package such as `np` or `np.linalg`?"""
    while isinstance(node, ast.Attribute) and node.attr in _SUBPACKAGES:
        node = node.value
    return isinstance(node, ast.Name) and node.id in PACKAGES


_SUBPACKAGES: Final = frozenset({"linalg", "fft", "special", "numpy", "nn", "functional"})

# ---------------------------------------------------------------------------------------------------- calls

_IGNORED_KEYWORDS: Final = frozenset({"kind", "copy", "stable"})


def is_computed(text: str) -> bool:
    """Is it an expression of Python with an operator, a subscript or a call?"""
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(item, ast.BinOp | ast.Compare | ast.BoolOp | ast.Subscript | ast.Call) for item in ast.walk(node))


def _as_python(text: str) -> str:
    """The text with C's `&&`, `||` and `!` replaced by Python's words."""
    return re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()


def rho_of(text: str, context: TranslationContext) -> str | None:
    """The translation of a Python expression: the text itself if it is not one, None if Rho has no equivalent spelling."""
    if not text.isascii():
        return text  # glyphs: it is Rho already
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    try:
        written = ExpressionTranslator(_as_python(text), context).translate(node)
    except (Untranslatable, RecursionError):
        return None
    return text.strip() if written == text.replace(" ", "") else written


def reduction_along(word: str, axis: str) -> str | None:
    """The reduction of some array `…` along an axis, as Python writes it; None if Rho has no spelling."""
    try:
        return ExpressionTranslator("", TranslationContext()).reduction(word, _UNKNOWN, axis.replace("-", "¯"))
    except Untranslatable:
        return None


_UNKNOWN: Final = "…"

_AXIS_DOMAINS: Final = (RhoSpelling("", "123"), RhoSpelling("", "2", "", "axis 1 is not the last one of other ranks"))
_TO_WHOLE_NUMBER: Final = RhoSpelling(MONADIC_FUNCTIONS["int"], "", "i")
_JOINED_ALONG: Final = {"0": RhoSpelling("⍪", "123 fits"), "1": RhoSpelling(",", "2 fits"), "¯1": RhoSpelling(",", "123 fits")}

_DEVIATIONS: Final = frozenset({"std", "var"})

_TRANSLATED: Final = frozenset({
    *MONADIC_FUNCTIONS, *JOINING_FUNCTIONS, *ROW_BY_ROW, "stack", "column_stack", *(word for word, _ in (*CALLS, *BUILTINS)),
})  # fmt: skip
