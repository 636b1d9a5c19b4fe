"""Operations of a call that work on numbers, go elsewhere, or ask Python, as LLVM text.

Neighbours: `call_text` (the others; has this inside its function), `native_text` (what the operations mean).
"""

from __future__ import annotations

from typing import Final

CODES: Final = """
                                  i64 8, label %ask
                                  i64 9, label %set
                                  i64 10, label %combine
                                  i64 11, label %product
                                  i64 12, label %load
                                  i64 13, label %measure
                                  i64 14, label %make.at
                                  i64 15, label %show.at
                                  i64 16, label %test
                                  i64 17, label %jump
                                  i64 18, label %jump.zero
                                  i64 19, label %move
                                  i64 20, label %number.of
                                  i64 22, label %place"""
"""Behind the codes of `call_text`."""
NEXT: Final = """, [ %ask.next, %asked ], [ %three.next, %set ], [ %six.next, %combine ],
           [ %four.next, %product ], [ %five.next, %loaded ], [ %four.next, %measured ], [ %make.next, %made.at ],
           [ %seven.next, %shown.at ], [ %two.next, %tested ], [ %jump.target, %jump ], [ %jump.zero.next, %jump.zero ],
           [ %three.next, %move ], [ %three.next, %numbered ],
           [ %three.next, %place ]"""
"""Where the next operation is, after each."""
STEPS: Final = """
ask:
  %ask.callable = inttoptr i64 %third to ptr
  %ask.first = getelementptr i64, ptr %at, i64 4
  br label %ask.more
ask.more:
  %ask.place = phi i64 [ 0, %ask ], [ %ask.place.next, %ask.taken ]
  %ask.is.more = icmp ult i64 %ask.place, %fourth
  br i1 %ask.is.more, label %ask.one, label %ask.all
ask.one:
  %ask.number.at = getelementptr i64, ptr %ask.first, i64 %ask.place
  %ask.number = load i64, ptr %ask.number.at
  %ask.is.given = icmp ult i64 %ask.number, %wanted
  %ask.from = select i1 %ask.is.given, ptr %arguments, ptr %owned
  %ask.object.at = getelementptr ptr, ptr %ask.from, i64 %ask.number
  %ask.object = load ptr, ptr %ask.object.at
  br label %ask.taken
ask.taken:
  %ask.put = getelementptr ptr, ptr %asking, i64 %ask.place
  store ptr %ask.object, ptr %ask.put
  %ask.place.next = add i64 %ask.place, 1
  br label %ask.more
ask.all:
  %ask.made = call ptr @rho_PyObject_Vectorcall(ptr %ask.callable, ptr %asking, i64 %fourth, ptr null)
  %ask.is.made = icmp ne ptr %ask.made, null
  br i1 %ask.is.made, label %asked, label %no.memory
asked:
  store ptr %ask.made, ptr %which.owned
  %ask.data.at = getelementptr i8, ptr %ask.made, i64 $data$
  %ask.data = load i64, ptr %ask.data.at
  %ask.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %ask.data, ptr %ask.base
  %ask.next = getelementptr i64, ptr %ask.first, i64 %fourth
  br label %operation
set:
  %set.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %third, ptr %set.base
  br label %operation
combine:
  %combine.factor = load i64, ptr %fifth.at
  %combine.ahead.at = getelementptr i64, ptr %at, i64 5
  %combine.ahead = load i64, ptr %combine.ahead.at
  %combine.first.at = getelementptr i64, ptr %bases, i64 %third
  %combine.first = load i64, ptr %combine.first.at
  %combine.second.at = getelementptr i64, ptr %bases, i64 %fourth
  %combine.second = load i64, ptr %combine.second.at
  %combine.scaled = mul i64 %combine.second, %combine.factor
  %combine.sum = add i64 %combine.first, %combine.scaled
  %combine.all = add i64 %combine.sum, %combine.ahead
  %combine.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %combine.all, ptr %combine.base
  br label %operation
product:
  %product.first.at = getelementptr i64, ptr %bases, i64 %third
  %product.first = load i64, ptr %product.first.at
  %product.second.at = getelementptr i64, ptr %bases, i64 %fourth
  %product.second = load i64, ptr %product.second.at
  %product.all = mul i64 %product.first, %product.second
  %product.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %product.all, ptr %product.base
  br label %operation
load:
  %load.from.at = getelementptr i64, ptr %bases, i64 %third
  %load.from = load i64, ptr %load.from.at
  %load.address = add i64 %load.from, %fourth
  %load.pointer = inttoptr i64 %load.address to ptr
  %load.bytes = load i64, ptr %fifth.at
  switch i64 %load.bytes, label %load.long [ i64 1, label %load.byte
                                             i64 4, label %load.int ]
load.byte:
  %loaded.byte = load i8, ptr %load.pointer, align 1
  %load.of.byte = zext i8 %loaded.byte to i64
  br label %loaded
load.int:
  %loaded.int = load i32, ptr %load.pointer, align 1
  %load.of.int = sext i32 %loaded.int to i64
  br label %loaded
load.long:
  %load.of.long = load i64, ptr %load.pointer, align 1
  br label %loaded
loaded:
  %load.value = phi i64 [ %load.of.byte, %load.byte ], [ %load.of.int, %load.int ], [ %load.of.long, %load.long ]
  %load.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %load.value, ptr %load.base
  br label %operation
measure:
  %length.object.at = getelementptr ptr, ptr %owned, i64 %third
  %length.object = load ptr, ptr %length.object.at
  %length.shape.at = getelementptr i8, ptr %length.object, i64 $shape$
  %length.shape = load ptr, ptr %length.shape.at
  br label %measured
measured:
  %length.axis = getelementptr i64, ptr %length.shape, i64 %fourth
  %length.value = load i64, ptr %length.axis
  %length.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %length.value, ptr %length.base
  br label %operation
make.at:
  %make.at.dtype = inttoptr i64 %third to ptr
  call void @rho_Py_IncRef(ptr %make.at.dtype)
  %make.at.rank = trunc i64 %fourth to i32
  %make.at.place = load i64, ptr %fifth.at
  %make.at.shape = getelementptr i64, ptr %bases, i64 %make.at.place
  %make.at.made = call ptr @rho_PyArray_NewFromDescr(ptr %arrays, ptr %make.at.dtype, i32 %make.at.rank, ptr %make.at.shape,
                                                     ptr null, ptr null, i32 0, ptr null)
  %make.at.is.made = icmp ne ptr %make.at.made, null
  br i1 %make.at.is.made, label %made.at, label %no.memory
made.at:
  store ptr %make.at.made, ptr %which.owned
  %made.at.data.at = getelementptr i8, ptr %make.at.made, i64 $data$
  %made.at.data = load i64, ptr %made.at.data.at
  %made.at.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %made.at.data, ptr %made.at.base
  br label %operation
show.at:
  %show.at.source.at = getelementptr i64, ptr %at, i64 5
  %show.at.source = load i64, ptr %show.at.source.at
  %show.at.is.given = icmp ult i64 %show.at.source, %wanted
  %show.at.from = select i1 %show.at.is.given, ptr %arguments, ptr %owned
  %show.at.whole.at = getelementptr ptr, ptr %show.at.from, i64 %show.at.source
  %show.at.whole = load ptr, ptr %show.at.whole.at
  %show.at.dtype = inttoptr i64 %third to ptr
  call void @rho_Py_IncRef(ptr %show.at.dtype)
  %show.at.rank = trunc i64 %fourth to i32
  %show.at.place = load i64, ptr %fifth.at
  %show.at.shape = getelementptr i64, ptr %bases, i64 %show.at.place
  %show.at.strides = getelementptr i64, ptr %show.at.shape, i64 %fourth
  %show.at.address.at = getelementptr i64, ptr %at, i64 6
  %show.at.address = load i64, ptr %show.at.address.at
  %show.at.data.at = getelementptr i64, ptr %bases, i64 %show.at.address
  %show.at.data = load i64, ptr %show.at.data.at
  %show.at.pointer = inttoptr i64 %show.at.data to ptr
  %show.at.made = call ptr @rho_PyArray_NewFromDescr(ptr %arrays, ptr %show.at.dtype, i32 %show.at.rank, ptr %show.at.shape,
                                                     ptr %show.at.strides, ptr %show.at.pointer, i32 1024, ptr null)
  %show.at.is.made = icmp ne ptr %show.at.made, null
  br i1 %show.at.is.made, label %show.at.holds, label %no.memory
show.at.holds:
  store ptr %show.at.made, ptr %which.owned
  call void @rho_Py_IncRef(ptr %show.at.whole)
  %show.at.held = call i32 @rho_PyArray_SetBaseObject(ptr %show.at.made, ptr %show.at.whole)
  %show.at.is.held = icmp eq i32 %show.at.held, 0
  br i1 %show.at.is.held, label %shown.at, label %no.memory
shown.at:
  %show.at.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %show.at.data, ptr %show.at.base
  br label %operation
test:
  %test.at = getelementptr i64, ptr %bases, i64 %which
  %test.value = load i64, ptr %test.at
  %test.fails = icmp slt i64 %test.value, 0
  br i1 %test.fails, label %drop, label %tested
tested:
  br label %operation
jump:
  %jump.target = getelementptr i64, ptr %words, i64 %which
  br label %operation
jump.zero:
  %jump.zero.at = getelementptr i64, ptr %bases, i64 %which
  %jump.zero.value = load i64, ptr %jump.zero.at
  %jump.is.zero = icmp eq i64 %jump.zero.value, 0
  %jump.zero.target = getelementptr i64, ptr %words, i64 %third
  %jump.zero.next = select i1 %jump.is.zero, ptr %jump.zero.target, ptr %three.next
  br label %operation
move:
  %move.owned.at = getelementptr ptr, ptr %owned, i64 %third
  %move.owned = load ptr, ptr %move.owned.at
  store ptr null, ptr %move.owned.at
  store ptr %move.owned, ptr %which.owned
  %move.base.at = getelementptr i64, ptr %bases, i64 %third
  %move.base = load i64, ptr %move.base.at
  %move.target = getelementptr i64, ptr %bases, i64 %which
  store i64 %move.base, ptr %move.target
  br label %operation
number.of:
  %number.of.at = getelementptr i64, ptr %bases, i64 %third
  %number.of.value = load i64, ptr %number.of.at
  %number.of.made = call ptr @rho_PyLong_FromLongLong(i64 %number.of.value)
  %number.of.is.made = icmp ne ptr %number.of.made, null
  br i1 %number.of.is.made, label %numbered, label %no.memory
numbered:
  store ptr %number.of.made, ptr %which.owned
  br label %operation
place:
  %place.of.at = getelementptr i64, ptr %bases, i64 %third
  %place.of = ptrtoint ptr %place.of.at to i64
  %place.base = getelementptr i64, ptr %bases, i64 %which
  store i64 %place.of, ptr %place.base
  br label %operation
"""
