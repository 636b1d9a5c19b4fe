"""Which processors helpers run on, as LLVM text with places for numbers (`native_text`, Note [The team]).

Neighbours: `team_text` (calls this), `native_text` (puts the numbers in).
"""

from __future__ import annotations

from typing import Final

PLACED: Final = 8
"""Helpers whose processors are chosen at most: where there are more, some processor is free."""
PLACE: Final = """
declare i32 @rho_sched_getcpu()
declare i32 @rho_sched_getaffinity(i32, i64, ptr)
declare ptr @rho_pthread_self()
declare i32 @rho_pthread_setaffinity_np(ptr, i64, ptr)

; A helper says who it is.
define internal void @enlist(ptr %team) {
  %listed.at = getelementptr i8, ptr %team, i64 $listed$
  %own = call ptr @rho_pthread_self()
  %number = atomicrmw add ptr %listed.at, i64 1 seq_cst
  %is.one = icmp ult i64 %number, $placed$
  br i1 %is.one, label %list, label %done
list:
  %first = getelementptr i8, ptr %team, i64 $helpers$
  %place = getelementptr ptr, ptr %first, i64 %number
  store atomic ptr %own, ptr %place seq_cst, align 8
  br label %done
done:
  ret void
}

; Keep helpers off the processor of the caller: the system puts a thread beside whoever wakes it where all others seem taken.
define internal void @place(ptr %team) {
start:
  %cpu = call i32 @rho_sched_getcpu()
  %taken.at = getelementptr i8, ptr %team, i64 $taken$
  %taken = load i64, ptr %taken.at
  %listed.at = getelementptr i8, ptr %team, i64 $listed$
  %listed = load atomic i64, ptr %listed.at seq_cst, align 8
  %wide = zext i32 %cpu to i64
  %known = shl i64 %wide, 8
  %both = or i64 %known, %listed
  %is.same = icmp eq i64 %both, %taken
  %is.many = icmp ugt i64 %listed, $placed$
  %is.odd = icmp ugt i32 %cpu, 1023
  %skips = or i1 %is.same, %is.many
  %stays = or i1 %skips, %is.odd
  br i1 %stays, label %done, label %ask
ask:
  %mask = alloca [16 x i64], align 8
  call void @llvm.memset.p0.i64(ptr align 8 %mask, i8 0, i64 128, i1 false)
  %failed = call i32 @rho_sched_getaffinity(i32 0, i64 128, ptr %mask)
  %is.failed = icmp ne i32 %failed, 0
  br i1 %is.failed, label %done, label %clear
clear:
  %which = lshr i64 %wide, 6
  %bit = and i64 %wide, 63
  %one = shl i64 1, %bit
  %others = xor i64 %one, -1
  %word.at = getelementptr i64, ptr %mask, i64 %which
  %word = load i64, ptr %word.at
  %left = and i64 %word, %others
  store i64 %left, ptr %word.at
  %whole = load <16 x i64>, ptr %mask, align 8
  %any = call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %whole)
  %is.none = icmp eq i64 %any, 0
  br i1 %is.none, label %done, label %tell
tell:
  store i64 %both, ptr %taken.at
  %first = getelementptr i8, ptr %team, i64 $helpers$
  br label %next
next:
  %number = phi i64 [ 0, %tell ], [ %number.next, %moved ]
  %is.next = icmp ult i64 %number, %listed
  br i1 %is.next, label %move, label %done
move:
  %helper.at = getelementptr ptr, ptr %first, i64 %number
  %helper = load atomic ptr, ptr %helper.at seq_cst, align 8
  %number.next = add i64 %number, 1
  %is.there = icmp ne ptr %helper, null
  br i1 %is.there, label %set, label %moved
set:
  call i32 @rho_pthread_setaffinity_np(ptr %helper, i64 128, ptr %mask)
  br label %moved
moved:
  br label %next
done:
  ret void
}
declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)
""".replace("$placed$", str(PLACED))
"""Where the system says which processor a thread is on."""
NO_PLACE: Final = """
define internal void @enlist(ptr %team) {
  ret void
}
define internal void @place(ptr %team) {
  ret void
}
"""
