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
  call void @enlist(ptr %team)
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
