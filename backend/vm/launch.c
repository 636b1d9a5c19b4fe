/* Launches of kernels, as words.

   Note [Launches].  64-bit words: the kernel's address; the number of tasks; the words of a task's argument block; the most workers
   that may join; the estimated nanoseconds of all tasks; whether the interpreter lock is released; the number of loops; the number
   of relocations; then the relocations (index of a word in the blocks, buffer number, bytes to add); then the loops; then the
   blocks.  Without loops there is a block per task.  With loops there is one block, from which the block of each task is derived
   when the task starts: a task is one range of each loop, and the ranges of the first loop vary fastest.

   A launch that takes long (`host.long_work`) polls for interrupts between tasks; an interrupt ends it before its next task.  If
   Python has shut down meanwhile, a daemon thread that polls vanishes with its stack while workers continue, so the blocks of such a
   launch are not on the stack. */

enum {
    NO_MEMORY = -1,
    INTERRUPTED = -2, /* an exception is set */
    MOST_NEAR = 1024, /* the most words of a launch's blocks on the stack */
    MOST_AT_ONCE = 1024, /* the most tasks whose blocks are derived at once */
};

struct relocation { word place, slot, ahead; };

/* An address in the block that moves by these bytes for each item, and for each range, of the loop. */
struct move { word place, by_item, by_range; };

/* Ranges of `step` items, the last of which ends at `size`; `length`, `first`: indices of these words in the block. */
struct loop {
    word length, first, size, step, ranges, moves;
    struct move moved[];
};

struct launch {
    kernel_of_block *kernel;
    word tasks, words, workers, duration, is_unlocked, loops, relocations;
    struct relocation relocated[];
};

/* Lets Python handle signals and exceptions from other threads while the lock is released; 0 if an exception is set. */
static int polled(void **thread)
{
    host.PyEval_RestoreThread(*thread);
    object made = host.PyObject_Vectorcall(host.pause, 0, 0, 0);
    if (made)
        host.Py_DecRef(made);
    *thread = host.PyEval_SaveThread();
    return made != 0;
}

static const struct loop *loops_of(const struct launch *own)
{
    return (const struct loop *)(own->relocated + own->relocations);
}

static const struct loop *after(const struct loop *loop) { return (const struct loop *)(loop->moved + loop->moves); }

static const word *blocks_of(const struct launch *own)
{
    const struct loop *loop = loops_of(own);
    for (word number = 0; number < own->loops; number++)
        loop = after(loop);
    return (const word *)loop;
}

/* Copies the blocks and fills in the addresses of a run. */
static void relocate(const struct launch *own, const word *slots, word blocks, word *to)
{
    __builtin_memcpy(to, blocks_of(own), blocks * own->words * sizeof *to);
    for (const struct relocation *at = own->relocated; at < own->relocated + own->relocations; at++)
        to[at->place] = slots[at->slot] + at->ahead;
}

/* Derives the block of a task from that of all. */
static void cut(const struct launch *own, const word *from, word task, word *block)
{
    const struct loop *loop = loops_of(own);
    __builtin_memcpy(block, from, own->words * sizeof *block);
    for (word number = 0; number < own->loops; number++, loop = after(loop)) {
        word range = task % loop->ranges, first = range * loop->step;
        task /= loop->ranges;
        block[loop->first] = first;
        block[loop->length] = (range + 1 == loop->ranges ? loop->size : first + loop->step) - first;
        for (const struct move *move = loop->moved; move < loop->moved + loop->moves; move++)
            block[move->place] += first * move->by_item + range * move->by_range;
    }
}

/* Runs tasks with finished blocks; stores what each returns in `codes`.  Returns 0 if an interrupt ended the run. */
static int run_tasks(const struct launch *own, word *blocks, word count, word *codes, void **thread)
{
    word is_long = thread && own->duration >= host.long_work, words = own->words, due = is_long ? now() + POLL_NANOSECONDS : 0;
    struct pool *shared = own->workers && count > 1 ? claimed(own->duration) : 0;
    for (word task = 0; task < count; task++) {
        if (shared)
            return run_together(shared, own->kernel, (char *)(blocks + task * words), words * sizeof *blocks, count - task,
                codes + task, own->workers, own->duration, is_long ? thread : 0);
        if ((codes[task] = own->kernel(blocks + task * words)))
            return 1;
        if (!is_long)
            continue;
        if (now() >= due) {
            if (!polled(thread))
                return 0;
            due = now() + POLL_NANOSECONDS;
        }
        if (own->workers && task + 2 < count)
            shared = claimed(own->duration); /* another launch may have had it before */
    }
    return 1;
}

/* 0, or the code of the first task that fails; the last word of its block is stored at `failure`. */
static word launch(const struct launch *own, const word *slots, word *failure)
{
    _Alignas(64) word near[MOST_NEAR];
    word words = own->words, most = own->loops && own->tasks > MOST_AT_ONCE ? MOST_AT_ONCE : own->tasks, code = 0;
    word all = most * words, more = own->loops ? words : 0;
    int is_near = all + more + most <= MOST_NEAR && own->duration < host.long_work;
    word *blocks = is_near ? near : host.malloc((all + more + most) * sizeof *blocks);
    if (!blocks)
        return NO_MEMORY;
    word *codes = blocks + all, *pattern = codes + most;
    relocate(own, slots, own->loops ? 1 : own->tasks, own->loops ? pattern : blocks);
    if (own->tasks == 1 && blocks == near && !own->is_unlocked) { /* takes half the time for tiny kernels */
        if ((code = own->kernel(blocks)))
            *failure = blocks[words - 1];
        return code;
    }
    void *thread = own->is_unlocked ? host.PyEval_SaveThread() : 0;
    for (word done = 0, count; done < own->tasks && !code; done += count) {
        count = own->tasks - done < most ? own->tasks - done : most;
        for (word task = 0; own->loops && task < count; task++)
            cut(own, pattern, done + task, blocks + task * words);
        __builtin_memset(codes, 0, count * sizeof *codes);
        code = run_tasks(own, blocks, count, codes, thread ? &thread : 0) ? 0 : INTERRUPTED;
        for (word task = 0; !code && task < count; task++)
            if ((code = codes[task]) && words)
                *failure = blocks[(task + 1) * words - 1];
    }
    if (thread)
        host.PyEval_RestoreThread(thread);
    if (blocks != near)
        host.free(blocks);
    return code;
}
