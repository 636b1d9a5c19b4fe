/* What the runtime is given by its host: addresses of the C library's, Python's and NumPy's functions, where the fields of Python's
   objects are, and constants of the system.  No header of any library is read, so that one text serves every machine. */

typedef long word; /* 64 bits wherever this runs */
typedef void *object;
typedef word kernel_of_block(word *block);

/* Filled by `backend.vm.runtime`, field by field: its `Host` has the same names in the same order. */
struct host {
    /* Written by the runtime: what it offers. */
    void *worker, *launch, *call, *renew, *alone, *product, *solve, *sorted_rows;
    /* The system's.  The last four are null where it has no processors to choose. */
    void *(*malloc)(unsigned long bytes);
    void (*free)(void *memory);
    int (*clock_gettime)(int clock, word *seconds_and_nanoseconds);
    int (*sched_yield)(void);
    int (*pthread_mutex_init)(void *mutex, void *attributes);
    int (*pthread_cond_init)(void *condition, void *attributes);
    int (*pthread_mutex_lock)(void *mutex);
    int (*pthread_mutex_unlock)(void *mutex);
    int (*pthread_cond_wait)(void *condition, void *mutex);
    int (*pthread_cond_broadcast)(void *condition);
    int (*sched_getcpu)(void);
    int (*sched_getaffinity)(int process, unsigned long bytes, void *processors);
    void *(*pthread_self)(void);
    int (*pthread_setaffinity_np)(void *thread, unsigned long bytes, void *processors);
    /* Python's. */
    double (*PyFloat_AsDouble)(object);
    word (*PyLong_AsLongLong)(object);
    object (*PyErr_Occurred)(void);
    void (*PyErr_Fetch)(object *type, object *error, object *trace);
    void (*PyErr_Restore)(object type, object error, object trace);
    void (*PyErr_Clear)(void);
    object (*PyErr_NoMemory)(void);
    int (*PyErr_CheckSignals)(void);
    void (*Py_IncRef)(object);
    void (*Py_DecRef)(object);
    object (*PyTuple_New)(word);
    int (*PyTuple_SetItem)(object, word, object);
    object (*PyObject_Vectorcall)(object, object const *, word, object);
    object (*PyLong_FromLongLong)(word);
    object (*PyBytes_FromStringAndSize)(const char *, word);
    void *(*PyEval_SaveThread)(void);
    void (*PyEval_RestoreThread)(void *);
    object PyFloat_Type, PyLong_Type;
    /* NumPy's. */
    object (*PyArray_NewFromDescr)(object type, object dtype, int rank, const word *shape, const word *strides, void *data, int flags, object);
    int (*PyArray_SetBaseObject)(object array, object owner);
    /* Bytes from an object's start: its type; a tuple's items; those of `bytes`; an array's fields. */
    word type, items, bytes, data, rank, shape, strides, base, dtype;
    /* The number of the clock that only goes on; nanoseconds of a lone launch that are worth waking workers for. */
    word clock, worth_waking;
    /* Nanoseconds from which a launch looks for interrupts, and a function of Python: as it begins Python does. */
    word long_work;
    object pause;
};

static struct host host;

/* The processor's hint that a thread waits; its text is added where the processor is known. */
void rho_pause(void);

#define FIELD(type, object, place) (*(type *)((char *)(object) + host.place))

static inline word now(void)
{
    word time[2];
    host.clock_gettime((int)host.clock, time);
    return time[0] * 1000000000 + time[1];
}
