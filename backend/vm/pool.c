/* The thread pool: workers that take chunks of one launch at a time.

   Note [The pool].  One word, `state`, holds the number of chunks left (16 bits, signed), the seats for further workers, and the
   chunks taken from the back.  A worker joins by taking a chunk and a seat in one exchange of that word, so a launch cannot end
   while a worker is in it; the caller takes chunks from the front and finally waits until all taken seats are free again.  The
   description of the launch is in the same cache line as the word, since each line that moves between processors costs as much as a
   thousand items.  Workers spin for a while, then sleep until `wakes` changes.  They avoid the processor of the thread that wakes
   them: threads that yield in turns (those of BLAS, for a tenth of a second after each product) make every other processor seem
   busy, and the system would place workers on the waker's.  Waking costs as much as a small launch: if no worker has joined since
   the last time, fewer and fewer small launches wake them.  After a launch that had to wait for a preempted worker, launches run
   alone for a time (by their `duration`) in proportion to that wait, longer each time: `alone` counts these nanoseconds down. */

enum {
    LOOKING = 40000,             /* nanoseconds that a worker looks for work before it sleeps */
    BURST = 50000,               /* nanoseconds between launches that count as a burst */
    SURELY_WORTH_WAKING = 500000, /* nanoseconds of a launch that always wakes workers */
    BEARABLE = 50000,            /* nanoseconds that a launch may wait for workers after its own chunks */
    PLACED = 8,                  /* the most workers that are pinned; with more, some processor is free */
    PROCESSORS = 1024,
    POLL_NANOSECONDS = 2000000, /* between two polls for interrupts in a long launch */
};

#define CHUNK ((word)1 << 48)
#define SEAT ((word)1 << 32)
#define FROM_BACK ((word)1)
#define NONE_LEFT (CHUNK - 1)
#define SEATS (CHUNK - SEAT)

struct pool {
    /* Used by the caller. */
    word busy, alone, latest, joined, woken, skipped, useless, hurt;
    /* The launch, in one cache line. */
    _Alignas(128) word state;
    kernel_of_block *kernel;
    char *blocks;
    word pitch, count, *codes;
    /* Used by the workers. */
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

/* A new pool without workers, never freed, since workers read it until the process ends.  Null without memory. */
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

/* The nanoseconds for which launches still run alone. */
static word *alone(void) { return &pool->alone; }

/* Registers a worker. */
static void enlist(struct pool *own)
{
    if (!host.sched_getcpu)
        return;
    word number = add(own->listed, 1);
    if (number < PLACED)
        store(own->workers[number], host.pthread_self(), __ATOMIC_SEQ_CST);
}

/* Keeps workers off the caller's processor, on which the system places woken threads if all others seem busy. */
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

/* Waits for work, asleep after a while; returns the word `state` at that time. */
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

/* Does a launch of this duration wake sleeping workers? */
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

/* The pool, claimed by this caller until `busy` is 0 again; null if the launch has to run alone (never for a long one). */
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

/* Lets no worker take a further chunk. */
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
