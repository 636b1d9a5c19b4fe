/* The runtime: one text for every machine.  `tools/runtime.py` makes `runtime.ll` of it, which is compiled where Rho runs. */

#include "host.h"
#include "pool.c"
#include "launch.c"
#include "run.c"
#include "routines.c"

/* Take what the host is, and say what there is. */
word kernel(struct host *given)
{
    given->worker = (void *)worker, given->launch = (void *)launch, given->call = (void *)call;
    given->renew = (void *)renew, given->alone = (void *)alone, given->product = (void *)product;
    given->solve = (void *)solve, given->sorted_rows = (void *)sorted_rows;
    host = *given;
    return 0;
}
