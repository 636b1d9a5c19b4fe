"""Every code a message can carry: titles here, pages loaded when someone asks.

A row is a code, a title (a sentence without its subject's names), the codes it is easily confused with,
and since when it is active.  The page (`codes_record.Page`: explanation, failing program, repaired program) is in the module of
its hundred, `codes_pages_*.py`.  `lang.explain` prints them.
Add a code: one row here in order, one page there; `tests/lang/test_codes.py` runs the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from .codes_record import Code, Page, Since

__all__ = ["CODES", "Code", "Page", "Since", "page_of", "pages", "title_of"]

_LATER = Since.SIGNATURES
_QUANTITIES = Since.QUANTITIES
_SCHEDULER = Since.SCHEDULER

_ROWS: tuple[Code, ...] = (
    # ---- syntax and names
    Code("E001", "unknown name", ("E007", "E019")),
    Code("E002", "this cannot be read here", ("E003", "E011")),
    Code("E003", "a bracket is not matched", ("E002", "E004")),
    Code("E004", "text is not closed", ("E003",)),
    Code("E005", "not a number", ("E302",)),
    Code("E006", "not a character of the language", ("E007",)),
    Code("E007", "unknown backtick spelling", ("E006",)),
    Code("E008", "an operator lacks an operand", ("E009", "E130")),
    Code("E009", "a function lacks its right argument", ("E008", "E133")),
    Code("E010", "this cannot be assigned to", ("E014", "E105")),
    Code("E011", "not a type or declaration", ("E002", "E012")),
    Code("E012", "a size mixes + and - or × without parentheses", ("E011",)),
    Code("E013", "a name touches a literal operand", ("E002",)),
    Code("E014", "a reserved word is used as a name", ("E010",)),
    Code("E015", "`_` stands for nothing here", ("E010",)),
    Code("E016", "the source is too deep or too large", ("E610",)),
    Code("E017", "this statement does not belong here", ("E018",)),
    Code("E018", "`⎕IO` is not set by the first statement", ("E017",)),
    Code("E019", "there is no such module", ("E001",)),
    # ---- shapes
    Code("E101", "these arrays do not line up", ("E102", "E103", "E140", "W201")),
    Code("E102", "the inner axes of a product differ", ("E101",)),
    Code("E103", "arrays that are joined differ in another axis", ("E101", "E110")),
    Code("E105", "a destructuring has the wrong number of names", ("E010", "E305")),
    Code("E110", "items of array notation have different shapes", ("E103", "E111")),
    Code("E111", "a strand mixes what cannot be one vector", ("E110",)),
    Code("E120", "the element type and inner shape are unknown", ("E110",)),
    Code("E121", "two shape variables cannot be told apart", ("E122",), _LATER),
    Code("E122", "no argument determines this size", ("E121",), _LATER),
    Code("E130", "wrong number of arguments or operands", ("E133", "E008")),
    Code("E131", "the argument has too few axes", ("E101", "E132")),
    Code("E132", "there is no such axis", ("E131",)),
    Code("E133", "this function has no such valence", ("E130", "E009")),
    Code("E134", "a value is needed here, or a function, and this is the other", ("E130",)),
    Code("E140", "a size known only at run time does not line up", ("E101", "E401")),
    # ---- facts about sizes
    Code("E200", "this can never work", ("E201", "E701")),
    Code("E201", "a fact about sizes is needed and not given", ("E200", "E209", "W201"), _LATER),
    Code("E202", "a size may be negative", ("E201", "E203")),
    Code("E203", "a divisor may be zero", ("E201", "E202")),
    Code("E204", "an axis may be empty where one item is needed", ("E201",)),
    Code("E209", "a fact about sizes could not be proved", ("E201",), _LATER),
    # ---- elements
    Code("E300", "the element types do not suit the function", ("E301", "E303")),
    Code("E301", "this type does not narrow by itself", ("E302", "E703")),
    Code("E302", "a number does not fit its type", ("E005", "E301", "E703")),
    Code("E303", "a bool is needed here", ("E300", "E304")),
    Code("E304", "a mask inside an index", ("E303",)),
    Code("E305", "a tuple where an array is needed", ("E105", "E300")),
    Code("E310", "an index is out of range", ("W310",)),
    Code("E330", "a known result does not fit its type", ("E302", "W330")),
    # ---- sizes known only at run time
    Code("E401", "each cell would get its own length", ("E140", "E402")),
    Code("E402", "the state of a loop changes shape", ("E401", "E601")),
    Code("E403", "a size has no bound", ("E601",)),
    # ---- quantities
    Code("E500", "a value is read more often than declared", ("E501", "E503"), _QUANTITIES),
    Code("E501", "a value declared shape-only has its data read", ("E500",), _QUANTITIES),
    Code("E502", "a value is used after it was moved", ("E500",), _QUANTITIES),
    Code("E503", "a value is read less often than declared", ("E500",), _QUANTITIES),
    # ---- termination and budgets
    Code("E600", "definitions form a cycle", ("E601",)),
    Code("E601", "a loop has no bound", ("E600", "E403")),
    Code("E602", "printing inside a function that an operator applies", ("E600",)),
    Code("E610", "the program expands to too many operations", ("E016", "E600")),
    Code("E620", "not in this version", ("E001",)),
    # ---- loading and running
    Code("E701", "the data breaks a fact the program needs", ("W201", "E200")),
    Code("E702", "the program needs more memory than there is", ("E701",)),
    Code("E703", "a value does not fit when converted", ("E301", "E302")),
    Code("E704", "a file cannot be read", ("E705", "E706")),
    Code("E705", "a file does not hold what its format promises", ("E704", "E706")),
    Code("E706", "a file does not agree with its declared type", ("E701", "E705")),
    Code("E707", "a file outside the permitted folders", ("E704", "E708")),
    Code("E708", "a file cannot be written", ("E704", "E707")),
    Code("E709", "the time allowed ran out", ("E702",)),
    Code("E710", "a device failed while the program ran", ("E702",)),
    # ---- the schedule
    Code("SCH101", "directives contradict each other", ("SCH102",), _SCHEDULER),
    Code("SCH102", "a directive contradicts the flow of data", ("SCH101",), _SCHEDULER),
    Code("SCH103", "the memory limits cannot be met", ("E702", "SCH106"), _SCHEDULER),
    Code("SCH104", "a device has no kernel for an operation", ("SCH105",), _SCHEDULER),
    Code("SCH105", "input and output run on the home device", ("SCH104",), _SCHEDULER),
    Code("SCH106", "a deadline or limit cannot be met", ("SCH103",), _SCHEDULER),
    Code("SCH107", "unknown device or value in a schedule", ("SCH201",), _SCHEDULER),
    Code("SCH201", "a name in a schedule means several values", ("SCH107",), _SCHEDULER),
    Code("SCH202", "a device name means several devices", ("SCH201",), _SCHEDULER),
    Code("SCH203", "`before` waits for every shard", (), _SCHEDULER),
    Code("SCH204", "an objective gives way to one asked for", (), _SCHEDULER),
    Code("SCH301", "a stored plan is out of date", ("SCH302",), _SCHEDULER),
    Code("SCH302", "a plan is not proved optimal", ("SCH301",), _SCHEDULER),
    Code("SCH303", "a part of the planner failed and was left out", ("SCH302",), _SCHEDULER),
    # ---- warnings
    Code("W201", "a fact about sizes is checked when the data is loaded", ("E201", "E701")),
    Code("W310", "an index is checked when the program runs", ("E310",)),
    Code("W320", "a literal left of `⌷` selects cells, not one element", ("E310",)),
    Code("W330", "a result may not fit its type", ("E330", "E703")),
    Code("W340", "a fold over the one item of a vector, which was a count once", ("E601",)),
    # ---- notes
    Code("N001", "this is Rho, but means something else in other languages", ("E001",)),
)  # fmt: skip

CODES: Mapping[str, Code] = {row.code: row for row in _ROWS}

_PAGE_MODULES = {
    "E0": "codes_pages_syntax", "E1": "codes_pages_shapes", "E2": "codes_pages_shapes", "E3": "codes_pages_values",
    "E4": "codes_pages_values", "E5": "codes_pages_values", "E6": "codes_pages_running", "E7": "codes_pages_running",
    "W2": "codes_pages_running", "W3": "codes_pages_running", "N0": "codes_pages_syntax", "SC": "codes_pages_schedule",
}  # fmt: skip


def title_of(code: str) -> str:
    """The title of a code, or the code itself if it is unknown."""
    row = CODES.get(code)
    return row.title if row is not None else code


def page_of(code: str) -> Page | None:
    """The page of a code, loaded on demand; None for an unknown code."""
    if code not in CODES:
        return None
    module = import_module(f".{_PAGE_MODULES[code[:2]]}", __package__)
    page = module.PAGES[code]
    assert isinstance(page, Page)
    return page


def pages() -> Mapping[str, Page]:
    """Every page by code, in the order of the table."""
    found = {code: page_of(code) for code in CODES}
    return {code: page for code, page in found.items() if page is not None}
