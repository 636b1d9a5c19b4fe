"""What a plan's steps on one device become: a program of words, made once.

`program` has the words, `assemble` makes them from steps, `interpret` runs them in Python; `native.encode` makes numbers of them.
What a loop, a branch, a map and a fold are is said in `assemble` and nowhere else.
"""
