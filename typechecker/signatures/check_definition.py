"""Checks the definition of an annotated function once, for all sizes that its signature allows.

The parameters have rigid size variables, about which only the `where` is known.  A fact that cannot be proved for them is an
error here, with the clause that would state it, and calls do not check it again.  A shape variable is sampled with one, two and
no axes, an element variable with the kinds of its class; every call is checked again in those respects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Verdict
from ...lang.support.records import replace
from ...lang.syntax.source import LIBRARY_PREFIX
from ...lang.tree import program
from ..core.cloning import shared
from ..core.operations import Block, CoreCall, CorePrint, Gather, KeyReduce, Op, Update, all_ops, results_of
from ..elaborate import declarations, type_expressions
from ..elaborate.context import (
    Bindings,
    BrokenFunction,
    CheckOutcome,
    Context,
    DefinitionKey,
    DependencyLevel,
    ElaboratedBody,
    Entry,
    FileContext,
    FunctionValue,
    NamingMode,
    OpaqueFunction,
    OperatorValue,
    SignatureInstance,
    SignedFunction,
    absolute,
    relative,
)
from ..elaborate.names import derive
from ..elements import Element, Kind
from ..proof.constraints import Constraints, variables_of
from ..proof.obligations import Proof
from ..proof.report_unproved import ClauseSite, clause_site
from ..sizes.polynomials import SizeVariable
from ..values.facts import Value, is_poisoned, leaves
from .calls import any_values, call
from .unify import (
    element_classes,
    parameters,
    shape_variables,
    solved,
    well_formed,
)

_CLASS_KINDS = {
    "num": (Kind.F64, Kind.I64, Kind.C128),
    "real": (Kind.F64, Kind.I64),
    "int": (Kind.I64,),
    "ord": (Kind.F64, Kind.I64, Kind.CHAR),
}
_ANY_KIND = (Kind.F64, Kind.CHAR, Kind.BOOL)
_SHAPE_RANKS = (1, 2, 0)


def define(ctx: Context, signature: program.Signature, body: FunctionValue, file: FileContext) -> FunctionValue:
    """Check an annotated function and return it; a broken one after an error."""
    signature, definitions = solved(signature, file.params)
    function = SignedFunction(signature.span, signature.target.name, signature, body, file, dict(file.params), definitions)
    if function.name in file.unreached and not isinstance(body, BrokenFunction):
        return function  # the library's tests check it; calls prove the facts they need
    outcome = None if isinstance(body, BrokenFunction) else _outcome(ctx, function)
    if outcome is None:
        return BrokenFunction(signature.span)
    for diagnostic in outcome.diagnostics:
        ctx.builder.report(diagnostic)
    if not outcome.accepted:
        return BrokenFunction(signature.span)
    return replace(function, proof=outcome.proof)


def define_operator(ctx: Context, signature: program.Signature, operator: OperatorValue, file: FileContext) -> Entry:
    """Check an operator with a signature on operands of which only the signatures are known; returns a broken one after an
    error."""
    if len(signature.operands) != 1 + operator.node.dyadic:
        count = "one operand" if not operator.node.dyadic else "two operands"
        message = f"`{signature.target.name}` takes {count}: its signature begins with `({'τ → τ'}) →` for each"
        ctx.error(Code.E011, message, signature.span)
        return BrokenFunction(signature.span)
    signature, definitions = solved(signature, file.params)
    nothing = BrokenFunction(signature.span)
    signed = SignedFunction(signature.span, signature.target.name, signature, nothing, file, dict(file.params), definitions)
    operator = replace(operator, signed=signed)
    unknown = [OpaqueFunction(operand.span) for operand in signature.operands]
    function = derive(ctx, operator, unknown, signature.span, signed.name)
    outcome = _outcome(ctx, function) if isinstance(function, SignedFunction) else None
    for diagnostic in () if outcome is None else outcome.diagnostics:
        ctx.builder.report(diagnostic)
    if outcome is None or not outcome.accepted:
        return BrokenFunction(signature.span)
    return replace(operator, signed=replace(signed, proof=outcome.proof))


def _outcome(ctx: Context, function: SignedFunction) -> CheckOutcome | None:
    """The outcome of checking the definition, from the cache if nothing that it depends on has changed; None if the signature is
    not well-formed."""
    check_cache, definition = ctx.check_cache, function.file.definition_keys.current
    if definition is None or definition.dependency is DependencyLevel.SIZES:
        return _check_samples(ctx, function)
    key = (definition.key, _params(ctx, function) if definition.dependency is DependencyLevel.PARAMS else ())
    known = check_cache.outcomes.get(key)
    if known is not None:
        ctx.nodes += known.nodes
        return replace(known, diagnostics=tuple(absolute(known.diagnostics, definition)))
    before = ctx.nodes
    outcome = _check_samples(ctx, function)
    if outcome is None:
        return None
    diagnostics = (
        () if not outcome.diagnostics else relative(outcome.diagnostics, definition) if _is_final(outcome, definition) else None
    )
    if diagnostics is not None:
        check_cache.outcomes.put(key, replace(outcome, diagnostics=diagnostics, nodes=ctx.nodes - before))
    return outcome


def _is_final(outcome: CheckOutcome, definition: DefinitionKey) -> bool:
    """Would the same errors be reported for the same definition again?  Not if other statements' values, or a solver failure,
    matter."""
    return definition.dependency is DependencyLevel.NOTHING and all(d.verdict is not Verdict.UNKNOWN for d in outcome.diagnostics)


def _params(ctx: Context, function: SignedFunction) -> tuple[object, ...]:
    """The facts about params, on which a definition that uses params depends."""
    params = tuple([(name, v.id) for name, v in function.file.params.items()])
    facts = [(f.relation, f.left.key, f.right.key) for f in ctx.builder.constraints.premises]
    return (params, *facts)


def _check_samples(ctx: Context, function: SignedFunction) -> CheckOutcome | None:
    """Check the body for each sample until one fails."""
    if not well_formed(ctx, function.signature, function.file.params, function.definitions):
        return None
    proofs: set[Proof] = {Proof.NONE} if shape_variables(function.signature) else {Proof.RULES}
    reported: list[Diagnostic] = []
    for sample in samples(function.signature):
        diagnostics, proof, body = _check(ctx, function, sample)
        function.bodies[sample] = body
        proofs.add(proof)
        reported += diagnostics
        if any(d.is_error for d in diagnostics):
            return CheckOutcome(tuple(reported), accepted=False, proof=Proof.NONE)
    weakest = next(proof for proof in (Proof.NONE, Proof.SOLVER, Proof.RULES) if proof in proofs)
    return CheckOutcome(tuple(reported), accepted=True, proof=weakest)


def samples(signature: program.Signature) -> Iterator[SignatureInstance]:
    """Samples of a signature in which every number of axes and every kind occurs once; both vary together."""
    shapes, classes = sorted(shape_variables(signature)), sorted(element_classes(signature).items())
    ranks = _SHAPE_RANKS if shapes else (1,)
    kinds = {name: _ANY_KIND if class_ is None else _CLASS_KINDS[class_] for name, class_ in classes}
    most = max(map(len, kinds.values()), default=1)
    for at in range(max(len(ranks), most)):
        axes = tuple([(name, ranks[at % len(ranks)]) for name in shapes])
        yield axes, tuple([(name, Element(of_class[min(at % most, len(of_class) - 1)])) for name, of_class in kinds.items()])


def elaborated_body(ctx: Context, function: SignedFunction, instance: SignatureInstance) -> ElaboratedBody | None:
    """The body for these ranks and kinds, elaborated without the premises of a call; None if it cannot be repeated."""
    builder = ctx.builder
    before, builder.constraints = builder.constraints, Constraints()
    try:
        with ctx.speculate(NamingMode.CONTINUE):
            builder.sink.calls.clear()  # its calls are repeated elsewhere
            return _check_speculatively(ctx, function, instance)[2]
    finally:
        builder.constraints = before


_Checked: TypeAlias = "tuple[list[Diagnostic], Proof, ElaboratedBody | None]"
"""The errors, how the facts were proved (NONE if loading has to check a fact about params), and the body if it can be
repeated."""


def _check(ctx: Context, function: SignedFunction, sample: SignatureInstance) -> _Checked:
    definition = function.file.definition_keys.current
    captures = definition is None or definition.dependency is not DependencyLevel.NOTHING
    with ctx.speculate(NamingMode.CONTINUE if captures else NamingMode.FRESH):
        return _check_speculatively(ctx, function, sample)


def _check_speculatively(ctx: Context, function: SignedFunction, sample: SignatureInstance) -> _Checked:
    builder, signature = ctx.builder, function.signature
    constraints = builder.constraints
    guards, solved, usages_before = len(constraints.guards), len(constraints.solver_assumptions), len(constraints.declared_usages)
    bindings = function.unbound()
    builder.open_block((), signature.span)
    classes = element_classes(signature)
    before = len(constraints.premises)
    args = symbolic_arguments(ctx, signature, bindings, sample)
    stated = constraints.premises[before:]
    known = frozenset(v for size in bindings.sizes.values() for v in size.variables())
    builder.constraints.clause_site = _site(signature, known | frozenset(bindings.params.values()))
    for fact, _ in type_expressions.facts(ctx, signature.where, bindings):
        if fact not in stated:
            builder.constraints.premises.append(fact)
    block: Block | None = None
    if not any(is_poisoned(x) for x in args):
        emitted = builder.position
        result = call(ctx, function, args[0] if len(args) == 2 else None, args[-1], signature.span)
        block = None if is_poisoned(result) else builder.close_block(leaves(result))
        if declarations.states_quantities(signature) and block is not None:
            sizes = frozenset(bindings.sizes) | frozenset(bindings.params)
            builder.sink.diagnostics += declarations.usage_violations(
                ctx,
                signature,
                args,
                block,
                bindings,
                sizes,
                constraints.declared_usages[usages_before:-1],  # the last one is the call being checked
            )
    diagnostics = [d for d in builder.sink.diagnostics if d.is_error or d.code == Code.W310]
    if len(constraints.guards) > guards:
        proof = Proof.NONE
    else:
        proof = Proof.SOLVER if len(constraints.solver_assumptions) > solved else Proof.RULES
    body: ElaboratedBody | None = None
    warnings = builder.sink.diagnostics
    repeats = all(d.code == Code.W310 and not d.span.file.startswith(LIBRARY_PREFIX) for d in warnings)
    if block is not None and proof is Proof.RULES and repeats:
        usages = constraints.declared_usages[usages_before:]
        if declarations.states_quantities(signature):
            usages.pop()
        body = _repeatable(ctx, function.name, bindings, args, block.ops[emitted:], result, usages)
    del constraints.declared_usages[usages_before:]
    return [_of_class(_of_rank(d, sample), signature, classes) for d in diagnostics], proof, body


def _repeatable(
    ctx: Context, name: str, bindings: Bindings, args: Sequence[Value], ops: tuple[Op, ...], result: Value,
    usages: Sequence[CoreCall],
) -> ElaboratedBody | None:  # fmt: skip
    """The body with all that calls need to repeat it; None if it prints, which is an error in some calls."""
    if any(isinstance(op, CorePrint) for op in all_ops(ops)):
        return None
    sizes = {name: only for name, size in bindings.sizes.items() for only in size.variables()}
    shapes = {name: tuple([only for size in shape for only in size.variables()]) for name, shape in bindings.shapes.items()}
    arguments = tuple([x.value for arg in args for x in leaves(arg)])
    values = {*arguments, *[value for op in all_ops(ops) for value in results_of(op)]}
    names = {value: name for value, name in ctx.builder.source_names.names.items() if value in values}
    function = shared(ctx.builder, name, arguments, ops, [x.value for x in leaves(result)], usages)
    known = {*sizes.values(), *[size for shape in shapes.values() for size in shape]}
    needed = tuple([fact for fact in ctx.builder.constraints.open_indices if set[SizeVariable]() < variables_of(fact) <= known])
    checks = bool(needed) or any(isinstance(op, Gather | Update | KeyReduce) and op.checked for op in all_ops(ops))
    return ElaboratedBody(arguments, sizes, shapes, ops, result, names, ctx.mentions, tuple(usages), checks, needed, function)


def symbolic_arguments(
    ctx: Context, signature: program.Signature, bindings: Bindings, sample: SignatureInstance = ((), ())
) -> list[Value]:  # fmt: skip
    """Arguments of the declared types with rigid sizes, which are bound; the facts that can be formed become premises.

    A variable that the sample leaves out is one axis, or of the first kind of its class."""
    elements = dict(sample[1])
    for name, class_ in element_classes(signature).items():
        bindings.elements[name] = elements.get(name) or Element((_ANY_KIND if class_ is None else _CLASS_KINDS[class_])[0])
    ranks = {name: dict(sample[0]).get(name, 1) for name in shape_variables(signature)}
    return any_values(ctx, [p.type for p in parameters(signature)], bindings, signature.where, ranks)


def _site(signature: program.Signature, sizes: frozenset[SizeVariable]) -> ClauseSite:
    return clause_site("the signature", signature.span, signature.where, sizes)


def _of_rank(diagnostic: Diagnostic, sample: SignatureInstance) -> Diagnostic:
    """The diagnostic with a note on the number of axes, if that is not one."""
    axes = next((count for _, count in sample[0]), 1)
    return diagnostic if axes == 1 else replace(
        diagnostic, notes=(*diagnostic.notes, f"a shape variable stands for {axes or 'no'} axes here")
    )


def _of_class(diagnostic: Diagnostic, signature: program.Signature, classes: dict[str, str | None]) -> Diagnostic:
    """The diagnostic with the fix that restricts an element variable to a class, where text caused the error."""
    free = [name for name, class_ in classes.items() if class_ is None]
    if diagnostic.code not in (Code.E300, Code.E301, Code.E302, Code.E303) or not free or diagnostic.fixes:
        return diagnostic
    site = _site(signature, frozenset())
    fix = Fix(f"add `where {free[0]} num` to the signature", (Edit(site.at, f"{site.joint}{free[0]} num"),))
    return replace(diagnostic, notes=(*diagnostic.notes, f"{free[0]} may be any element type, text too"), fixes=(fix,))
