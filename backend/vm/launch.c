/* Launches of kernels, as words.

   Note [Launches].  64-bit words: the kernel's address; the number of chunks; the words of a chunk's argument block; how many workers
   may join; nanoseconds that it takes, roughly; whether the interpreter's lock is released; the number of relocations; for each of
   these the place of a word among the blocks of all chunks, the slot of an address, and bytes to be added; then the blocks. */

enum {
    NO_MEMORY = -1,
    MOST_NEAR = 1024, /* words of a launch's blocks that lie on the stack */
};

struct relocation { word place, slot, ahead; };

struct launch {
    kernel_of_block *kernel;
    word count, words, workers, duration, is_unlocked, relocations;
    struct relocation first[];
};

/* 0, or what the first chunk that fails returns, the last word of whose block is stored at `failure`. */
static word launch(const struct launch *own, const word *slots, word *failure)
{
    _Alignas(64) word near[MOST_NEAR];
    word count = own->count, words = own->words, all = count * words, code = 0, bad = 0;
    word *blocks = all + count <= MOST_NEAR ? near : host.malloc((all + count) * sizeof *blocks);
    if (!blocks)
        return NO_MEMORY;
    __builtin_memcpy(blocks, own->first + own->relocations, all * sizeof *blocks);
    for (const struct relocation *at = own->first; at < own->first + own->relocations; at++)
        blocks[at->place] = slots[at->slot] + at->ahead;
    struct pool *shared = own->workers ? claimed(own->duration) : 0;
    if (shared) {
        word *codes = blocks + all;
        run_together(shared, own->kernel, (char *)blocks, words * sizeof *blocks, count, codes, own->workers, own->duration);
        for (; bad < count && !(code = codes[bad]); bad++)
            ;
    } else {
        for (; bad < count && !(code = own->kernel(blocks + bad * words)); bad++)
            ;
    }
    if (code)
        *failure = blocks[(bad + 1) * words - 1];
    if (blocks != near)
        host.free(blocks);
    return code;
}
