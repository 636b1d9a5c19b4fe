"""A Python function that checks its arguments, makes arrays and launches kernels, as LLVM text with places for numbers.

Its self is a tuple whose first item is an array of the words of a call (`native_text`, Note [Words]).

Neighbours: `native_text` (puts the numbers in), `launch_text` (launches).
"""

from __future__ import annotations

from typing import Final

from .step_text import CODES, NEXT, STEPS

CALL: Final = (
    """
declare double @rho_PyFloat_AsDouble(ptr)
declare i64 @rho_PyLong_AsLongLong(ptr)
declare ptr @rho_PyErr_Occurred()
declare void @rho_PyErr_Clear()
declare void @rho_Py_IncRef(ptr)
declare void @rho_Py_DecRef(ptr)
declare ptr @rho_PyTuple_New(i64)
declare i32 @rho_PyTuple_SetItem(ptr, i64, ptr)
declare ptr @rho_PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @rho_PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @rho_PyLong_FromLongLong(i64)
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
  %asking = alloca ptr, i64 %values, align 8
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
           [ %two.next, %align ], [ %show.next, %shown ]$next$
  %code = load i64, ptr %at
  %which.at = getelementptr i64, ptr %at, i64 1
  %which = load i64, ptr %which.at
  %two.next = getelementptr i64, ptr %at, i64 2
  %third = load i64, ptr %two.next
  %fourth.at = getelementptr i64, ptr %at, i64 3
  %fourth = load i64, ptr %fourth.at
  %fifth.at = getelementptr i64, ptr %at, i64 4
  %three.next = getelementptr i64, ptr %at, i64 3
  %four.next = getelementptr i64, ptr %at, i64 4
  %five.next = getelementptr i64, ptr %at, i64 5
  %six.next = getelementptr i64, ptr %at, i64 6
  %seven.next = getelementptr i64, ptr %at, i64 7
  %make.next = getelementptr i64, ptr %at, i64 5
  %which.owned = getelementptr ptr, ptr %owned, i64 %which
  switch i64 %code, label %make [ i64 1, label %room
                                  i64 2, label %launch
                                  i64 3, label %free
                                  i64 4, label %give
                                  i64 5, label %give.all
                                  i64 6, label %align
                                  i64 7, label %show$codes$ ]
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
  %show.is.given = icmp ult i64 %show.source, %wanted
  %show.from = select i1 %show.is.given, ptr %arguments, ptr %owned
  %show.owned = getelementptr ptr, ptr %show.from, i64 %show.source
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
  br label %operation$steps$
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
""".replace("$codes$", CODES)
    .replace("$next$", NEXT)
    .replace("$steps$", STEPS)
)

ADDRESSES: Final = """
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
