/* The pool and launches by themselves, for gcc's sanitizers: chunks run once each, failures are the first chunk's, several callers
   take turns. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../backend/vm/runtime.c"

void rho_pause(void) { }

enum { CHUNKS = 12, WORDS = 3, CALLERS = 3, ROUNDS = 400, WORKERS = 3 };

/* A block: the address of the counts, the number of its own, what is reported. */
static word count_up(word *block)
{
    word *counts = (word *)block[0];
    counts[block[1]]++;
    block[2] = block[1] * 10;
    return block[1] >= counts[CHUNKS] ? 7 : 0;
}

static void *caller(void *argument)
{
    word counts[CHUNKS + 1], failure = 0, *bases = (word[]){(word)counts};
    word all[8 + 3 * CHUNKS + CHUNKS * WORDS] = {(word)count_up, CHUNKS, WORDS, WORKERS, (word)argument, 0, 0, CHUNKS};
    for (word i = 0; i < CHUNKS; i++) {
        all[8 + 3 * i] = i * WORDS;
        all[8 + 3 * CHUNKS + i * WORDS + 1] = i;
    }
    for (word round = 0; round < ROUNDS; round++) {
        word failing = round % 5 == 0 ? round % CHUNKS : CHUNKS;
        for (word i = 0; i < CHUNKS; i++)
            counts[i] = 0;
        counts[CHUNKS] = failing;
        word code = launch((const struct launch *)all, bases, &failure);
        if (code != (failing < CHUNKS ? 7 : 0) || (code && failure != failing * 10))
            abort();
        for (word i = 0; i < CHUNKS; i++) /* chunks behind one that failed may be left out */
            if (counts[i] != 1 && !(counts[i] == 0 && i > failing))
                abort();
        if (round % 100 == 99) /* so that workers fall asleep and are woken */
            nanosleep(&(struct timespec){0, 200000}, 0);
    }
    return 0;
}

static void *work(void *own)
{
    worker(own);
    return 0;
}

int main(void)
{
    struct host given = {
        .malloc = malloc, .free = free, .clock_gettime = (void *)clock_gettime, .sched_yield = sched_yield,
        .pthread_mutex_init = (void *)pthread_mutex_init,
        .pthread_cond_init = (void *)pthread_cond_init,
        .pthread_mutex_lock = (void *)pthread_mutex_lock,
        .pthread_mutex_unlock = (void *)pthread_mutex_unlock,
        .pthread_cond_wait = (void *)pthread_cond_wait,
        .pthread_cond_broadcast = (void *)pthread_cond_broadcast,
        .sched_getcpu = sched_getcpu, .sched_getaffinity = (void *)sched_getaffinity,
        .pthread_self = (void *)pthread_self,
        .pthread_setaffinity_np = (void *)pthread_setaffinity_np,
        .clock = CLOCK_MONOTONIC, .worth_waking = 60000, .long_work = 10000000,
    };
    pthread_t threads[WORKERS + CALLERS];
    kernel(&given);
    struct pool *own = renew();
    for (word i = 0; i < WORKERS; i++)
        pthread_create(threads + i, 0, work, own);
    for (word i = 0; i < CALLERS; i++)
        pthread_create(threads + WORKERS + i, 0, caller, (void *)(i == 0 ? 600000L : 100000L));
    for (word i = 0; i < CALLERS; i++)
        pthread_join(threads[WORKERS + i], 0);
    puts(own->joined ? "helped" : "alone");
    _Exit(0);
}
