"""Merges modules of the package by a map and rewrites every import: python3.13 merge.py ROOT MAP [--check].

MAP has lines `new.module ← old.module old.module …` (dotted, without `rho`; the first old module leads: its docstring becomes the
new module's).  Text after `#` is a comment.  --check prints cycles, clashes and counts and writes nothing.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field

ROOT = os.path.abspath(sys.argv[1])
CHECK = "--check" in sys.argv
ROOMS = ["lang", "typechecker", "backend", "shell"]

# ------------------------------------------------------------------ scopes


class Scope:
    def __init__(self, kind, parent, node=None):
        self.kind, self.parent, self.node, self.bound, self.globals = kind, parent, node, set(), set()


def scopes_of(tree):
    """(module scope, uses: [(scope, node, name)], parents)."""
    top = Scope("module", None, tree)
    uses = []
    parents = {}
    for p in ast.walk(tree):
        for c in ast.iter_child_nodes(p):
            parents[c] = p

    def bind(scope, name):
        (top if name in scope.globals else scope).bound.add(name)

    def hoist(scope):
        while scope.kind == "comp":
            scope = scope.parent
        return scope

    def args(a, scope, inner):
        for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]:
            inner.bound.add(x.arg)
            if x.annotation:
                visit(x.annotation, scope)
        for d in [*a.defaults, *a.kw_defaults]:
            if d:
                visit(d, scope)

    def visit(n, s):
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bind(s, n.name)
            uses.append((s, n, n.name))
            for d in n.decorator_list:
                visit(d, s)
            inner = Scope("function", s, n)
            args(n.args, s, inner)
            if n.returns:
                visit(n.returns, s)
            for g in ast.walk(n):
                if isinstance(g, ast.Global):
                    inner.globals.update(g.names)
            for b in n.body:
                visit(b, inner)
        elif isinstance(n, ast.Lambda):
            inner = Scope("function", s, n)
            args(n.args, s, inner)
            visit(n.body, inner)
        elif isinstance(n, ast.ClassDef):
            bind(s, n.name)
            uses.append((s, n, n.name))
            for d in [*n.decorator_list, *n.bases, *[k.value for k in n.keywords]]:
                visit(d, s)
            inner = Scope("class", s, n)
            for b in n.body:
                visit(b, inner)
        elif isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            visit(n.generators[0].iter, s)
            inner = Scope("comp", s, n)
            for i, g in enumerate(n.generators):
                if i:
                    visit(g.iter, inner)
                visit(g.target, inner)
                for c in g.ifs:
                    visit(c, inner)
            for e in [n.key, n.value] if isinstance(n, ast.DictComp) else [n.elt]:
                visit(e, inner)
        elif isinstance(n, ast.NamedExpr):
            bind(hoist(s), n.target.id)
            uses.append((hoist(s), n.target, n.target.id))
            visit(n.value, s)
        elif isinstance(n, ast.Name):
            if not isinstance(n.ctx, ast.Load):
                bind(s, n.id)
            uses.append((s, n, n.id))
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            for a in n.names:
                bind(s, a.asname or a.name.split(".")[0])
        else:
            if isinstance(n, ast.ExceptHandler) and n.name:
                bind(s, n.name)
            if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
                bind(s, n.name)
            if isinstance(n, ast.MatchMapping) and n.rest:
                bind(s, n.rest)
            for c in ast.iter_child_nodes(n):
                visit(c, s)

    for b in tree.body:
        visit(b, top)
    return top, uses, parents


def resolve(scope, name):
    first = True
    while scope is not None:
        if name in scope.globals:
            while scope.parent:
                scope = scope.parent
            return scope
        if name in scope.bound and (scope.kind != "class" or first):
            return scope
        first = first and scope.kind == "comp" and False
        first = False
        scope = scope.parent
    return None


# ------------------------------------------------------------------ modules


@dataclass(eq=False)
class Module:
    name: str
    path: str
    product: bool
    text: str = ""
    tree: ast.Module = None
    package: bool = False
    top: Scope = None
    uses: list = None
    parents: dict = None
    defs: list = field(default_factory=list)  # names defined at top (not by imports)

    def load(self):
        self.text = open(self.path, encoding="utf-8").read()
        self.tree = ast.parse(self.text)
        self.top, self.uses, self.parents = scopes_of(self.tree)
        self.by_node = {}
        for s, *_ in self.uses:
            while s is not None and s.node not in self.by_node:
                self.by_node[s.node] = s
                s = s.parent
        starts = [0]
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        self.starts = starts
        self.lines = self.text.split("\n")
        imported = set()
        for n in ast.walk(self.tree):
            if isinstance(n, (ast.Import, ast.ImportFrom)) and self.scope_of(n) is self.top:
                imported.update(a.asname or a.name.split(".")[0] for a in n.names)
        self.imported = imported
        self.defs = [n for n in self.top.bound if n not in imported]

    def scope_of(self, node):
        p = self.parents.get(node)
        while p is not None and not isinstance(p, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            p = self.parents.get(p)
        return self.top if isinstance(p, ast.Module) or p is None else self.by_node.get(p) or Scope("function", None, p)

    def at(self, line, col):  # ast columns are bytes
        text = self.lines[line - 1].encode()[:col].decode()
        return self.starts[line - 1] + len(text)

    def span(self, n):
        return self.at(n.lineno, n.col_offset), self.at(n.end_lineno, n.end_col_offset)


mods: dict[str, Module] = {}
others: list[Module] = []
for path in subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
    parts = path[:-3].split("/")
    package = parts[-1] == "__init__"
    if package:
        parts = parts[:-1]
    m = Module(".".join(parts), os.path.join(ROOT, path), path.split("/")[0] in ROOMS)
    if False:
        continue
    m.package = package
    m.load()
    if m.product or path == "__init__.py":
        mods[m.name] = m
    else:
        others.append(m)

groups: dict[str, list[str]] = {}
for line in open(next(a for a in sys.argv[2:] if not a.startswith("--")), encoding="utf-8"):
    line = line.split("#")[0].strip()
    if not line:
        continue
    new, olds = (x.strip() for x in line.split("←"))
    groups[new] = olds.split()
unknown = [o for olds in groups.values() for o in olds if o not in mods]
if unknown:
    sys.exit("no such module: " + " ".join(unknown))
listed = [o for olds in groups.values() for o in olds]
twice = {o for o in listed if listed.count(o) > 1}
if twice:
    sys.exit("listed twice: " + " ".join(sorted(twice)))
moved = {m: m for m in mods} | {o: new for new, olds in groups.items() for o in olds}


def base_of(m: Module, n: ast.ImportFrom):
    """Dotted name inside the package, or None if external."""
    if n.level:
        if not (m.product or m.name == ""):
            return None
        here = m.name.split(".") if m.package and m.name else (m.name.split(".")[:-1] if m.name else [])
        here = here[: len(here) - (n.level - 1)]
        return ".".join([*here, *(n.module.split(".") if n.module else [])])
    if n.module and (n.module == "rho" or n.module.startswith("rho.")):
        return n.module[4:]
    return None


def target(m, n, a):
    """('module', M) or ('symbol', M, name) or None."""
    base = base_of(m, n)
    if base is None:
        return None
    sub = f"{base}.{a.name}" if base else a.name
    if sub in mods:
        return ("module", sub)
    if base in mods:
        return ("symbol", base, a.name)
    return None


# origin of a symbol through re-exports
def origin(mod, name, seen=()):
    m = mods[mod]
    if name in m.defs or (mod, name) in seen:
        return mod, name
    for n in ast.walk(m.tree):
        if isinstance(n, ast.ImportFrom) and m.parents.get(n) is m.tree:
            for a in n.names:
                if (a.asname or a.name) == name:
                    t = target(m, n, a)
                    if t and t[0] == "symbol":
                        return origin(t[1], t[2], (*seen, (mod, name)))
    return mod, name


# ------------------------------------------------------------------ cycles of the new modules
graph = defaultdict(set)
why = {}
for m in mods.values():
    for n in ast.walk(m.tree):
        if isinstance(n, ast.ImportFrom):
            for a in n.names:
                t = target(m, n, a)
                if t and moved[t[1]] != moved[m.name]:
                    graph[moved[m.name]].add(moved[t[1]])
                    why.setdefault((moved[m.name], moved[t[1]]), f"{m.name} → {t[1]}" + (f".{t[2]}" if len(t) > 2 else ""))
sys.setrecursionlimit(20000)
index, low, stack, on, cycles = {}, {}, [], set(), []


def tarjan(v):
    index[v] = low[v] = len(index)
    stack.append(v)
    on.add(v)
    for w in graph[v]:
        if w not in index:
            tarjan(w)
            low[v] = min(low[v], low[w])
        elif w in on:
            low[v] = min(low[v], index[w])
    if low[v] == index[v]:
        c = []
        while True:
            w = stack.pop()
            on.discard(w)
            c.append(w)
            if w == v:
                break
        if len(c) > 1:
            cycles.append(c)


for v in set(moved.values()):
    if v not in index:
        tarjan(v)
news = set(moved.values())
print(f"{len(mods)} modules become {len(news)}; cycles: {len(cycles)}")
for c in cycles:
    print("  CYCLE of", len(c), ":", ", ".join(sorted(c)))
    for a in sorted(c):
        for b in sorted(graph[a] & set(c)):
            print(f"     {a} → {b}   because {why[a, b]}")

# ------------------------------------------------------------------ renames
rename: dict[tuple[str, str], str] = {}  # (old module, symbol) -> new symbol


def tagged(old, name):
    tag = old.split(".")[-1]
    lead = "_" if name.startswith("_") else ""
    bare = name.lstrip("_")
    if bare.isupper():
        return f"{lead}{tag.upper()}_{bare}"
    if bare[:1].isupper():
        return f"{lead}{''.join(p.capitalize() for p in tag.split('_'))}{bare}"
    return f"{lead}{tag}_{bare}"


def bindings(m: Module):
    """Module-scope imports of m: name -> key of what it is after the merge."""
    out = {}
    for n in ast.walk(m.tree):
        if isinstance(n, ast.ImportFrom) and m.scope_of(n) is m.top:
            for a in n.names:
                t = target(m, n, a)
                name = a.asname or a.name
                if t is None:
                    out[name] = ("external", "." * n.level + (n.module or ""), a.name)
                elif t[0] == "module":
                    if moved[t[1]] == moved[m.name]:
                        out[name] = ("inside", t[1])
                    else:
                        out[a.asname or moved[t[1]].split(".")[-1]] = ("module", moved[t[1]])
                else:
                    o = origin(t[1], t[2])
                    out[name] = ("symbol", *o)
        elif isinstance(n, ast.Import) and m.scope_of(n) is m.top:
            for a in n.names:
                out[a.asname or a.name.split(".")[0]] = ("external", a.name, a.asname)
    return out


SAME = {("external", "dataclasses", "dataclass"): ("symbol", "lang.support.records", "dataclass")}
clashes = []
aliased: dict[tuple[str, str], str] = {}  # (old module, import binding) -> new binding
for new, olds in groups.items():
    taken: dict[str, object] = {}
    for old in olds:
        for name in mods[old].defs:
            if name in ("__all__",):
                continue
            key = ("symbol", old, name)
            if name in taken and taken[name] != key:
                rename[old, name] = tagged(old, name)
                while rename[old, name] in taken:
                    rename[old, name] += "_"
                clashes.append(f"{new}: {name} of {old} → {rename[old, name]} (beside {taken[name][1]})")
                taken[rename[old, name]] = key
            else:
                taken[name] = key
    for old in olds:
        for name, key in bindings(mods[old]).items():
            key = SAME.get(key, key)
            if key[0] == "inside":
                continue
            if key[0] == "symbol" and moved[key[1]] == new:
                continue
            if name in taken and taken[name] != key:
                other = tagged(old, name) if key[0] != "symbol" else tagged(key[1], name)
                while other in taken and taken[other] != key:
                    other += "_"
                aliased[old, name] = other
                taken[other] = key
                clashes.append(f"{new}: import {name} of {old} as {other} (beside {taken[name]})")
            else:
                taken[name] = key


# ------------------------------------------------------------------ edits
def relative(new_here: str, here_is_package: bool, to: str):
    a = new_here.split(".") if here_is_package else new_here.split(".")[:-1]
    if new_here == "":
        a = []
    b = to.split(".") if to else []
    common = 0
    while common < len(a) and common < len(b) and a[common] == b[common]:
        common += 1
    return "." * (len(a) - common + 1) + ".".join(b[common:])


problems = []


def shadowed(m, scope, name):
    while scope is not None and scope.kind != "module":
        if scope.kind != "class" and name in scope.bound:
            return True
        scope = scope.parent
    return False


def process(m: Module):
    """(edits, top imports, type-checking imports) of one old module or other file; import statements at top become edits too unless
    the module is merged."""
    here = moved.get(m.name) if (m.product or m.name == "") else None
    merged = here is not None and (here in groups)
    here_package = (m.package and not merged) or (here == "")
    edits = []
    tops = []
    typing_tops = []
    module_names = {}

    def emit(mod, name, asname):
        source = relative(here, here_package, mod) if here is not None else ("rho." + mod if mod else "rho")
        return (source, name, asname)

    def emit_module(mod, binding):
        parent, _, last = mod.rpartition(".")
        if here is not None:
            source = relative(here, here_package, parent)
        else:
            source = f"rho.{parent}" if parent else "rho"
        return (source, last, binding if binding != last else None)

    name_edit = {}  # node -> text
    resolved = [(s, n, name, resolve(s, name)) for s, n, name in m.uses]

    def rename_uses(scope, binding, text):
        for s, n, name, r in resolved:
            if name == binding and r is scope:
                if shadowed(m, s, text) and scope.kind == "module":
                    problems.append(f"{m.name}:{n.lineno}: {binding} → {text} is shadowed")
                name_edit[n] = text

    # own definitions
    if here is not None:
        for name in m.defs:
            if (m.name, name) in rename:
                rename_uses(m.top, name, rename[m.name, name])
    for n in ast.walk(m.tree):
        if isinstance(n, ast.Import):
            lines = []
            changed = False
            for a in n.names:
                asname = a.asname
                binding = a.asname or a.name.split(".")[0]
                if here is not None and (m.name, binding) in aliased and m.scope_of(n) is m.top:
                    asname = aliased[m.name, binding]
                    rename_uses(m.top, binding, asname)
                    changed = True
                name = a.name
                if name.startswith("rho.") and name[4:] in moved and moved[name[4:]] != name[4:]:
                    name = "rho." + moved[name[4:]]
                    changed = True
                    if not a.asname:
                        problems.append(f"{m.name or m.path}:{n.lineno}: import {a.name} without a name")
                lines.append(f"import {name}" + (f" as {asname}" if asname else ""))
            if merged and m.parents[n] is m.tree:
                tops.extend(lines)
                edits.append((*m.span(n), ""))
            elif merged and m.scope_of(n) is m.top and is_typing(m, n):
                typing_tops.extend(lines)
            elif changed:
                edits.append((*m.span(n), "\n".join(lines)))
            continue
        if not isinstance(n, ast.ImportFrom):
            continue
        scope = m.scope_of(n)
        out = []
        changed = False
        for a in n.names:
            binding = a.asname or a.name
            t = target(m, n, a)
            if t is None:
                key = ("external", "." * n.level + (n.module or ""), a.name)
                asname = a.asname
                source = "." * n.level + (n.module or "")
                name = a.name
                if here is not None and scope is m.top and (m.name, binding) in aliased:
                    asname = aliased[m.name, binding]
                    rename_uses(scope, binding, asname)
                    changed = True
                if merged and key in SAME:
                    source, name, changed = relative(here, here_package, moved[SAME[key][1]]), SAME[key][2], True
                out.append((source, name, asname))
                continue
            if t[0] == "module":
                goal = moved[t[1]]
                inside = here is not None and goal == here
                changed = changed or goal != t[1] or here != m.name
                last = goal.split(".")[-1]
                new_binding = a.asname or last
                if here is not None and scope is m.top and (m.name, new_binding) in aliased:
                    new_binding = aliased[m.name, new_binding]
                elif not inside and new_binding != binding and any(new_binding in s.bound for s, *_ in m.uses):
                    new_binding = binding  # a local of that name: keep the old binding
                elif not inside:
                    owner = module_names.setdefault(new_binding, goal)
                    if owner != goal:
                        new_binding = f"{goal.split('.')[-2]}_{last}"
                        if module_names.setdefault(new_binding, goal) != goal:
                            problems.append(f"{m.name}:{n.lineno}: two modules are {new_binding}")
                for s, u, name, r in resolved:
                    if name != binding or r is not scope:
                        continue
                    parent = m.parents.get(u)
                    if (
                        isinstance(parent, ast.Call)
                        and parent.args
                        and parent.args[0] is u
                        and len(parent.args) > 1
                        and isinstance(parent.args[1], ast.Constant)
                    ):
                        attr = parent.args[1].value
                        if (t[1], attr) in rename:
                            edits.append((*m.span(parent.args[1]), repr(rename[t[1], attr]).replace("'", '"')))
                    if isinstance(parent, ast.Attribute):
                        if (
                            mods[t[1]].package
                            and t[1] not in listed
                            and not any(isinstance(x, (ast.FunctionDef, ast.ClassDef)) for x in mods[t[1]].tree.body)
                            and parent.attr in mods[t[1]].imported
                            and origin(t[1], parent.attr)[0] != t[1]
                        ):
                            problems.append(f"{m.name or m.path}:{u.lineno}: {binding}.{parent.attr} is a re-export")
                        attr = rename.get((t[1], parent.attr), parent.attr)
                        b0, e0 = m.span(parent)
                        if inside:
                            if shadowed(m, s, attr):
                                problems.append(f"{m.name}:{u.lineno}: {binding}.{parent.attr} → {attr} is shadowed")
                            edits.append((b0, e0, attr))
                        else:
                            b1, e1 = m.span(u)
                            edits.append((b1, e1, new_binding))
                            if attr != parent.attr:
                                edits.append((e0 - len(parent.attr), e0, attr))
                    elif inside:
                        problems.append(f"{m.name}:{u.lineno}: module {binding} is used as a value")
                    else:
                        name_edit[u] = new_binding
                if not inside:
                    out.append(emit_module(goal, new_binding))
                continue
            _, mod, name = t
            omod, oname = origin(mod, name)
            goal = moved[omod]
            new_name = rename.get((omod, oname), oname)
            changed = changed or goal != mod or new_name != name or (here != m.name)
            if here is not None and goal == here:
                if binding != new_name:
                    rename_uses(scope, binding, new_name)
                for s, u, nm, r in resolved:
                    if nm == binding and r is scope and scope.kind != "module":
                        inner = s
                        while inner is not scope and inner is not None:
                            if new_name in inner.bound and inner.kind != "class":
                                problems.append(f"{m.name}:{u.lineno}: {binding} → {new_name} is shadowed")
                            inner = inner.parent
                continue
            asname = a.asname
            if here is not None and scope is m.top and (m.name, binding) in aliased:
                asname = aliased[m.name, binding]
                rename_uses(scope, binding, asname)
            elif asname is None and new_name != name:
                rename_uses(scope, binding, new_name)
            out.append(emit(goal, new_name, asname if asname != new_name else None))
        if merged and scope is m.top and (m.parents[n] is m.tree or is_typing(m, n)):
            text = [statement(s, [(nm, an)]) for s, nm, an in out]
            typing = is_typing(m, n)
            (typing_tops if typing else tops).extend(text)
            if not typing:
                edits.append((*whole_lines(m, n), ""))
        elif changed:
            by = defaultdict(list)
            for s, nm, an in out:
                by[s].append((nm, an))
            indent = "\n" + " " * n.col_offset
            text = indent.join(statement(s, names, n.col_offset) for s, names in by.items())
            if text:
                edits.append((*m.span(n), text))
            else:
                edits.append((*whole_lines(m, n), ""))
    for node, text in name_edit.items():
        if isinstance(node, ast.Name):
            b, e = m.span(node)
        else:
            line = m.at(node.lineno, node.col_offset)
            found = re.compile(r"(?:async\s+)?(?:def|class)\s+").match(m.text, line)
            b = found.end()
            e = b + len(node.name)
        edits.append((b, e, text))
    return edits, tops, typing_tops


def is_typing(m, n):
    p = m.parents.get(n)
    return isinstance(p, ast.If) and ast.unparse(p.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING") and not p.orelse


def whole_lines(m, n):
    b, e = m.span(n)
    line_end = m.text.find("\n", e)
    rest = m.text[e:line_end]
    if rest.strip() == "" or rest.strip().startswith("#"):
        e = line_end + 1
    start = m.text.rfind("\n", 0, b) + 1
    if m.text[start:b].strip() == "":
        b = start
    parent = m.parents.get(n)
    return b, e


def statement(source, names, indent=0):
    items = [nm + (f" as {an}" if an else "") for nm, an in names]
    line = f"from {source} import {', '.join(items)}"
    if len(line) + indent <= 130:
        return line
    pad = " " * indent
    return f"from {source} import (\n" + "".join(f"{pad}    {i},\n" for i in items) + f"{pad})"


def apply(text, edits):
    done = {}
    for b, e, t in edits:
        done[b, e] = t
    last = None
    for (b, e), t in sorted(done.items(), reverse=True):
        assert last is None or e <= last or (b, e) == last, (text[b:e], t, text[b - 40 : e + 40])
        text = text[:b] + t + text[e:]
        last = b
    return text


# ------------------------------------------------------------------ run
results: dict[str, str] = {}
removed = set()
processed = {m.name: process(m) for m in mods.values()}
other_edits = [(m, process(m)[0]) for m in others]
print("clashes:", len(clashes))
[print("  ", c) for c in clashes]
print("problems:", len(problems))
[print("  ", p) for p in sorted(set(problems))]
sizes = sorted(((sum(mods[o].text.count("\n") for o in olds), new) for new, olds in groups.items()), reverse=True)
print("largest:", ", ".join(f"{n} {s}" for s, n in sizes[:8]))
if CHECK or cycles or problems:
    sys.exit(1 if cycles or problems else 0)


def body_of(m, edits, is_lead):
    """Text after the docstring without imports, and the docstring."""
    doc = ast.get_docstring(m.tree, clean=True) or ""
    extra = list(edits)
    first = m.tree.body[0] if m.tree.body else None
    if (
        first is not None
        and isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        extra.append((*whole_lines(m, first), ""))
    for n in m.tree.body:
        if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING" and not n.orelse:
            b, e = whole_lines(m, n)
            extra = [x for x in extra if not (b <= x[0] < e)] + [(b, e, "")]
        if isinstance(n, (ast.Assign, ast.AnnAssign)):
            t = n.targets[0] if isinstance(n, ast.Assign) else n.target
            if isinstance(t, ast.Name) and t.id in ("__all__",) and not is_lead:
                b, e = whole_lines(m, n)
                extra = [x for x in extra if not (b <= x[0] < e)] + [(b, e, "")]
    return apply(m.text, extra).strip("\n"), doc


def comment(doc):
    import textwrap

    if all(len(l) <= 128 for l in doc.split("\n")):
        return [("# " + l).rstrip() for l in doc.split("\n")]
    out = []
    for i, p in enumerate(doc.split("\n\n")):
        if i:
            out.append("#")
        if any(l.startswith((" ", "-", "*")) for l in p.split("\n")):
            out += [("# " + x).rstrip() for l in p.split("\n") for x in textwrap.wrap(l, 128, drop_whitespace=False) or [""]]
        else:
            out += ["# " + l for l in textwrap.wrap(p.replace("\n", " "), 128)]
    return out


def without_neighbours(doc):
    return "\n\n".join(p for p in doc.split("\n\n") if not re.match(r"\s*Neighbours?:", p)).strip()


for new, olds in groups.items():
    inside = set(olds)
    order = []
    state = {}

    def place(o):
        if state.get(o):
            return
        state[o] = 1
        m = mods[o]
        for n in m.tree.body:
            if isinstance(n, ast.ImportFrom):
                for a in n.names:
                    t = target(m, n, a)
                    if t and t[1] in inside:
                        place(t[1])
                    if t and t[0] == "symbol":
                        o2 = origin(t[1], t[2])[0]
                        if o2 in inside:
                            place(o2)
        order.append(o)

    for o in olds:
        place(o)
    tops, typing, bodies = [], [], []
    for o in order:
        edits, t, ty = processed[o]
        tops += t
        typing += ty
        text, doc = body_of(mods[o], edits, o == olds[0])
        doc = without_neighbours(doc)
        bodies.append((o, text, doc))
    lead_doc = without_neighbours(ast.get_docstring(mods[olds[0]].tree) or "")
    tops = [x for x in dict.fromkeys(tops) if x and x != "from __future__ import annotations"]
    typing = [x for x in dict.fromkeys(typing) if x not in tops]
    out = [
        '"""' + lead_doc.replace("\\", "\\\\") + ("\n" if "\n" in lead_doc else "") + '"""',
        "",
        "from __future__ import annotations",
        "",
        *tops,
    ]
    out[0] = ("r" if "\\" in lead_doc else "") + '"""' + lead_doc + ("\n" if "\n" in lead_doc else "") + '"""'
    if typing:
        out += ["", "if TYPE_CHECKING:", *["    " + x.replace("\n", "\n    ") for x in typing]]
    for o, text, doc in bodies:
        if not text.strip():
            continue
        if len(order) > 1:
            tag = o.split(".")[-1]
            out += ["", "", "# " + "-" * 100 + f" {tag}"]
            if o != olds[0] and doc:
                out += ["#", *comment(doc)]
        out += ["", text]
    results[new] = "\n".join(out) + "\n"
    removed |= {mods[o].path for o in olds}

for m in mods.values():
    if m.name in moved and moved[m.name] in groups:
        continue
    edits = processed[m.name][0]
    if edits:
        open(m.path, "w", encoding="utf-8").write(apply(m.text, edits))
for m, edits in other_edits:
    if edits:
        open(m.path, "w", encoding="utf-8").write(apply(m.text, edits))
for new, olds in groups.items():
    path = os.path.join(ROOT, *new.split(".")) + ".py"
    lead = mods[olds[0]]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if lead.path != path and not lead.package and not os.path.exists(path):
        subprocess.run(["git", "mv", lead.path, path], cwd=ROOT, check=True)
    for o in olds:
        m = mods[o]
        if m.path == path or not os.path.exists(m.path):
            continue
        if m.package:
            doc = ast.get_docstring(m.tree) or ""
            open(m.path, "w", encoding="utf-8").write('"""' + doc.split("\n")[0] + '"""\n')
        else:
            subprocess.run(["git", "rm", "-qf", m.path], cwd=ROOT, check=True)
    open(path, "w", encoding="utf-8").write(results[new])
    folder = os.path.dirname(path)
    while folder != ROOT:
        init = os.path.join(folder, "__init__.py")
        if not os.path.exists(init):
            open(init, "w").write('"""' + os.path.basename(folder) + '."""\n')
        folder = os.path.dirname(folder)
for m in mods.values():
    if not m.package or m.name == "" or m.name in listed or not os.path.exists(m.path):
        continue
    if any(isinstance(n, (ast.FunctionDef, ast.ClassDef)) for n in m.tree.body):
        continue
    if len(m.tree.body) <= 1:
        continue
    doc = ast.get_docstring(m.tree) or os.path.basename(os.path.dirname(m.path))
    open(m.path, "w", encoding="utf-8").write('"""' + without_neighbours(doc) + ("\n" if "\n" in doc else "") + '"""\n')
subprocess.run(["git", "add", "-A"], cwd=ROOT, check=True)
# packages without modules go
for d, subs, files in os.walk(ROOT, topdown=False):
    rel = os.path.relpath(d, ROOT)
    if rel.split(os.sep)[0] not in ROOMS:
        continue
    here = [f for f in os.listdir(d) if f != "__pycache__"]
    if here == ["__init__.py"]:
        subprocess.run(["git", "rm", "-qf", os.path.join(rel, "__init__.py")], cwd=ROOT, check=True)
# dotted names and paths in texts
pairs = [(o, new) for new, olds in groups.items() for o in olds if o != new]
dotted = {o: n for o, n in pairs}
by_dot = (
    re.compile(r"(?<![\w.])(rho\.)?(" + "|".join(sorted(map(re.escape, dotted), key=len, reverse=True)) + r")(?![\w])")
    if dotted
    else None
)
paths = {o.replace(".", "/") + (".py" if not mods[o].package else "/__init__.py"): n.replace(".", "/") + ".py" for o, n in pairs}
by_path = (
    re.compile("(?<![\\w])(" + "|".join(sorted(map(re.escape, paths), key=len, reverse=True)) + r")(?![\w])") if paths else None
)
for path in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n"):
    if not path.endswith((".py", ".toml", ".md", ".txt", ".c", ".h", ".sh", "run", "nightly")) or not os.path.exists(
        os.path.join(ROOT, path)
    ):
        continue
    full = os.path.join(ROOT, path)
    try:
        text = open(full, encoding="utf-8", newline="").read()
    except UnicodeDecodeError:
        continue

    def dot(mm):
        if path.endswith(".py") and text[text.rfind("\n", 0, mm.start()) + 1 : mm.start()].lstrip().startswith(
            ("from ", "import ")
        ):
            return mm.group(0)
        tail = re.match(r"\.(\w+)", text[mm.end() :])
        if tail and (mm.group(2) + "." + tail.group(1)) in news:
            return mm.group(0)
        if path.endswith(".py") and not mm.group(1):
            before = text[: mm.start()]
            if not before.endswith(('"', "'", "`")):
                return mm.group(0)
        if mods[mm.group(2)].package and text[mm.end() : mm.end() + 1] == ".":
            return mm.group(0)
        return (
            (mm.group(1) or "")
            + dotted[mm.group(2)]
            + ("\0" + rename[mm.group(2), tail.group(1)] + "\0" if tail and (mm.group(2), tail.group(1)) in rename else "")
        )

    fresh = by_path.sub(lambda mm: paths[mm.group(1)], by_dot.sub(dot, text)) if by_dot else text
    fresh = re.sub("\0(\\w+)\0\\.\\w+", ".\\1", fresh)
    if fresh != text:
        open(full, "w", encoding="utf-8", newline="").write(fresh)
print("written")
