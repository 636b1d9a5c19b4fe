/* A Python function that checks its arguments and runs a program of words: arrays are made, kernels launched, routines called.

   Note [Words].  Its self is a tuple whose first item is an array of 64-bit words (`struct call`).  For each argument there are
   its dtype (0: a Python float, 1: a Python int), its rank, and for each axis its length and stride.  A *slot* holds an address or a
   number; the first slots are the arguments' addresses, then come those of values, then numbers, which begin as `image` says.  The
   values' objects are *owned* until they are freed or given.  A word of the program is an operation and its operands; all operands
   but those that say what they are name slots.

   A kernel that reports a failure, memory that runs out, and whatever exception `forgiven` lists end the call as if the arguments were
   others: whoever called does it again with words for it.  Any other exception (an interrupt) is raised. */

enum operation {
    MAKE,    /* value, dtype, rank, first slot of its shape: a new array */
    VIEW,    /* value, dtype, rank, first slot of its shape and strides, value that it shows part of, slot of the address */
    CALL,    /* value, callable, how many operands, these */
    LAUNCH,  /* place of a launch among the words */
    FREE,    /* value */
    GIVE,    /* how many values, these: what is returned, a tuple if it is not one */
    ALIGN,   /* slot: its address moves on to a multiple of 64 */
    COMPUTE, /* slot, three others, a number: first + second * third + number */
    LOAD,    /* slot, slot of an integer's address, bytes ahead, its bytes */
    LENGTH,  /* slot, value, axis */
    CHECK,   /* slot: where it is below 0 the arguments are others */
    BRANCH,  /* slot, place of an operation among the words: where it is 0 */
    MOVE,    /* value, where it is taken from */
    NUMBER,  /* value, slot: a Python int */
    ADDRESS, /* slot, another: where that one is */
};

struct call {
    word arguments, values, slots;
    object other; /* what is returned where the arguments are others */
    object arrays; /* the type of arrays */
    word image, program; /* places among the words */
    word wishes[];
};

enum { WRITEABLE = 0x400 };

/* Put an argument into its slot; 0: it is another.  `wish` goes on to the next. */
static int take(const struct call *own, object given, const word **wish, word *slot, word *number)
{
    object type = FIELD(object, given, type);
    const word dtype = (*wish)[0], rank = (*wish)[1], *axes = *wish + 2;
    *wish = axes + 2 * rank;
    if (dtype == 0 && type == host.PyFloat_Type) {
        double value = host.PyFloat_AsDouble(given);
        __builtin_memcpy(number, &value, sizeof value);
        *slot = (word)number;
        return 1;
    }
    if (dtype == 1 && type == host.PyLong_Type) {
        *number = host.PyLong_AsLongLong(given);
        *slot = (word)number;
        if (*number != -1 || !host.PyErr_Occurred())
            return 1;
        host.PyErr_Clear(); /* it is larger than 64 bits */
        return 0;
    }
    if (type != own->arrays || FIELD(word, given, dtype) != dtype || FIELD(int, given, rank) != rank)
        return 0;
    const word *shape = FIELD(word *, given, shape), *strides = FIELD(word *, given, strides);
    for (word axis = 0; axis < rank; axis++)
        if (shape[axis] != axes[2 * axis] || strides[axis] != axes[2 * axis + 1])
            return 0;
    *slot = FIELD(word, given, data);
    return 1;
}

static object different(const struct call *own)
{
    host.Py_IncRef(own->other);
    return own->other;
}

/* The end of a call that cannot go on: `different`, or null with the exception. */
static object given_up(const struct call *own, object *owned, int is_raised)
{
    for (word value = 0; value < own->values; value++)
        if (owned[value])
            host.Py_DecRef(owned[value]);
    if (is_raised)
        return 0;
    return different(own);
}

/* A new array, or one that shows a part of another (`data` is not null). */
static object array_of(const struct call *own, const word *at, const word *shape, const word *strides, void *data)
{
    object dtype = (object)at[2];
    host.Py_IncRef(dtype);
    return host.PyArray_NewFromDescr(own->arrays, dtype, (int)at[3], shape, strides, data, data ? WRITEABLE : 0, 0);
}

static word loaded(const void *address, word bytes)
{
    word wide;
    int narrow;
    if (bytes == 1)
        return *(const unsigned char *)address;
    if (bytes == 4) {
        __builtin_memcpy(&narrow, address, sizeof narrow);
        return narrow;
    }
    __builtin_memcpy(&wide, address, sizeof wide);
    return wide;
}

static object tuple_of(const word *values, word count, object *owned)
{
    object tuple = host.PyTuple_New(count);
    for (word item = 0; tuple && item < count; item++) {
        host.PyTuple_SetItem(tuple, item, owned[values[item]]);
        owned[values[item]] = 0;
    }
    return tuple;
}

static object call(object self, object const *given, word count)
{
    const word *words = FIELD(word *, *(object *)((char *)self + host.items), data);
    const struct call *own = (const struct call *)words;
    if (count != own->arguments)
        return different(own);
    word slots[own->slots], numbers[count + 1], failure;
    object owned[own->values], operands[own->values], made;
    const word *wish = own->wishes;
    for (word i = 0; i < count; i++)
        if (!take(own, given[i], &wish, slots + i, numbers + i))
            return different(own);
    __builtin_memcpy(slots + count, words + own->image, (own->slots - count) * sizeof *slots);
    __builtin_memset(owned, 0, own->values * sizeof *owned);
    for (const word *at = words + own->program;;) {
        switch ((enum operation)at[0]) {
        case MAKE:
            if (!(made = array_of(own, at, slots + at[4], 0, 0)))
                goto failed;
            owned[at[1]] = made;
            slots[at[1]] = FIELD(word, made, data);
            at += 5;
            continue;
        case VIEW: {
            object whole = at[5] < count ? given[at[5]] : owned[at[5]];
            slots[at[1]] = slots[at[6]];
            if (!(made = array_of(own, at, slots + at[4], slots + at[4] + at[3], (void *)slots[at[6]])))
                goto failed;
            owned[at[1]] = made;
            host.Py_IncRef(whole);
            if (host.PyArray_SetBaseObject(made, whole))
                goto failed;
            at += 7;
            continue;
        }
        case CALL:
            for (word i = 0; i < at[3]; i++)
                operands[i] = at[4 + i] < count ? given[at[4 + i]] : owned[at[4 + i]];
            if (!(made = host.PyObject_Vectorcall((object)at[2], operands, at[3], 0)))
                goto failed;
            owned[at[1]] = made;
            slots[at[1]] = FIELD(word, made, data);
            at += 4 + at[3];
            continue;
        case LAUNCH: {
            const struct launch *kernel = (const struct launch *)(words + at[1]);
            void *thread = kernel->is_unlocked ? host.PyEval_SaveThread() : 0;
            word code = launch(kernel, slots, &failure);
            if (thread)
                host.PyEval_RestoreThread(thread);
            if (code)
                return given_up(own, owned, 0);
            at += 2;
            continue;
        }
        case FREE:
            host.Py_DecRef(owned[at[1]]);
            owned[at[1]] = 0;
            at += 2;
            continue;
        case GIVE:
            if (at[1] == 1)
                return owned[at[2]];
            if (!(made = tuple_of(at + 2, at[1], owned)))
                goto failed;
            return made;
        case ALIGN:
            slots[at[1]] = (slots[at[1]] + 63) & -64;
            at += 2;
            continue;
        case COMPUTE:
            slots[at[1]] = slots[at[2]] + slots[at[3]] * slots[at[4]] + at[5];
            at += 6;
            continue;
        case LOAD:
            slots[at[1]] = loaded((const void *)(slots[at[2]] + at[3]), at[4]);
            at += 5;
            continue;
        case LENGTH:
            slots[at[1]] = FIELD(word *, owned[at[2]], shape)[at[3]];
            at += 4;
            continue;
        case CHECK:
            if (slots[at[1]] < 0)
                return given_up(own, owned, 0);
            at += 2;
            continue;
        case BRANCH:
            at = slots[at[1]] ? at + 3 : words + at[2];
            continue;
        case MOVE:
            owned[at[1]] = owned[at[2]];
            owned[at[2]] = 0;
            slots[at[1]] = slots[at[2]];
            at += 3;
            continue;
        case NUMBER:
            if (!(made = host.PyLong_FromLongLong(slots[at[2]])))
                goto failed;
            owned[at[1]] = made;
            at += 3;
            continue;
        case ADDRESS:
            slots[at[1]] = (word)(slots + at[2]);
            at += 3;
            continue;
        }
    failed:
        if (!host.PyErr_ExceptionMatches(host.forgiven))
            return given_up(own, owned, 1);
        host.PyErr_Clear();
        return given_up(own, owned, 0);
    }
}
