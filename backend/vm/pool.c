/* The thread pool: workers that take chunks of one launch at a time.

   Note [The pool].  One word, `state`, says what there is to be taken: chunks that are left (16 bits, signed), workers that may still
   come in, chunks taken from the back.  A worker comes in by taking a chunk and a seat in one exchange of that word, so that whoever
   is in finds a launch that stays; the caller takes from the front, waits until all seats are free, and waits for none that nobody
   has taken.  What a launch is lies beside the word, in one cache line, for each line that goes from one processor to another costs
   as much as a thousand items.  Workers look for work for a while, then sleep until `wakes` changes.  They stay off the processor of
   whoever wakes them: threads that wait by turns (those of BLAS, for a tenth of a second after each product) make every other
   processor look taken, and the system would put them on that one.  Waking them costs as much as small work does: where nobody has
   come since the last time, fewer and fewer small launches wake them.  A launch that had to wait for a worker that the system had put
   aside is followed by launches alone, whose time together (by their `duration`) is in proportion to that wait, and longer each time:
   `alone` counts these nanoseconds down. */

enum {
    LOOKING = 40000,             /* nanoseconds that a worker looks for work before it sleeps */
    BURST = 50000,               /* nanoseconds since the last launch within which another is taken for one of many */
    SURELY_WORTH_WAKING = 500000, /* of a launch that wakes workers whatever became of those woken before */
    BEARABLE = 50000,            /* nanoseconds that a launch may wait for its workers beyond the time it worked itself */
    PLACED = 8,                  /* workers whose processors are chosen at most: of more, some processor is free */
    PROCESSORS = 1024,
    POLL_NANOSECONDS = 2000000, /* between two looks for interrupts of a long launch */
};

#define CHUNK ((word)1 << 48)
#define SEAT ((word)1 << 32)
#define FROM_BACK ((word)1)
#define NONE_LEFT (CHUNK - 1)
#define SEATS (CHUNK - SEAT)

struct pool {
    /* The caller's. */
    word busy, alone, latest, joined, woken, skipped, useless, hurt;
    /* A launch, in one line. */
    _Alignas(128) word state;
    kernel_of_block *kernel;
    char *blocks;
    word pitch, count, *codes;
    /* The workers'. */
    _Alignas(128) word sleepers;
    word wakes;
    _Alignas(64) char mutex[128];
    _Alignas(64) char change[128];
    _Alignas(64) word listed;
    word taken;
    void *workers[PLACED];
};

static struct pool *pool;

#define load(place, order) __atomic_load_n(&(place), order)
#define store(place, value, order) __atomic_store_n(&(place), value, order)
#define add(place, value) __atomic_fetch_add(&(place), value, __ATOMIC_SEQ_CST)

static int exchange(word *place, word old, word new)
{
    return __atomic_compare_exchange_n(place, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* A new pool without workers, never given back: workers look at it until the process is gone.  Null: there is no memory. */
static struct pool *renew(void)
{
    char *memory = host.malloc(sizeof(struct pool) + 128);
    if (!memory)
        return 0;
    struct pool *made = (struct pool *)(((word)memory + 127) & -128);
    __builtin_memset(made, 0, sizeof *made);
    host.pthread_mutex_init(made->mutex, 0);
    host.pthread_cond_init(made->change, 0);
    return pool = made;
}

/* The nanoseconds that launches are still to come alone. */
static word *alone(void) { return &pool->alone; }

/* A worker says who it is. */
static void enlist(struct pool *own)
{
    if (!host.sched_getcpu)
        return;
    word number = add(own->listed, 1);
    if (number < PLACED)
        store(own->workers[number], host.pthread_self(), __ATOMIC_SEQ_CST);
}

/* Keep workers off the caller's processor: the system puts a thread beside whoever wakes it where all others seem taken. */
static void spread(struct pool *own)
{
    if (!host.sched_getcpu)
        return;
    word processor = host.sched_getcpu(), listed = load(own->listed, __ATOMIC_SEQ_CST), known = processor << 8 | listed;
    if (known == own->taken || listed > PLACED || processor < 0 || processor >= PROCESSORS)
        return;
    word mask[PROCESSORS / 64] = {0}, any = 0;
    if (host.sched_getaffinity(0, sizeof mask, mask))
        return;
    mask[processor >> 6] &= ~((word)((unsigned long)1 << (processor & 63)));
    for (word i = 0; i < PROCESSORS / 64; i++)
        any |= mask[i];
    if (!any)
        return;
    own->taken = known;
    for (word number = 0; number < listed; number++) {
        void *worker = load(own->workers[number], __ATOMIC_SEQ_CST);
        if (worker)
            host.pthread_setaffinity_np(worker, sizeof mask, mask);
    }
}

/* Has a launch chunks left, and a seat for one more worker? */
static inline int is_open(word state) { return state > NONE_LEFT && (state & SEATS); }

/* What the word was when there was work; sleeps after a while. */
static word work_to_come(struct pool *own)
{
    word since = now();
    for (word turn = 1;; turn++) {
        word state = load(own->state, __ATOMIC_RELAXED);
        if (is_open(state))
            return state;
        rho_pause();
        if (turn & 63 || now() - since <= LOOKING)
            continue;
        host.pthread_mutex_lock(own->mutex);
        add(own->sleepers, 1);
        word wakes = own->wakes;
        if (!is_open(load(own->state, __ATOMIC_SEQ_CST)))
            do
                host.pthread_cond_wait(own->change, own->mutex);
            while (own->wakes == wakes);
        add(own->sleepers, -1);
        host.pthread_mutex_unlock(own->mutex);
        since = now();
    }
}

/* A thread of the pool; it never returns. */
static void worker(struct pool *own)
{
    enlist(own);
    for (;;) {
        word taken = work_to_come(own);
        if (!exchange(&own->state, taken, taken + FROM_BACK - CHUNK - SEAT))
            continue;
        do {
            word number = own->count - 1 - (taken & (SEAT - 1));
            word code = own->kernel((word *)(own->blocks + number * own->pitch));
            if (code)
                own->codes[number] = code;
            taken = add(own->state, FROM_BACK - CHUNK);
        } while (taken > NONE_LEFT);
        add(own->state, SEAT);
    }
}

static void wake(struct pool *own)
{
    spread(own);
    host.pthread_mutex_lock(own->mutex);
    own->wakes++;
    host.pthread_cond_broadcast(own->change);
    host.pthread_mutex_unlock(own->mutex);
}

/* Are workers that sleep woken for a launch of so many nanoseconds? */
static int is_worth_waking(struct pool *own, word duration)
{
    if (duration > SURELY_WORTH_WAKING)
        return 1;
    if (now() - own->latest >= BURST && duration <= host.worth_waking)
        return 0;
    if (own->skipped) {
        own->skipped--;
        return 0;
    }
    own->useless = own->joined == own->woken ? (own->useless << 1 | 1) & 127 : 0;
    own->woken = own->joined;
    own->skipped = own->useless;
    return 1;
}

/* The pool, for the one caller who has it until `busy` is 0 again; null where a launch comes alone, which a long one never does. */
static struct pool *claimed(word duration)
{
    struct pool *own = pool;
    if (!own || !exchange(&own->busy, 0, 1))
        return 0;
    if (!own->alone || duration >= host.long_work)
        return own;
    word passed = duration > 1000 ? duration : 1000;
    own->alone = own->alone > passed ? own->alone - passed : 0;
    store(own->busy, 0, __ATOMIC_SEQ_CST);
    return 0;
}

static int polled(void **thread);

/* Nobody takes a chunk any more. */
static void cancel(struct pool *own)
{
    word state;
    do
        state = load(own->state, __ATOMIC_SEQ_CST);
    while (state > NONE_LEFT && !exchange(&own->state, state, state & (CHUNK - 1)));
}

/* Run the chunks of a launch with up to so many workers; what each returned is in `codes`, which are 0 before.  With a thread state
   it looks for interrupts between chunks.  0: one ended it, once nobody was at work any more. */
static int run_together(struct pool *own, kernel_of_block *kernel, char *blocks, word pitch, word count, word *codes, word workers,
    word duration, void **thread)
{
    own->kernel = kernel, own->blocks = blocks, own->pitch = pitch, own->count = count, own->codes = codes;
    store(own->state, count * CHUNK + workers * SEAT, __ATOMIC_SEQ_CST);
    if (load(own->sleepers, __ATOMIC_SEQ_CST) && is_worth_waking(own, duration))
        wake(own);
    word began = now(), due = began + POLL_NANOSECONDS, front = 0, is_interrupted = 0;
    while (add(own->state, -CHUNK) > NONE_LEFT) {
        word code = kernel((word *)(blocks + front * pitch));
        if (code)
            codes[front] = code;
        front++;
        if (!thread || now() < due)
            continue;
        if ((is_interrupted = !polled(thread)))
            cancel(own);
        due = now() + POLL_NANOSECONDS;
    }
    word finished = now(), patience = duration / count / 16 + 2000;
    for (word waits = 0; (load(own->state, __ATOMIC_ACQUIRE) & SEATS) != workers * SEAT; waits++)
        if (waits < patience)
            rho_pause();
        else
            host.sched_yield();
    word end = now(), waited = end - finished, is_hurt = waited > finished - began + BEARABLE;
    word more = own->hurt * 2 + 8, hurt = more < 256 ? more : 256;
    own->joined += count - front;
    own->alone = is_hurt ? waited * hurt / 4 : 0;
    own->hurt = is_hurt ? hurt : own->hurt / 2;
    own->latest = end;
    store(own->busy, 0, __ATOMIC_RELEASE);
    return !is_interrupted;
}
