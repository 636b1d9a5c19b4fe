"""What calls kernels, as LLVM text: a team of threads that run the pieces of one launch, and a Python function that checks its
arrays and runs launches.

Written by hand, since it must do in well under a microsecond what Python does in ten.  Everything that depends on the machine
comes as a number (`Layout`) or as a symbol `rho_…`; everything about a program comes in words (Note [Words]).

Note [Words].  64-bit words.  A *launch* is: the kernel's address; the number of pieces; the words of a piece's argument block;
how many helpers may join; nanoseconds that it takes, roughly; whether the interpreter lock is released; the number of
relocations; for each of these the place of a word among the blocks of all pieces, the number of a base address, and bytes to be
added; then the blocks of all pieces.

A *call* is: the number of arguments; the number of bases (arguments first, then values that are made); the object that is
returned where the arguments are others; the type of arrays; the place of the first operation; then for each argument its dtype
(0: a Python float, 1: a Python int), its rank, and for each axis its length and stride.  An operation is a code and its words
(`Operation`).  A kernel that reports a failure, and memory that runs out, end the call as if the arguments were others:
whoever called does it again with words for it.  Any other exception (an interrupt) is raised.

Note [The team].  `open` says that a launch is there to be joined.  A helper counts itself in, then asks; the caller closes, then
waits until nobody is in.  So whoever is in finds a launch that stays, and a launch ends only when nobody is in.  Pieces are taken
by a counter; the caller takes them too, and waits for none that nobody has taken.  Helpers look for work for a while, then sleep.
Waking them costs as much as small work does: where nobody has come since the last time, fewer and fewer launches wake them.  A
launch that had to wait for a helper that the system had put aside is followed by launches alone, more of them each time.

Neighbours: `store` (compiles it), `backend.run.native` (binds it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from .llvm_leaf import QUICK


class Operation(IntEnum):
    """What a call does, one after the other.  MAKE: a value, its dtype, rank, place of its shape among the words.  ROOM: a
    value, a callable, its two arguments.  LAUNCH: the place of a launch.  FREE: a value.  GIVE: the value returned.  GIVE_ALL:
    how many, and the values of the tuple returned.  ALIGN: a value, whose base moves on to a multiple of 64.
    SHOW: a value, its dtype, rank, the place of its shape, strides and distance from a base among the words, that value."""

    MAKE = 0
    ROOM = 1
    LAUNCH = 2
    FREE = 3
    GIVE = 4
    GIVE_ALL = 5
    ALIGN = 6
    SHOW = 7


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of Python's objects are (bytes), and constants of the system."""

    type: int
    items: int
    data: int
    rank: int
    shape: int
    strides: int
    dtype: int
    monotonic: int
    processor: str

    def text(self) -> str:
        """A module whose function `kernel` writes the addresses of its functions into the words it is given."""
        pause = _PAUSES.get(self.processor, "")
        names = {name: str(getattr(self, name)) for name in self.__slots__ if name != "processor"}
        text = _TEAM + _LAUNCH + _CALL + _ADDRESSES
        for name, value in (names | _FIELDS | {"pause": pause and f"call void {pause}"}).items():
            text = text.replace(f"${name}$", value)
        return QUICK + text + (f"declare void {pause.split('(')[0]}({'i32' if 'i32' in pause else ''})\n" if pause else "")


_PAUSES: Final = {
    "x86_64": "@llvm.x86.sse2.pause()",
    "AMD64": "@llvm.x86.sse2.pause()",
    "aarch64": "@llvm.aarch64.hint(i32 1)",
    "arm64": "@llvm.aarch64.hint(i32 1)",
}

TEAM_BYTES: Final = 1024
FUNCTIONS: Final = ("worker", "launch", "call", "team")
"""What `kernel` writes the addresses of: functions, and the variable that holds the team's address."""
_FIELDS: Final = {
    name: str(place)
    for name, place in {
        "busy": 0, "generation": 64, "open": 72, "next": 128, "back": 136, "inside": 192, "kernel": 256, "blocks": 264,
        "pitch": 272, "count": 280, "codes": 288, "allowed": 296, "sleepers": 320, "looking": 328, "latest": 384, "joined": 392,
        "woken": 400, "skipped": 408, "useless": 416, "alone": 424, "hurt": 432, "mutex": 448, "change": 640,
    }.items()
}  # fmt: skip
MUTEX, CHANGE, LOOKING = (int(_FIELDS[name]) for name in ("mutex", "change", "looking"))
"""Where a team has its mutex, its condition, and the nanoseconds that helpers look for work."""
BURST: Final = 50_000
"""Nanoseconds since the last launch within which another is taken for one of many."""
WORTH_WAKING: Final = 60_000
"""Nanoseconds of a lone launch that are worth waking helpers for."""

_TEAM: Final = """
@team = internal global ptr null

declare i32 @rho_clock_gettime(i32, ptr)
declare i32 @rho_sched_yield()
declare i32 @rho_pthread_mutex_lock(ptr)
declare i32 @rho_pthread_mutex_unlock(ptr)
declare i32 @rho_pthread_cond_wait(ptr, ptr)
declare i32 @rho_pthread_cond_broadcast(ptr)

define internal i64 @now() {
  %time = alloca [2 x i64]
  call i32 @rho_clock_gettime(i32 $monotonic$, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %scaled = mul i64 %seconds, 1000000000
  %sum = add i64 %scaled, %rest
  ret i64 %sum
}

; Take pieces until none is left: the caller from the front, helpers from the back, so that each has what it had the last time.
define internal void @work(ptr %team, i1 %is.helper) {
start:
  %next = getelementptr i8, ptr %team, i64 $next$
  %back = getelementptr i8, ptr %team, i64 $back$
  %kernel.at = getelementptr i8, ptr %team, i64 $kernel$
  %kernel = load ptr, ptr %kernel.at
  %blocks.at = getelementptr i8, ptr %team, i64 $blocks$
  %blocks = load ptr, ptr %blocks.at
  %pitch.at = getelementptr i8, ptr %team, i64 $pitch$
  %pitch = load i64, ptr %pitch.at
  %count.at = getelementptr i8, ptr %team, i64 $count$
  %count = load i64, ptr %count.at
  %codes.at = getelementptr i8, ptr %team, i64 $codes$
  %codes = load ptr, ptr %codes.at
  br label %take
take:
  %front = phi i64 [ 0, %start ], [ %front.next, %piece ]
  %taken = atomicrmw add ptr %next, i64 1 seq_cst
  %is.piece = icmp ult i64 %taken, %count
  br i1 %is.piece, label %some, label %out
some:
  br i1 %is.helper, label %behind, label %piece
behind:
  %before = atomicrmw add ptr %back, i64 1 seq_cst
  %after = sub i64 %count, %before
  %behind.place = sub i64 %after, 1
  br label %piece
piece:
  %place = phi i64 [ %front, %some ], [ %behind.place, %behind ]
  %front.next = add i64 %front, 1
  %offset = mul i64 %place, %pitch
  %block = getelementptr i8, ptr %blocks, i64 %offset
  %code = call i64 %kernel(ptr %block)
  %code.at = getelementptr i64, ptr %codes, i64 %place
  store i64 %code, ptr %code.at
  br label %take
out:
  ret void
}

; A helper; it never returns.
define i64 @worker(ptr %team) {
start:
  %generation = getelementptr i8, ptr %team, i64 $generation$
  %open.at = getelementptr i8, ptr %team, i64 $open$
  %inside = getelementptr i8, ptr %team, i64 $inside$
  %allowed.at = getelementptr i8, ptr %team, i64 $allowed$
  %sleepers = getelementptr i8, ptr %team, i64 $sleepers$
  %looking.at = getelementptr i8, ptr %team, i64 $looking$
  %mutex = getelementptr i8, ptr %team, i64 $mutex$
  %change = getelementptr i8, ptr %team, i64 $change$
  %looking = load i64, ptr %looking.at
  br label %idle
idle:
  %seen = phi i64 [ 0, %start ], [ %current, %leave ]
  %since = call i64 @now()
  br label %look
look:
  %turn = phi i64 [ 0, %idle ], [ %following, %rest ], [ %following, %ask ]
  %found = load atomic i64, ptr %generation acquire, align 8
  %is.new = icmp ne i64 %found, %seen
  br i1 %is.new, label %enter, label %rest
rest:
  $pause$
  %following = add i64 %turn, 1
  %some = and i64 %following, 63
  %is.time = icmp eq i64 %some, 0
  br i1 %is.time, label %ask, label %look
ask:
  %time = call i64 @now()
  %passed = sub i64 %time, %since
  %is.late = icmp ugt i64 %passed, %looking
  br i1 %is.late, label %sleep, label %look
sleep:
  call i32 @rho_pthread_mutex_lock(ptr %mutex)
  atomicrmw add ptr %sleepers, i64 1 seq_cst
  br label %asleep
asleep:
  %still = load atomic i64, ptr %generation seq_cst, align 8
  %is.still = icmp eq i64 %still, %seen
  br i1 %is.still, label %wait, label %awake
wait:
  call i32 @rho_pthread_cond_wait(ptr %change, ptr %mutex)
  br label %asleep
awake:
  atomicrmw sub ptr %sleepers, i64 1 seq_cst
  call i32 @rho_pthread_mutex_unlock(ptr %mutex)
  br label %enter
enter:
  %current = load atomic i64, ptr %generation seq_cst, align 8
  %others = atomicrmw add ptr %inside, i64 1 seq_cst
  %open = load atomic i64, ptr %open.at seq_cst, align 8
  %is.open = icmp ne i64 %open, 0
  br i1 %is.open, label %count, label %leave
count:
  %allowed = load i64, ptr %allowed.at
  %is.allowed = icmp ult i64 %others, %allowed
  br i1 %is.allowed, label %join, label %leave
join:
  %joined.at = getelementptr i8, ptr %team, i64 $joined$
  atomicrmw add ptr %joined.at, i64 1 seq_cst
  call void @work(ptr %team, i1 true)
  br label %leave
leave:
  atomicrmw sub ptr %inside, i64 1 seq_cst
  br label %idle
}
"""

_LAUNCH: Final = """
; Run a launch on these bases: 0, or what its first failing piece returns, whose last word is stored at %failure.
define i64 @launch(ptr %launch, ptr %bases, ptr %failure) {
start:
  %address = load i64, ptr %launch
  %kernel = inttoptr i64 %address to ptr
  %count.at = getelementptr i64, ptr %launch, i64 1
  %count = load i64, ptr %count.at
  %words.at = getelementptr i64, ptr %launch, i64 2
  %words = load i64, ptr %words.at
  %allowed.at = getelementptr i64, ptr %launch, i64 3
  %allowed = load i64, ptr %allowed.at
  %duration.at = getelementptr i64, ptr %launch, i64 4
  %duration = load i64, ptr %duration.at
  %relocations.at = getelementptr i64, ptr %launch, i64 6
  %relocations = load i64, ptr %relocations.at
  %first = getelementptr i64, ptr %launch, i64 7
  %triples = mul i64 %relocations, 3
  %template = getelementptr i64, ptr %first, i64 %triples
  %whole = mul i64 %count, %words
  %pitch = mul i64 %words, 8
  %bytes = mul i64 %whole, 8
  %blocks = alloca i64, i64 %whole, align 64
  %codes = alloca i64, i64 %count, align 64
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %blocks, ptr align 8 %template, i64 %bytes, i1 false)
  br label %relocate
relocate:
  %done = phi i64 [ 0, %start ], [ %done.next, %move ]
  %triple = phi ptr [ %first, %start ], [ %triple.next, %move ]
  %is.left = icmp ult i64 %done, %relocations
  br i1 %is.left, label %move, label %ready
move:
  %place = load i64, ptr %triple
  %number.at = getelementptr i64, ptr %triple, i64 1
  %number = load i64, ptr %number.at
  %ahead.at = getelementptr i64, ptr %triple, i64 2
  %ahead = load i64, ptr %ahead.at
  %base.at = getelementptr i64, ptr %bases, i64 %number
  %base = load i64, ptr %base.at
  %moved = add i64 %base, %ahead
  %word = getelementptr i64, ptr %blocks, i64 %place
  store i64 %moved, ptr %word
  %done.next = add i64 %done, 1
  %triple.next = getelementptr i64, ptr %triple, i64 3
  br label %relocate
ready:
  %team = load ptr, ptr @team
  %is.team = icmp ne ptr %team, null
  %is.shared = icmp ne i64 %allowed, 0
  %wanted = and i1 %is.team, %is.shared
  br i1 %wanted, label %claim, label %alone
claim:
  %claimed = cmpxchg ptr %team, i64 0, i64 1 seq_cst seq_cst
  %is.mine = extractvalue { i64, i1 } %claimed, 1
  br i1 %is.mine, label %consider, label %alone
consider:
  %alone.at = getelementptr i8, ptr %team, i64 $alone$
  %alone.left = load i64, ptr %alone.at
  %is.alone = icmp ne i64 %alone.left, 0
  br i1 %is.alone, label %decline, label %share
decline:
  %alone.next = sub i64 %alone.left, 1
  store i64 %alone.next, ptr %alone.at
  store atomic i64 0, ptr %team seq_cst, align 8
  br label %alone
alone:
  %turn = phi i64 [ 0, %ready ], [ 0, %claim ], [ 0, %decline ], [ %turn.next, %fine ]
  %is.turn = icmp ult i64 %turn, %count
  br i1 %is.turn, label %call, label %fine.all
call:
  %own.first = mul i64 %turn, %words
  %own = getelementptr i64, ptr %blocks, i64 %own.first
  %own.code = call i64 %kernel(ptr %own)
  %is.fine = icmp eq i64 %own.code, 0
  br i1 %is.fine, label %fine, label %failed
fine:
  %turn.next = add i64 %turn, 1
  br label %alone
fine.all:
  ret i64 0
failed:
  %bad = phi i64 [ %turn, %call ], [ %scan, %scanned ]
  %bad.code = phi i64 [ %own.code, %call ], [ %scan.code, %scanned ]
  %bad.next = add i64 %bad, 1
  %bad.end = mul i64 %bad.next, %words
  %bad.last = sub i64 %bad.end, 1
  %bad.at = getelementptr i64, ptr %blocks, i64 %bad.last
  %bad.word = load i64, ptr %bad.at
  store i64 %bad.word, ptr %failure
  ret i64 %bad.code
share:
  %next = getelementptr i8, ptr %team, i64 $next$
  %generation = getelementptr i8, ptr %team, i64 $generation$
  %open = getelementptr i8, ptr %team, i64 $open$
  %inside = getelementptr i8, ptr %team, i64 $inside$
  %sleepers.at = getelementptr i8, ptr %team, i64 $sleepers$
  %latest.at = getelementptr i8, ptr %team, i64 $latest$
  %mutex = getelementptr i8, ptr %team, i64 $mutex$
  %change = getelementptr i8, ptr %team, i64 $change$
  %team.kernel = getelementptr i8, ptr %team, i64 $kernel$
  store ptr %kernel, ptr %team.kernel
  %team.blocks = getelementptr i8, ptr %team, i64 $blocks$
  store ptr %blocks, ptr %team.blocks
  %team.pitch = getelementptr i8, ptr %team, i64 $pitch$
  store i64 %pitch, ptr %team.pitch
  %team.count = getelementptr i8, ptr %team, i64 $count$
  store i64 %count, ptr %team.count
  %team.codes = getelementptr i8, ptr %team, i64 $codes$
  store ptr %codes, ptr %team.codes
  %team.allowed = getelementptr i8, ptr %team, i64 $allowed$
  store i64 %allowed, ptr %team.allowed
  %back = getelementptr i8, ptr %team, i64 $back$
  store atomic i64 0, ptr %back seq_cst, align 8
  store atomic i64 0, ptr %next seq_cst, align 8
  store atomic i64 1, ptr %open seq_cst, align 8
  atomicrmw add ptr %generation, i64 1 seq_cst
  %sleepers = load atomic i64, ptr %sleepers.at seq_cst, align 8
  %is.asleep = icmp ne i64 %sleepers, 0
  br i1 %is.asleep, label %judge, label %work
judge:
  %time = call i64 @now()
  %latest = load i64, ptr %latest.at
  %passed = sub i64 %time, %latest
  %is.burst = icmp ult i64 %passed, $burst$
  %is.long = icmp ugt i64 %duration, $worth$
  %is.worth = or i1 %is.burst, %is.long
  br i1 %is.worth, label %remember, label %work
remember:
  %skipped.at = getelementptr i8, ptr %team, i64 $skipped$
  %skipped = load i64, ptr %skipped.at
  %is.skipped = icmp ne i64 %skipped, 0
  br i1 %is.skipped, label %skip, label %judge.last
skip:
  %skipped.next = sub i64 %skipped, 1
  store i64 %skipped.next, ptr %skipped.at
  br label %work
judge.last:
  %joined.at = getelementptr i8, ptr %team, i64 $joined$
  %joined = load atomic i64, ptr %joined.at seq_cst, align 8
  %woken.at = getelementptr i8, ptr %team, i64 $woken$
  %woken = load i64, ptr %woken.at
  store i64 %joined, ptr %woken.at
  %useless.at = getelementptr i8, ptr %team, i64 $useless$
  %useless = load i64, ptr %useless.at
  %useless.twice = shl i64 %useless, 1
  %useless.more = or i64 %useless.twice, 1
  %useless.most = and i64 %useless.more, 127
  %is.useless = icmp eq i64 %joined, %woken
  %useless.next = select i1 %is.useless, i64 %useless.most, i64 0
  store i64 %useless.next, ptr %useless.at
  store i64 %useless.next, ptr %skipped.at
  br label %wake
wake:
  call i32 @rho_pthread_mutex_lock(ptr %mutex)
  call i32 @rho_pthread_cond_broadcast(ptr %change)
  call i32 @rho_pthread_mutex_unlock(ptr %mutex)
  br label %work
work:
  call void @work(ptr %team, i1 false)
  store atomic i64 0, ptr %open seq_cst, align 8
  %each = udiv i64 %duration, %count
  %turns = lshr i64 %each, 4
  %patience = add i64 %turns, 2000
  br label %await
await:
  %waits = phi i64 [ 0, %work ], [ %waits.next, %pausing ], [ %waits.next, %yielding ]
  %who = load atomic i64, ptr %inside seq_cst, align 8
  %is.nobody = icmp eq i64 %who, 0
  br i1 %is.nobody, label %together, label %waiting
waiting:
  %waits.next = add i64 %waits, 1
  %is.patient = icmp ult i64 %waits, %patience
  br i1 %is.patient, label %pausing, label %yielding
pausing:
  $pause$
  br label %await
yielding:
  call i32 @rho_sched_yield()
  br label %await
together:
  %hurt.at = getelementptr i8, ptr %team, i64 $hurt$
  %hurt = load i64, ptr %hurt.at
  %hurt.twice = shl i64 %hurt, 1
  %hurt.more = add i64 %hurt.twice, 8
  %hurt.least = call i64 @llvm.umin.i64(i64 %hurt.more, i64 256)
  %hurt.less = lshr i64 %hurt, 1
  %is.hurt = icmp uge i64 %waits, %patience
  %hurt.next = select i1 %is.hurt, i64 %hurt.least, i64 %hurt.less
  %alone.now = select i1 %is.hurt, i64 %hurt.least, i64 0
  store i64 %hurt.next, ptr %hurt.at
  store i64 %alone.now, ptr %alone.at
  %end = call i64 @now()
  store i64 %end, ptr %latest.at
  store atomic i64 0, ptr %team seq_cst, align 8
  br label %scanning
scanning:
  %scan = phi i64 [ 0, %together ], [ %scan.next, %scanned.fine ]
  %is.scan = icmp ult i64 %scan, %count
  br i1 %is.scan, label %scanned, label %fine.all
scanned:
  %scan.at = getelementptr i64, ptr %codes, i64 %scan
  %scan.code = load i64, ptr %scan.at
  %is.scan.fine = icmp eq i64 %scan.code, 0
  br i1 %is.scan.fine, label %scanned.fine, label %failed
scanned.fine:
  %scan.next = add i64 %scan, 1
  br label %scanning
}
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
""".replace("$burst$", str(BURST)).replace("$worth$", str(WORTH_WAKING))

_CALL: Final = """
declare double @rho_PyFloat_AsDouble(ptr)
declare i64 @rho_PyLong_AsLongLong(ptr)
declare ptr @rho_PyErr_Occurred()
declare void @rho_PyErr_Clear()
declare void @rho_Py_IncRef(ptr)
declare void @rho_Py_DecRef(ptr)
declare ptr @rho_PyTuple_New(i64)
declare i32 @rho_PyTuple_SetItem(ptr, i64, ptr)
declare ptr @rho_PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @rho_PyEval_SaveThread()
declare void @rho_PyEval_RestoreThread(ptr)
declare ptr @rho_PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @rho_PyArray_SetBaseObject(ptr, ptr)
declare i32 @rho_PyErr_ExceptionMatches(ptr)
@rho_PyExc_MemoryError = external global ptr
@rho_PyFloat_Type = external global i8
@rho_PyLong_Type = external global i8

; A Python function (fast call).  Its self is a tuple whose first item is an array of the words of a call.
define ptr @call(ptr %self, ptr %arguments, i64 %given) {
start:
  %self.at = getelementptr i8, ptr %self, i64 $items$
  %array = load ptr, ptr %self.at
  %array.data = getelementptr i8, ptr %array, i64 $data$
  %words = load ptr, ptr %array.data
  %wanted = load i64, ptr %words
  %values.at = getelementptr i64, ptr %words, i64 1
  %values = load i64, ptr %values.at
  %other.at = getelementptr i64, ptr %words, i64 2
  %other = load ptr, ptr %other.at
  %arrays.at = getelementptr i64, ptr %words, i64 3
  %arrays = load ptr, ptr %arrays.at
  %begin.at = getelementptr i64, ptr %words, i64 4
  %begin = load i64, ptr %begin.at
  %checks = getelementptr i64, ptr %words, i64 5
  %bases = alloca i64, i64 %values, align 8
  %numbers = alloca i64, i64 %values, align 8
  %owned = alloca ptr, i64 %values, align 8
  %failure = alloca i64, align 8
  %fatal = alloca i64, align 8
  store i64 0, ptr %fatal
  %is.count = icmp eq i64 %given, %wanted
  br i1 %is.count, label %check, label %different
different:
  call void @rho_Py_IncRef(ptr %other)
  ret ptr %other

check:
  %number = phi i64 [ 0, %start ], [ %number.next, %taken ]
  %wish = phi ptr [ %checks, %start ], [ %wish.next, %taken ]
  %is.more = icmp ult i64 %number, %wanted
  br i1 %is.more, label %argument, label %clear
argument:
  %argument.at = getelementptr ptr, ptr %arguments, i64 %number
  %object = load ptr, ptr %argument.at
  %type.at = getelementptr i8, ptr %object, i64 $type$
  %type = load ptr, ptr %type.at
  %dtype = load i64, ptr %wish
  %rank.wish = getelementptr i64, ptr %wish, i64 1
  %rank = load i64, ptr %rank.wish
  %axes = getelementptr i64, ptr %wish, i64 2
  switch i64 %dtype, label %is.array [ i64 0, label %is.float
                                       i64 1, label %is.int ]
is.float:
  %float.right = icmp eq ptr %type, @rho_PyFloat_Type
  br i1 %float.right, label %float, label %different
float:
  %float.value = call double @rho_PyFloat_AsDouble(ptr %object)
  %float.at = getelementptr i64, ptr %numbers, i64 %number
  store double %float.value, ptr %float.at
  %float.base = ptrtoint ptr %float.at to i64
  br label %taken
is.int:
  %int.right = icmp eq ptr %type, @rho_PyLong_Type
  br i1 %int.right, label %int, label %different
int:
  %int.value = call i64 @rho_PyLong_AsLongLong(ptr %object)
  %int.at = getelementptr i64, ptr %numbers, i64 %number
  store i64 %int.value, ptr %int.at
  %int.base = ptrtoint ptr %int.at to i64
  %int.odd = icmp eq i64 %int.value, -1
  br i1 %int.odd, label %int.doubt, label %taken
int.doubt:
  %int.error = call ptr @rho_PyErr_Occurred()
  %int.fine = icmp eq ptr %int.error, null
  br i1 %int.fine, label %taken, label %int.large
int.large:
  call void @rho_PyErr_Clear()
  br label %different
is.array:
  %array.right = icmp eq ptr %type, %arrays
  br i1 %array.right, label %array.dtype, label %different
array.dtype:
  %own.dtype.at = getelementptr i8, ptr %object, i64 $dtype$
  %own.dtype = load i64, ptr %own.dtype.at
  %own.rank.at = getelementptr i8, ptr %object, i64 $rank$
  %own.rank.32 = load i32, ptr %own.rank.at
  %own.rank = zext i32 %own.rank.32 to i64
  %dtype.right = icmp eq i64 %own.dtype, %dtype
  %rank.right = icmp eq i64 %own.rank, %rank
  %both.right = and i1 %dtype.right, %rank.right
  br i1 %both.right, label %array.axes, label %different
array.axes:
  %shape.at = getelementptr i8, ptr %object, i64 $shape$
  %shape = load ptr, ptr %shape.at
  %strides.at = getelementptr i8, ptr %object, i64 $strides$
  %strides = load ptr, ptr %strides.at
  br label %array.axis
array.axis:
  %axis = phi i64 [ 0, %array.axes ], [ %axis.next, %axis.stride ]
  %axis.wish = phi ptr [ %axes, %array.axes ], [ %axis.wish.next, %axis.stride ]
  %is.axis = icmp ult i64 %axis, %rank
  br i1 %is.axis, label %axis.length, label %array.data.at
axis.length:
  %length.at = getelementptr i64, ptr %shape, i64 %axis
  %length = load i64, ptr %length.at
  %length.wish = load i64, ptr %axis.wish
  %length.right = icmp eq i64 %length, %length.wish
  br i1 %length.right, label %axis.stride, label %different
axis.stride:
  %stride.at = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride.at
  %stride.wish.at = getelementptr i64, ptr %axis.wish, i64 1
  %stride.wish = load i64, ptr %stride.wish.at
  %stride.right = icmp eq i64 %stride, %stride.wish
  %axis.next = add i64 %axis, 1
  %axis.wish.next = getelementptr i64, ptr %axis.wish, i64 2
  br i1 %stride.right, label %array.axis, label %different
array.data.at:
  %data.at = getelementptr i8, ptr %object, i64 $data$
  %data = load i64, ptr %data.at
  br label %taken
taken:
  %base = phi i64 [ %float.base, %float ], [ %int.base, %int ], [ %int.base, %int.doubt ], [ %data, %array.data.at ]
  %base.at = getelementptr i64, ptr %bases, i64 %number
  store i64 %base, ptr %base.at
  %number.next = add i64 %number, 1
  %skipped = mul i64 %rank, 2
  %wish.next = getelementptr i64, ptr %axes, i64 %skipped
  br label %check

clear:
  %cleared = phi i64 [ 0, %check ], [ %cleared.next, %clearing ]
  %is.clearing = icmp ult i64 %cleared, %values
  br i1 %is.clearing, label %clearing, label %operations
clearing:
  %cleared.at = getelementptr ptr, ptr %owned, i64 %cleared
  store ptr null, ptr %cleared.at
  %cleared.next = add i64 %cleared, 1
  br label %clear
operations:
  %first = getelementptr i64, ptr %words, i64 %begin
  br label %operation

operation:
  %at = phi ptr [ %first, %operations ], [ %make.next, %keep ], [ %two.next, %launched ], [ %two.next, %freed ],
           [ %two.next, %align ], [ %show.next, %shown ]
  %code = load i64, ptr %at
  %which.at = getelementptr i64, ptr %at, i64 1
  %which = load i64, ptr %which.at
  %two.next = getelementptr i64, ptr %at, i64 2
  %third = load i64, ptr %two.next
  %fourth.at = getelementptr i64, ptr %at, i64 3
  %fourth = load i64, ptr %fourth.at
  %make.next = getelementptr i64, ptr %at, i64 5
  %which.owned = getelementptr ptr, ptr %owned, i64 %which
  switch i64 %code, label %make [ i64 1, label %room
                                  i64 2, label %launch
                                  i64 3, label %free
                                  i64 4, label %give
                                  i64 5, label %give.all
                                  i64 6, label %align
                                  i64 7, label %show ]
make:
  %make.dtype = inttoptr i64 %third to ptr
  call void @rho_Py_IncRef(ptr %make.dtype)
  %make.rank = trunc i64 %fourth to i32
  %make.shape.at = getelementptr i64, ptr %at, i64 4
  %make.shape.place = load i64, ptr %make.shape.at
  %make.shape = getelementptr i64, ptr %words, i64 %make.shape.place
  %made = call ptr @rho_PyArray_NewFromDescr(ptr %arrays, ptr %make.dtype, i32 %make.rank, ptr %make.shape, ptr null,
                                             ptr null, i32 0, ptr null)
  br label %keep.any
room:
  %room.callable = inttoptr i64 %third to ptr
  %room.first = inttoptr i64 %fourth to ptr
  %room.second.at = getelementptr i64, ptr %at, i64 4
  %room.second = load ptr, ptr %room.second.at
  %found = call ptr (ptr, ...) @rho_PyObject_CallFunctionObjArgs(ptr %room.callable, ptr %room.first, ptr %room.second, ptr null)
  br label %keep.any
keep.any:
  %kept = phi ptr [ %made, %make ], [ %found, %room ]
  %is.kept = icmp ne ptr %kept, null
  br i1 %is.kept, label %keep, label %no.memory
keep:
  store ptr %kept, ptr %which.owned
  %kept.data.at = getelementptr i8, ptr %kept, i64 $data$
  %kept.data = load i64, ptr %kept.data.at
  %kept.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %kept.data, ptr %kept.base
  br label %operation
launch:
  %launch.at = getelementptr i64, ptr %words, i64 %which
  %lock.at = getelementptr i64, ptr %launch.at, i64 5
  %lock = load i64, ptr %lock.at
  %is.unlocked = icmp ne i64 %lock, 0
  br i1 %is.unlocked, label %launch.unlocked, label %launch.locked
launch.locked:
  %locked.code = call i64 @launch(ptr %launch.at, ptr %bases, ptr %failure)
  br label %launched.any
launch.unlocked:
  %thread = call ptr @rho_PyEval_SaveThread()
  %unlocked.code = call i64 @launch(ptr %launch.at, ptr %bases, ptr %failure)
  call void @rho_PyEval_RestoreThread(ptr %thread)
  br label %launched.any
launched.any:
  %launch.code = phi i64 [ %locked.code, %launch.locked ], [ %unlocked.code, %launch.unlocked ]
  %is.done = icmp eq i64 %launch.code, 0
  br i1 %is.done, label %launched, label %drop
launched:
  br label %operation
free:
  %free.object = load ptr, ptr %which.owned
  store ptr null, ptr %which.owned
  call void @rho_Py_DecRef(ptr %free.object)
  br label %freed
freed:
  br label %operation
align:
  %align.at = getelementptr i64, ptr %bases, i64 %which
  %align.base = load i64, ptr %align.at
  %align.beyond = add i64 %align.base, 63
  %align.down = and i64 %align.beyond, -64
  store i64 %align.down, ptr %align.at
  br label %operation
show:
  %show.source.at = getelementptr i64, ptr %at, i64 5
  %show.source = load i64, ptr %show.source.at
  %show.next = getelementptr i64, ptr %at, i64 6
  %show.owned = getelementptr ptr, ptr %owned, i64 %show.source
  %show.whole = load ptr, ptr %show.owned
  %show.dtype = inttoptr i64 %third to ptr
  call void @rho_Py_IncRef(ptr %show.dtype)
  %show.rank = trunc i64 %fourth to i32
  %show.place.at = getelementptr i64, ptr %at, i64 4
  %show.place = load i64, ptr %show.place.at
  %show.shape = getelementptr i64, ptr %words, i64 %show.place
  %show.strides = getelementptr i64, ptr %show.shape, i64 %fourth
  %show.ahead.at = getelementptr i64, ptr %show.strides, i64 %fourth
  %show.ahead = load i64, ptr %show.ahead.at
  %show.base.at = getelementptr i64, ptr %bases, i64 %show.source
  %show.base = load i64, ptr %show.base.at
  %show.data = add i64 %show.base, %show.ahead
  %show.pointer = inttoptr i64 %show.data to ptr
  %show.made = call ptr @rho_PyArray_NewFromDescr(ptr %arrays, ptr %show.dtype, i32 %show.rank, ptr %show.shape,
                                                  ptr %show.strides, ptr %show.pointer, i32 1024, ptr null)
  %is.shown = icmp ne ptr %show.made, null
  br i1 %is.shown, label %show.holds, label %no.memory
show.holds:
  store ptr %show.made, ptr %which.owned
  call void @rho_Py_IncRef(ptr %show.whole)
  %show.held = call i32 @rho_PyArray_SetBaseObject(ptr %show.made, ptr %show.whole)
  %is.held = icmp eq i32 %show.held, 0
  br i1 %is.held, label %shown, label %no.memory
shown:
  %show.kept = getelementptr i64, ptr %bases, i64 %which
  store i64 %show.data, ptr %show.kept
  br label %operation
give:
  %given.object = load ptr, ptr %which.owned
  ret ptr %given.object
give.all:
  %tuple = call ptr @rho_PyTuple_New(i64 %which)
  %is.tuple = icmp ne ptr %tuple, null
  br i1 %is.tuple, label %fill, label %no.memory
fill:
  %item = phi i64 [ 0, %give.all ], [ %item.next, %filling ]
  %is.item = icmp ult i64 %item, %which
  br i1 %is.item, label %filling, label %filled
filling:
  %item.at = getelementptr i64, ptr %two.next, i64 %item
  %item.number = load i64, ptr %item.at
  %item.owned = getelementptr ptr, ptr %owned, i64 %item.number
  %item.object = load ptr, ptr %item.owned
  call i32 @rho_PyTuple_SetItem(ptr %tuple, i64 %item, ptr %item.object)
  %item.next = add i64 %item, 1
  br label %fill
filled:
  ret ptr %tuple

no.memory:
  %memory.error = load ptr, ptr @rho_PyExc_MemoryError
  %matches = call i32 @rho_PyErr_ExceptionMatches(ptr %memory.error)
  %is.memory = icmp ne i32 %matches, 0
  br i1 %is.memory, label %forgive, label %interrupted
forgive:
  call void @rho_PyErr_Clear()
  br label %drop
interrupted:
  store i64 1, ptr %fatal
  br label %drop
drop:
  br label %dropping
dropping:
  %dropped = phi i64 [ 0, %drop ], [ %dropped.next, %dropped.one ]
  %is.drop = icmp ult i64 %dropped, %values
  br i1 %is.drop, label %drop.one, label %dropped.all
dropped.all:
  %is.fatal.word = load i64, ptr %fatal
  %is.fatal = icmp ne i64 %is.fatal.word, 0
  br i1 %is.fatal, label %raise, label %different
raise:
  ret ptr null
drop.one:
  %drop.at = getelementptr ptr, ptr %owned, i64 %dropped
  %drop.object = load ptr, ptr %drop.at
  %is.object = icmp ne ptr %drop.object, null
  br i1 %is.object, label %drop.object.one, label %dropped.one
drop.object.one:
  call void @rho_Py_DecRef(ptr %drop.object)
  br label %dropped.one
dropped.one:
  %dropped.next = add i64 %dropped, 1
  br label %dropping
}
"""

_ADDRESSES: Final = """
define i64 @kernel(ptr %words) {
  store ptr @worker, ptr %words
  %second = getelementptr i64, ptr %words, i64 1
  store ptr @launch, ptr %second
  %third = getelementptr i64, ptr %words, i64 2
  store ptr @call, ptr %third
  %fourth = getelementptr i64, ptr %words, i64 3
  store ptr @team, ptr %fourth
  ret i64 0
}
"""
