"""The team of threads, as LLVM text with places for numbers (`native_text`, Notes [The team] and [Words]).

Neighbours: `native_text` (puts the numbers in), `launch_text` (gives the team work).
"""

from __future__ import annotations

from typing import Final

TEAM: Final = """
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

; A helper; it never returns.  It joins a launch with the first piece it takes, and takes pieces from the back.
define i64 @worker(ptr %team) {
start:
  %state = getelementptr i8, ptr %team, i64 $state$
  %kernel.at = getelementptr i8, ptr %team, i64 $kernel$
  %blocks.at = getelementptr i8, ptr %team, i64 $blocks$
  %pitch.at = getelementptr i8, ptr %team, i64 $pitch$
  %count.at = getelementptr i8, ptr %team, i64 $count$
  %codes.at = getelementptr i8, ptr %team, i64 $codes$
  %sleepers = getelementptr i8, ptr %team, i64 $sleepers$
  %wakes.at = getelementptr i8, ptr %team, i64 $wakes$
  %looking.at = getelementptr i8, ptr %team, i64 $looking$
  %mutex = getelementptr i8, ptr %team, i64 $mutex$
  %change = getelementptr i8, ptr %team, i64 $change$
  %looking = load i64, ptr %looking.at
  call void @enlist(ptr %team)
  br label %idle
idle:
  %since = call i64 @now()
  br label %look
look:
  %turn = phi i64 [ 0, %idle ], [ %following, %rest ], [ %following, %ask ]
  %found = load atomic i64, ptr %state monotonic, align 8
  %is.open = call i1 @is_open(i64 %found)
  br i1 %is.open, label %join, label %rest
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
  %wakes = load i64, ptr %wakes.at
  %last = load atomic i64, ptr %state seq_cst, align 8
  %is.last.open = call i1 @is_open(i64 %last)
  br i1 %is.last.open, label %awake, label %wait
wait:
  call i32 @rho_pthread_cond_wait(ptr %change, ptr %mutex)
  %wakes.now = load i64, ptr %wakes.at
  %is.still = icmp eq i64 %wakes.now, %wakes
  br i1 %is.still, label %wait, label %awake
awake:
  atomicrmw sub ptr %sleepers, i64 1 seq_cst
  call i32 @rho_pthread_mutex_unlock(ptr %mutex)
  br label %idle
join:
  %wish = add i64 %found, $coming.in$
  %swapped = cmpxchg ptr %state, i64 %found, i64 %wish seq_cst monotonic
  %is.in = extractvalue { i64, i1 } %swapped, 1
  br i1 %is.in, label %in, label %idle
in:
  %kernel = load ptr, ptr %kernel.at
  %blocks = load ptr, ptr %blocks.at
  %pitch = load i64, ptr %pitch.at
  %count = load i64, ptr %count.at
  %codes = load ptr, ptr %codes.at
  %final = sub i64 %count, 1
  br label %piece
piece:
  %taken = phi i64 [ %found, %in ], [ %taken.next, %fine ]
  %before = and i64 %taken, 4294967295
  %place = sub i64 %final, %before
  %offset = mul i64 %place, %pitch
  %block = getelementptr i8, ptr %blocks, i64 %offset
  %code = call i64 %kernel(ptr %block)
  %is.fine = icmp eq i64 %code, 0
  br i1 %is.fine, label %fine, label %failed
failed:
  %code.at = getelementptr i64, ptr %codes, i64 %place
  store i64 %code, ptr %code.at
  br label %fine
fine:
  %taken.next = atomicrmw add ptr %state, i64 $from.back$ seq_cst
  %is.piece = icmp sgt i64 %taken.next, $none.left$
  br i1 %is.piece, label %piece, label %leave
leave:
  atomicrmw add ptr %state, i64 $place$ seq_cst
  br label %idle
}

; Has a launch pieces left, and room for one more helper?
define internal i1 @is_open(i64 %state) alwaysinline {
  %is.left = icmp sgt i64 %state, $none.left$
  %room = and i64 %state, $places$
  %is.room = icmp ne i64 %room, 0
  %both = and i1 %is.left, %is.room
  ret i1 %both
}
"""
