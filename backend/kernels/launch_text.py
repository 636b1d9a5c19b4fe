"""Launches, as LLVM text with places for numbers (`native_text`, Notes [The team] and [Words]).

Neighbours: `native_text` (puts the numbers in), `team_text` (the helpers), `call_text` (launches).
"""

from __future__ import annotations

from typing import Final

from .ir import NO_MEMORY

BURST: Final = 50_000
"""Nanoseconds since the last launch within which another is taken for one of many."""
WORTH_WAKING: Final = 60_000
"""Nanoseconds of a lone launch that are worth waking helpers for."""
SURELY_WORTH_WAKING: Final = 500_000
"""Nanoseconds of a launch that wakes helpers whatever became of those woken before: waking them is nothing beside it."""
BEARABLE: Final = 50_000
"""Nanoseconds that a launch may wait for its helpers beyond the time it worked itself; alone it would have taken as long."""
MOST_NEAR: Final = 1 << 10
"""Words of a launch's blocks that lie on the stack; more are taken from the C library."""

LAUNCH: Final = (
    """
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
  %room = add i64 %whole, %count
  %is.large = icmp ugt i64 %room, $most$
  br i1 %is.large, label %beside, label %near
near:
  %near.room = alloca i64, i64 %room, align 64
  br label %copy
beside:
  %room.bytes = mul i64 %room, 8
  %beside.room = call ptr @rho_malloc(i64 %room.bytes)
  %is.room = icmp ne ptr %beside.room, null
  br i1 %is.room, label %copy, label %no.room
no.room:
  ret i64 $none$
copy:
  %blocks = phi ptr [ %near.room, %near ], [ %beside.room, %beside ]
  %codes = getelementptr i64, ptr %blocks, i64 %whole
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %blocks, ptr align 8 %template, i64 %bytes, i1 false)
  br label %relocate
relocate:
  %done = phi i64 [ 0, %copy ], [ %done.next, %move ]
  %triple = phi ptr [ %first, %copy ], [ %triple.next, %move ]
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
  %alone.less = call i64 @llvm.umax.i64(i64 %duration, i64 1000)
  %alone.next = call i64 @llvm.usub.sat.i64(i64 %alone.left, i64 %alone.less)
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
  br label %over
over:
  %result = phi i64 [ 0, %fine.all ], [ %bad.code, %failed ]
  br i1 %is.large, label %return.room, label %return
return.room:
  call void @rho_free(ptr %blocks)
  br label %return
return:
  ret i64 %result
failed:
  %bad = phi i64 [ %turn, %call ], [ %scan, %scanned ]
  %bad.code = phi i64 [ %own.code, %call ], [ %scan.code, %scanned ]
  %bad.next = add i64 %bad, 1
  %bad.end = mul i64 %bad.next, %words
  %bad.last = sub i64 %bad.end, 1
  %bad.at = getelementptr i64, ptr %blocks, i64 %bad.last
  %bad.word = load i64, ptr %bad.at
  store i64 %bad.word, ptr %failure
  br label %over
share:
  %state = getelementptr i8, ptr %team, i64 $state$
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
  %codes.bytes = mul i64 %count, 8
  call void @llvm.memset.p0.i64(ptr align 8 %codes, i8 0, i64 %codes.bytes, i1 false)
  %all.left = shl i64 %count, 48
  %all.room = shl i64 %allowed, 32
  %all = or i64 %all.left, %all.room
  store atomic i64 %all, ptr %state seq_cst, align 8
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
  %is.surely = icmp ugt i64 %duration, $surely$
  br i1 %is.surely, label %wake, label %doubt
doubt:
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
  %joined = load i64, ptr %joined.at
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
  call void @place(ptr %team)
  call i32 @rho_pthread_mutex_lock(ptr %mutex)
  %wakes.at = getelementptr i8, ptr %team, i64 $wakes$
  %wakes = load i64, ptr %wakes.at
  %wakes.next = add i64 %wakes, 1
  store i64 %wakes.next, ptr %wakes.at
  call i32 @rho_pthread_cond_broadcast(ptr %change)
  call i32 @rho_pthread_mutex_unlock(ptr %mutex)
  br label %work
work:
  %began = call i64 @now()
  br label %take
take:
  %front = phi i64 [ 0, %work ], [ %front.next, %took ], [ %front.next, %took.failed ]
  %taken = atomicrmw add ptr %state, i64 $from.front$ seq_cst
  %is.piece = icmp sgt i64 %taken, $none.left$
  br i1 %is.piece, label %piece, label %finish
piece:
  %piece.first = mul i64 %front, %words
  %piece.block = getelementptr i64, ptr %blocks, i64 %piece.first
  %piece.code = call i64 %kernel(ptr %piece.block)
  %front.next = add i64 %front, 1
  %is.piece.fine = icmp eq i64 %piece.code, 0
  br i1 %is.piece.fine, label %took, label %took.failed
took:
  br label %take
took.failed:
  %piece.code.at = getelementptr i64, ptr %codes, i64 %front
  store i64 %piece.code, ptr %piece.code.at
  br label %take
finish:
  %front.end = phi i64 [ %front, %take ]
  %finished = call i64 @now()
  %each = udiv i64 %duration, %count
  %turns = lshr i64 %each, 4
  %patience = add i64 %turns, 2000
  br label %await
await:
  %waits = phi i64 [ 0, %finish ], [ %waits.next, %pausing ], [ %waits.next, %yielding ]
  %now.state = load atomic i64, ptr %state acquire, align 8
  %now.room = lshr i64 %now.state, 32
  %now.free = and i64 %now.room, 65535
  %is.nobody = icmp eq i64 %now.free, %allowed
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
  %end = call i64 @now()
  %helped.pieces = sub i64 %count, %front.end
  %joined.count.at = getelementptr i8, ptr %team, i64 $joined$
  %joined.count = load i64, ptr %joined.count.at
  %joined.more = add i64 %joined.count, %helped.pieces
  store i64 %joined.more, ptr %joined.count.at
  %waited = sub i64 %end, %finished
  %worked = sub i64 %finished, %began
  %bearable = add i64 %worked, $bearable$
  %hurt.at = getelementptr i8, ptr %team, i64 $hurt$
  %hurt = load i64, ptr %hurt.at
  %hurt.twice = shl i64 %hurt, 1
  %hurt.more = add i64 %hurt.twice, 8
  %hurt.least = call i64 @llvm.umin.i64(i64 %hurt.more, i64 256)
  %hurt.less = lshr i64 %hurt, 1
  %is.hurt = icmp ugt i64 %waited, %bearable
  %hurt.next = select i1 %is.hurt, i64 %hurt.least, i64 %hurt.less
  %alone.long = mul i64 %waited, %hurt.least
  %alone.some = lshr i64 %alone.long, 2
  %alone.now = select i1 %is.hurt, i64 %alone.some, i64 0
  store i64 %hurt.next, ptr %hurt.at
  store i64 %alone.now, ptr %alone.at
  store i64 %end, ptr %latest.at
  store atomic i64 0, ptr %team release, align 8
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
declare ptr @rho_malloc(i64)
declare void @rho_free(ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
""".replace("$burst$", str(BURST))
    .replace("$worth$", str(WORTH_WAKING))
    .replace("$surely$", str(SURELY_WORTH_WAKING))
    .replace("$bearable$", str(BEARABLE))
    .replace("$most$", str(MOST_NEAR))
    .replace("$none$", str(NO_MEMORY))
)
