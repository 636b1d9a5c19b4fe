/* The interpreter in C of native programs: a Python function that runs a program of words on its arguments.  (`interpreter.py` is
   the one in Python.)

   Note [Words].  The function's self is a tuple whose first item is an array of 64-bit words (`struct program`).  A *value* is the
   address of its first item, its layout, and an object that owns the memory.  Equal layouts are one `struct layout`, so layouts are
   compared by address.  *Numbers* are counters, booleans and sizes.

   Note [Bindings].  A *binding* is a phase specialized to operands of some layouts and sizes: the layouts of the results, scratch
   memory, and launches of kernels, or a routine to call.  If no binding of a phase fits its operands, its *call site* (a Python
   callable) runs the phase and may add a binding to the list.  Bindings live as long as the program.

   Note [Tuning].  A binding may serve a range of values of a size: its words are those for one value, with a list of the words that
   change with the size.  They are changed in place, since a program with run-time sizes is run by one call at a time.

   If a kernel reports a failure, its binding's `fault` raises the error; if that returns, the call site runs the phase again. */

enum operation {
    RUN,      /* `struct run` */
    FREE,     /* value */
    SHARE,    /* value, another slot that gets the same value */
    MOVE,     /* value, the slot it leaves, which becomes empty */
    CELL,     /* value, array, number, axes, the array's layout and the cell's (of the last call), a callable for other layouts */
    PUT,      /* value, cell, number, offset: stores the cell at number + offset */
    SET,      /* number slot, value */
    ADD,      /* number slot, value */
    LOAD,     /* number slot, value: a boolean or an integer */
    EVALUATE, /* number slot, callable, count of its arguments, their number slots */
    BRANCH,   /* number slot, target of the jump if it is 0 */
    JUMP,     /* target */
    POLL,     /* poll for interrupts */
    GIVE,     /* count, values: returned as a tuple unless there is exactly one */
};

enum { MOST_LAYOUTS = 16, SMALL = 512, LARGE = 1 << 17, WRITEABLE = 0x400, TURNS = 16 };

struct layout {
    object dtype, maker; /* `maker`: allocates an array from the pool, if it is pooled */
    word rank, item, items, is_rows;
    word axes[]; /* lengths, then strides */
};

struct value {
    word data;
    const struct layout *layout;
    object owner; /* an array, or `bytes`, which are made in a quarter of the time and are only visible as the base of a view */
};

struct input {
    object other; /* the type accepted besides arrays: a Python number's, a cell's (Note [Moved arguments]), or null */
    word count;
    const struct layout *layouts[MOST_LAYOUTS];
};

struct program {
    word arguments, values, numbers, constants, start;
    word is_retired, is_alone, busy;
    object other, none, arrays, lease, copy, blame;
    struct input inputs[];
};

struct constant {
    word slot;
    struct value value;
};

struct run {
    word operation, length, after; /* `after`: the word behind the inner words, which run if the site declines */
    object site;
    const struct binding *bindings;
    word overwrite, operands, results, sizes, defines; /* `overwrite`: the operand that may be overwritten, or -1 */
    word slots[];
};

struct result {
    const struct layout *layout;
    word source, ahead; /* the operand of which it is a view, and the offset; -1: new memory */
};

/* Layouts of row-major arrays that differ only in their first length. */
struct lengths {
    object described; /* returns the layout for a number of cells */
    word known[];     /* cached layouts by number of cells; or 0 */
};

struct change {
    word place; /* index of a word of the binding */
    struct lengths *lengths;
    word base, factor; /* the word is base + factor × size, or the layout of that many cells */
};

/* See Note [Tuning]. */
struct tuning {
    word least, most, now, count; /* bounds and current value of the only run-time size */
    struct change changes[];
};

struct binding {
    const struct binding *next;
    object fault, routine, guard; /* `guard` makes an object that is held while the kernels run */
    word starts; /* two operands must have 1: different, 2: equal addresses; 0: any */
    struct lengths *lengths; /* layouts of the only result, whose cells the first launch counts into the last scratch buffer; or null */
    struct tuning *tuning;   /* the size family; or null */
    word overwrites, rooms, launches, work; /* `work`: index of the results, then the layouts of scratch, then the launches with their lengths */
    word key[];
};

static unsigned references(object thing) { return *(unsigned *)((char *)thing + host.type - 8); }

static int lies_so(object array, const struct layout *layout)
{
    if (FIELD(word, array, dtype) != (word)layout->dtype || FIELD(int, array, rank) != layout->rank)
        return 0;
    const word *shape = FIELD(word *, array, shape), *strides = FIELD(word *, array, strides);
    for (word axis = 0; axis < layout->rank; axis++)
        if (shape[axis] != layout->axes[axis] || strides[axis] != layout->axes[layout->rank + axis])
            return 0;
    return 1;
}

static int is_array(const struct program *own, object thing) { return FIELD(object, thing, type) == own->arrays; }

/* Is a value a complete array? */
static int is_whole(const struct program *own, const struct value *value)
{
    object owner = value->owner;
    return is_array(own, owner) && FIELD(word, owner, data) == value->data && lies_so(owner, value->layout);
}

/* Is a value a complete array with no other reference? */
static int is_sole(const struct program *own, const struct value *value)
{
    if (references(value->owner) != 1 || !is_whole(own, value))
        return 0;
    object base = FIELD(object, value->owner, base);
    return !base || FIELD(object, base, type) == own->lease;
}

static void drop(struct value *value)
{
    if (value->owner)
        host.Py_DecRef(value->owner);
    value->owner = 0;
}

static void put(struct value *place, word data, const struct layout *layout, object owner)
{
    drop(place);
    place->data = data, place->layout = layout, place->owner = owner;
}

static object made_array(const struct program *own, const struct layout *layout, void *data)
{
    if (layout->maker && !data)
        return host.PyObject_Vectorcall(layout->maker, 0, 0, 0);
    host.Py_IncRef(layout->dtype);
    const word *strides = layout->is_rows && !data ? 0 : layout->axes + layout->rank;
    return host.PyArray_NewFromDescr(
        own->arrays, layout->dtype, (int)layout->rank, layout->axes, strides, data, data ? WRITEABLE : 0, 0);
}

/* Memory for items of a layout, and its address.  (`bytes` are never empty, since the empty object is shared.) */
static object memory_for(const struct program *own, const struct layout *layout, word *data)
{
    word bytes = layout->items * layout->item;
    object owner = bytes <= SMALL ? host.PyBytes_FromStringAndSize(0, bytes + 1) : made_array(own, layout, 0);
    if (owner)
        *data = bytes <= SMALL ? (word)owner + host.bytes : FIELD(word, owner, data);
    return owner;
}

/* A new reference to the Python object of a value. */
static object shown(const struct program *own, const struct value *value)
{
    object type = FIELD(object, value->owner, type);
    word is_number = type == host.PyFloat_Type || type == host.PyLong_Type; /* Python numbers stand for arrays without axes */
    if (is_number ? !value->layout->rank : is_whole(own, value)) {
        host.Py_IncRef(value->owner);
        return value->owner;
    }
    if (is_number) { /* the item belongs to the run, which the array may outlive */
        object item = made_array(own, value->layout, 0);
        if (item)
            __builtin_memcpy((void *)FIELD(word, item, data), (void *)value->data, value->layout->item);
        return item;
    }
    object view = made_array(own, value->layout, (void *)value->data);
    if (!view)
        return 0;
    host.Py_IncRef(value->owner);
    if (!host.PyArray_SetBaseObject(view, value->owner))
        return view;
    host.Py_DecRef(view);
    return 0;
}

/* Note [Moved arguments].  A cell is a list of one array that nobody else refers to.  A call takes the array out of it, so that
   it is the only owner and may write the results over it. */

static int is_cell(object given, const struct input *wish)
{
    object type = FIELD(object, given, type);
    return type == wish->other && type != host.PyFloat_Type && type != host.PyLong_Type;
}

static int take(const struct program *own, object given, const struct input *wish, struct value *value, word *number)
{
    if (is_cell(given, wish))
        given = *FIELD(object *, given, items);
    object type = FIELD(object, given, type);
    const struct layout *layout = 0;
    if (type == own->arrays) {
        for (word i = 0; i < wish->count && !layout; i++)
            if (lies_so(given, wish->layouts[i]))
                layout = wish->layouts[i];
        if (!layout)
            return 0;
        value->data = FIELD(word, given, data);
    } else {
        if (type != wish->other || !type)
            return 0;
        if (type == host.PyFloat_Type) {
            double item = host.PyFloat_AsDouble(given);
            __builtin_memcpy(number, &item, sizeof item);
        } else {
            *number = host.PyLong_AsLongLong(given);
            if (*number == -1 && host.PyErr_Occurred()) {
                host.PyErr_Clear(); /* it exceeds 64 bits */
                return 0;
            }
        }
        value->data = (word)number, layout = wish->layouts[0];
    }
    host.Py_IncRef(given);
    value->layout = layout, value->owner = given;
    return 1;
}

/* Copies `length` items of a size that is known where this is inlined. */
static inline __attribute__((always_inline)) void copy_row(char *to, const char *from, word length, word stride, word item)
{
    word i = 0;
    for (; i + 4 <= length; i += 4, to += 4 * item, from += 4 * stride)
        for (word next = 0; next < 4; next++)
            __builtin_memcpy(to + next * item, from + next * stride, item);
    for (; i < length; i++, to += item, from += stride)
        __builtin_memcpy(to, from, item);
}

static void copy_items(char *to, const char *from, const struct layout *layout, word axis)
{
    word item = layout->item, rank = layout->rank;
    if (layout->is_rows || axis == rank) {
        __builtin_memcpy(to, from, axis == rank ? item : layout->items * item);
        return;
    }
    word length = layout->axes[axis], stride = layout->axes[rank + axis], step = item;
    if (axis + 1 < rank) {
        for (word inner = axis + 1; inner < rank; inner++)
            step *= layout->axes[inner];
        for (word i = 0; i < length; i++, to += step, from += stride)
            copy_items(to, from, layout, axis + 1);
    } else if (item == 8)
        copy_row(to, from, length, stride, 8);
    else if (item == 4)
        copy_row(to, from, length, stride, 4);
    else
        copy_row(to, from, length, stride, item);
}

/* A new array with a value's items. */
static object copied(const struct program *own, const struct value *value)
{
    const struct layout *layout = value->layout;
    if (layout->items * layout->item < LARGE) {
        host.Py_IncRef(layout->dtype);
        object rows = host.PyArray_NewFromDescr(own->arrays, layout->dtype, (int)layout->rank, layout->axes, 0, 0, 0, 0);
        if (rows && layout->items)
            copy_items(FIELD(char *, rows, data), (const char *)value->data, layout, 0);
        return rows;
    }
    object made = shown(own, value);
    if (!made)
        return 0;
    object copy = host.PyObject_Vectorcall(own->copy, &made, 1, 0);
    host.Py_DecRef(made);
    return copy;
}

/* A new reference to an array that only the caller owns; the value is dropped. */
static object given_away(const struct program *own, struct value *value)
{
    object owner = value->owner, copy;
    if (is_sole(own, value)) {
        value->owner = 0;
        return owner;
    }
    copy = copied(own, value);
    drop(value);
    return copy;
}

/* ---------------------------------------------------------------------------------------------- phases */

/* The layout of `count` cells; null with an exception set. */
static const struct layout *counted(struct lengths *lengths, word count)
{
    if (!lengths->known[count]) {
        object given[1] = {host.PyLong_FromLongLong(count)};
        object answer = given[0] ? host.PyObject_Vectorcall(lengths->described, given, 1, 0) : 0;
        if (given[0])
            host.Py_DecRef(given[0]);
        if (!answer)
            return 0;
        lengths->known[count] = host.PyLong_AsLongLong(answer);
        host.Py_DecRef(answer);
    }
    return (const struct layout *)lengths->known[count];
}

/* Adapts a binding to this value of its size, if it serves it.  See Note [Tuning]. */
static int is_tuned(const struct binding *bound, word size)
{
    struct tuning *tuning = bound->tuning;
    if (size < tuning->least || size > tuning->most)
        return 0;
    for (word i = 0; size != tuning->now && i < tuning->count; i++) {
        const struct change *change = tuning->changes + i;
        word made = change->base + change->factor * size;
        if (change->lengths && !(made = (word)counted(change->lengths, made))) {
            host.PyErr_Clear();
            tuning->now = -1;
            return 0;
        }
        ((word *)bound)[change->place] = made;
    }
    tuning->now = size;
    return 1;
}

static const struct binding *binding_of(const struct run *run, const struct value *values, const word *numbers)
{
    const word *slots = run->slots, *sizes = slots + run->operands + run->results;
    for (const struct binding *at = run->bindings; at; at = at->next) {
        word i = 0, size = 0;
        if (at->tuning && !is_tuned(at, numbers[sizes[0]]))
            continue;
        while (i < run->operands && at->key[i] == (word)values[slots[i]].layout)
            i++;
        if (i < run->operands)
            continue;
        if (at->starts && (at->starts == 2) != (values[slots[0]].data == values[slots[1]].data))
            continue;
        while (size < run->sizes && at->key[i + size] == numbers[sizes[size]])
            size++;
        if (size == run->sizes)
            return at;
    }
    return 0;
}

static int failed(const struct binding *bound, word code, word item)
{
    if (code == INTERRUPTED)
        return -1;
    if (code == NO_MEMORY) {
        host.PyErr_NoMemory();
        return -1;
    }
    if (!bound->fault)
        return 0;
    object told[2] = {host.PyLong_FromLongLong(code), 0}, answer = 0;
    if (told[0] && (told[1] = host.PyLong_FromLongLong(item)))
        answer = host.PyObject_Vectorcall(bound->fault, told, 2, 0);
    for (int i = 0; i < 2; i++)
        if (told[i])
            host.Py_DecRef(told[i]);
    if (!answer)
        return -1;
    host.Py_DecRef(answer);
    return 0;
}

/* 1: done; 0: the call site has to run the phase; -1: an exception is set. */
static int call_routine(const struct program *own, const struct run *run, const struct binding *bound, struct value *values)
{
    object given[run->operands + 1], made = 0;
    word count = 0;
    const struct layout *layout = ((const struct result *)((const word *)bound + bound->work))->layout;
    while (count < run->operands && (given[count] = shown(own, values + run->slots[count])))
        count++;
    if (count == run->operands)
        made = host.PyObject_Vectorcall(bound->routine, given, count, 0);
    while (count)
        host.Py_DecRef(given[--count]);
    if (!made)
        return -1;
    if (!is_array(own, made) || !lies_so(made, layout)) {
        host.Py_DecRef(made);
        return 0;
    }
    put(values + run->slots[run->operands], FIELD(word, made, data), layout, made);
    return 1;
}

static int follow(
    const struct program *own, const struct run *run, const struct binding *bound, struct value *values, word *numbers)
{
    word operands = run->operands, results = run->results, made = 0, code = 0, failure;
    word addresses[operands + results + bound->rooms + 1], *counter = 0; /* the last word: the count */
    object owners[results + bound->rooms + 1];
    const struct layout *found = 0;
    const struct result *result = (const struct result *)((const word *)bound + bound->work);
    const word *at = (const word *)(result + results);
    for (word i = 0; i < operands; i++)
        addresses[i] = values[run->slots[i]].data;
    for (; made < results + bound->rooms; made++) {
        const struct layout *layout = made < results ? result[made].layout : (const struct layout *)at[made - results];
        object owner = 0;
        if (made < results && bound->lengths) {
            host.Py_IncRef(owner = own->none); /* until the cells are counted */
        } else if (made < results && result[made].source >= 0) {
            addresses[operands + made] = addresses[result[made].source] + result[made].ahead;
            host.Py_IncRef(owner = values[run->slots[result[made].source]].owner);
        } else if (!made && bound->overwrites && is_sole(own, values + run->slots[run->overwrite])) {
            host.Py_IncRef(owner = values[run->slots[run->overwrite]].owner);
            addresses[operands] = addresses[run->overwrite];
        } else {
            if (!(owner = memory_for(own, layout, addresses + operands + made)))
                break;
            if (made >= results)
                addresses[operands + made] = (addresses[operands + made] + 63) & -64;
        }
        owners[made] = owner;
    }
    int is_made = made == results + bound->rooms;
    object guard = 0;
    if (is_made && bound->guard)
        is_made = (guard = host.PyObject_Vectorcall(bound->guard, 0, 0, 0)) != 0;
    at += bound->rooms;
    if (is_made && bound->lengths)
        counter = (word *)addresses[operands + made - 1];
    for (word i = 0; is_made && i < bound->launches && !code; i++, at += 1 + *at) {
        code = launch((const struct launch *)(at + 1), addresses, &failure);
        if (!counter || i || code)
            continue;
        addresses[operands + made] = numbers[run->slots[operands + results + run->sizes]] = *counter;
        object owner = (found = counted(bound->lengths, *counter)) ? memory_for(own, found, addresses + operands) : 0;
        if (!(is_made = owner != 0))
            break;
        host.Py_DecRef(owners[0]);
        owners[0] = owner;
    }
    if (guard)
        host.Py_DecRef(guard);
    int is_done = is_made && !code;
    while (made > (is_done ? results : 0))
        host.Py_DecRef(owners[--made]);
    if (!is_made)
        return -1;
    if (code)
        return failed(bound, code, failure);
    for (word i = 0; i < results; i++)
        put(values + run->slots[operands + i], addresses[operands + i], found ? found : result[i].layout, owners[i]);
    return 1;
}

/* 1: the call site has run the phase; 2: the inner words have to run; -1: an exception is set. */
static int asked(const struct program *own, const struct run *run, struct value *values, word *numbers)
{
    word operands = run->operands, sizes = run->sizes, count = 0;
    object given[operands + sizes + 1], answer = 0;
    if (!run->site)
        return 2;
    int is_free = run->overwrite >= 0 && is_sole(own, values + run->slots[run->overwrite]);
    while (count < operands && (given[count] = shown(own, values + run->slots[count])))
        count++;
    while (count >= operands && count < operands + sizes &&
           (given[count] = host.PyLong_FromLongLong(numbers[run->slots[run->results + count]])))
        count++;
    if (count == operands + sizes && (given[count] = host.PyLong_FromLongLong(is_free)))
        answer = host.PyObject_Vectorcall(run->site, given, ++count, 0);
    while (count)
        host.Py_DecRef(given[--count]);
    if (!answer)
        return -1;
    if (answer == own->none) {
        host.Py_DecRef(answer);
        return 2;
    }
    const object *items = (object *)((char *)answer + host.items);
    const word *slots = run->slots + operands;
    for (word i = 0; i < run->results; i++) {
        object owner = items[2 * i];
        host.Py_IncRef(owner);
        put(values + slots[i], FIELD(word, owner, data), (const struct layout *)host.PyLong_AsLongLong(items[2 * i + 1]), owner);
    }
    for (word i = 0; i < run->defines; i++)
        numbers[slots[run->results + run->sizes + i]] = host.PyLong_AsLongLong(items[2 * run->results + i]);
    host.Py_DecRef(answer);
    return 1;
}

/* ----------------------------------------------------------------------------------------------- words */

static word loaded(const struct value *value)
{
    word wide;
    int narrow;
    if (value->layout->item == 1)
        return *(const unsigned char *)value->data;
    if (value->layout->item == 4) {
        __builtin_memcpy(&narrow, (const void *)value->data, sizeof narrow);
        return narrow;
    }
    __builtin_memcpy(&wide, (const void *)value->data, sizeof wide);
    return wide;
}

/* The cell of a value at a point of its leading axes, by its row-major number. */
static int cell_of(word *at, struct value *values, const word *numbers)
{
    const struct value *whole = values + at[2];
    const struct layout *layout = whole->layout;
    word data = whole->data, left = numbers[at[3]];
    if (at[5] != (word)layout) {
        object given[1] = {host.PyLong_FromLongLong((word)layout)};
        object answer = given[0] ? host.PyObject_Vectorcall((object)at[7], given, 1, 0) : 0;
        if (given[0])
            host.Py_DecRef(given[0]);
        if (!answer)
            return 0;
        at[5] = (word)layout, at[6] = host.PyLong_AsLongLong(answer);
        host.Py_DecRef(answer);
    }
    for (word axis = at[4] - 1; axis >= 0; left /= layout->axes[axis], axis--)
        data += left % layout->axes[axis] * layout->axes[layout->rank + axis];
    host.Py_IncRef(whole->owner);
    put(values + at[1], data, (const struct layout *)at[6], whole->owner);
    return 1;
}

static int evaluated(const word *at, word *numbers)
{
    object given[at[3] + 1], answer = 0;
    word count = 0;
    while (count < at[3] && (given[count] = host.PyLong_FromLongLong(numbers[at[4 + count]])))
        count++;
    if (count == at[3])
        answer = host.PyObject_Vectorcall((object)at[2], given, count, 0);
    while (count)
        host.Py_DecRef(given[--count]);
    if (!answer)
        return 0;
    numbers[at[1]] = host.PyLong_AsLongLong(answer);
    host.Py_DecRef(answer);
    return 1;
}

/* The returned object; null with an exception set. */
static object given_back(const struct program *own, const word *at, struct value *values)
{
    word count = at[1];
    for (word i = 0, item = 0; i < own->values; i++) {
        for (item = 0; item < count && at[2 + item] != i; item++)
            ;
        if (item == count)
            drop(values + i);
    }
    if (count == 1)
        return given_away(own, values + at[2]);
    object tuple = host.PyTuple_New(count), made;
    for (word item = 0, later; tuple && item < count; item++) {
        for (later = item + 1; later < count && at[2 + later] != at[2 + item]; later++)
            ;
        made = later < count ? copied(own, values + at[2 + item]) : given_away(own, values + at[2 + item]);
        if (!made) {
            host.Py_DecRef(tuple);
            return 0;
        }
        host.PyTuple_SetItem(tuple, item, made);
    }
    return tuple;
}

/* Runs the words; returns the result, or null with an exception set.  `place`: the word that raised it. */
/* Python's lock goes to whoever has waited its turn: functions of Python look for that as they begin.  The same brings in
 * exceptions from other threads. */
static int paused(void)
{
    object made = host.PyObject_Vectorcall(host.pause, 0, 0, 0);
    if (made)
        host.Py_DecRef(made);
    return made != 0;
}

static object interpreted(const struct program *own, word *words, struct value *values, word *numbers, const word **place)
{
    word polls = 0;
    for (word *at = words + own->start;;) {
        *place = at;
        switch ((enum operation)at[0]) {
        case RUN: {
            const struct run *run = (const struct run *)at;
            const struct binding *bound = binding_of(run, values, numbers);
            int state = !bound ? 0 : bound->routine ? call_routine(own, run, bound, values) : follow(own, run, bound, values, numbers);
            if (!state)
                state = asked(own, run, values, numbers);
            if (state < 0)
                return 0;
            at = state == 1 ? words + run->after : at + run->length;
            continue;
        }
        case FREE:
            drop(values + at[1]);
            at += 2;
            continue;
        case SHARE: {
            const struct value *from = values + at[2];
            host.Py_IncRef(from->owner);
            put(values + at[1], from->data, from->layout, from->owner);
            at += 3;
            continue;
        }
        case MOVE: {
            struct value *from = values + at[2];
            put(values + at[1], from->data, from->layout, from->owner);
            from->owner = 0;
            at += 3;
            continue;
        }
        case CELL:
            if (!cell_of(at, values, numbers))
                return 0;
            at += 8;
            continue;
        case PUT: {
            const struct value *cell = values + at[2];
            word bytes = cell->layout->items * cell->layout->item;
            if (bytes)
                copy_items((char *)values[at[1]].data + (numbers[at[3]] + at[4]) * bytes, (char *)cell->data, cell->layout, 0);
            at += 5;
            continue;
        }
        case SET:
            numbers[at[1]] = at[2];
            at += 3;
            continue;
        case ADD:
            numbers[at[1]] += at[2];
            at += 3;
            continue;
        case LOAD:
            numbers[at[1]] = loaded(values + at[2]);
            at += 3;
            continue;
        case EVALUATE:
            if (at[2] && !evaluated(at, numbers))
                return 0;
            at += 4 + at[3];
            continue;
        case BRANCH:
            at = numbers[at[1]] ? at + 3 : words + at[2];
            continue;
        case JUMP:
            at = words + at[1];
            continue;
        case POLL:
            if (host.PyErr_CheckSignals() || (++polls % TURNS == 0 && !paused()))
                return 0;
            at += 1;
            continue;
        case GIVE:
            return given_back(own, at, values);
        }
    }
}

static object different(const struct program *own)
{
    host.Py_IncRef(own->other);
    return own->other;
}

/* Let Python say where an exception came from: it raises another, or adds to this one. */
static object blamed(const struct program *own, word place, const word *numbers)
{
    object type = 0, error = 0, trace = 0;
    host.PyErr_Fetch(&type, &error, &trace);
    object told[3] = {host.PyLong_FromLongLong(place), host.PyLong_FromLongLong((word)numbers), error ? error : type};
    object answer = told[0] && told[1] ? host.PyObject_Vectorcall(own->blame, told, 3, 0) : 0;
    for (int i = 0; i < 2; i++)
        if (told[i])
            host.Py_DecRef(told[i]);
    if (answer) {
        host.Py_DecRef(answer);
        host.PyErr_Restore(type, error, trace);
        return 0;
    }
    object held[3] = {type, error, trace};
    for (int i = 0; i < 3; i++)
        if (held[i])
            host.Py_DecRef(held[i]);
    return 0;
}

static object call(object self, object const *given, word count)
{
    word *words = FIELD(word *, *(object *)((char *)self + host.items), data);
    struct program *own = (struct program *)words;
    if (count != own->arguments || own->is_retired || (own->is_alone && own->busy))
        return different(own);
    struct value values[own->values];
    word numbers[own->numbers + count];
    object made = 0;
    __builtin_memset(values, 0, sizeof values);
    for (word i = 0; i < count; i++)
        if (!take(own, given[i], own->inputs + i, values + i, numbers + own->numbers + i)) {
            while (i)
                drop(values + --i);
            return different(own);
        }
    for (word i = 0; i < count; i++)
        if (is_cell(given[i], own->inputs + i)) {
            object *cell = FIELD(object *, given[i], items);
            host.Py_IncRef(own->none);
            host.Py_DecRef(*cell);
            *cell = own->none;
        }
    const struct constant *constant = (const struct constant *)(words + own->constants);
    for (; constant->slot >= 0; constant++) {
        values[constant->slot] = constant->value;
        host.Py_IncRef(constant->value.owner);
    }
    const word *place;
    own->busy++;
    made = interpreted(own, words, values, numbers, &place);
    own->busy--;
    for (word i = 0; i < own->values; i++)
        drop(values + i);
    return made ? made : blamed(own, place - words, numbers);
}
