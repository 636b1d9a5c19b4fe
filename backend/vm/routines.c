/* Routines of the library whose argument block becomes calls of BLAS, LAPACK or NumPy's sorting functions.  They are launched like
   kernels; 1: Python has to run the operation. */

/* Products of matrices; `library/products.py` writes the words.  A block is the same part of each of `count` products, whose
   operands and results lie `…_next` bytes apart.  A matrix times itself transposed is computed in parts of its lower half: each is
   copied to its `mirror`, and of one on the diagonal, its own mirror, a half is computed. */

enum { LEFT_FORM, RIGHT_FORM, ROWS, COLUMNS, SHARED, LEFT_PITCH, RIGHT_PITCH, PITCH, COUNT, LEFT_NEXT, RIGHT_NEXT, NEXT, ITEMS,
       FUNCTION, LEFT, RIGHT, RESULT, MIRROR };
enum { F32_ITEMS, F64_ITEMS, C64_ITEMS, C128_ITEMS };
enum { ROWS_FIRST = 101, UPPER = 121 };

#define GEMM(number) void (*)(int, int, int, word, word, word, number, char *, word, char *, word, number, char *, word)
#define SYRK(number) void (*)(int, int, int, word, word, number, char *, word, number, char *, word)
#define MULTIPLY(number, one, zero) \
    if (mirror == result) \
        ((SYRK(number))block[FUNCTION])(ROWS_FIRST, UPPER, (int)block[LEFT_FORM], block[ROWS], block[SHARED], one, left, \
            block[LEFT_PITCH], zero, result, block[PITCH]); \
    else \
        ((GEMM(number))block[FUNCTION])(ROWS_FIRST, (int)block[LEFT_FORM], (int)block[RIGHT_FORM], block[ROWS], block[COLUMNS], \
            block[SHARED], one, left, block[LEFT_PITCH], right, block[RIGHT_PITCH], zero, result, block[PITCH])

static void mirror_items(const word *block, const char *result, char *mirror, word bytes)
{
    for (word row = 0; row < block[ROWS]; row++)
        for (word column = mirror == result ? row + 1 : 0; column < block[COLUMNS]; column++)
            __builtin_memcpy(
                mirror + (column * block[PITCH] + row) * bytes, result + (row * block[PITCH] + column) * bytes, bytes);
}

static word product(const word *block)
{
    static const float one32[2] = {1, 0}, zero32[2];
    static const double one64[2] = {1, 0}, zero64[2];
    char *left = (char *)block[LEFT], *right = (char *)block[RIGHT], *result = (char *)block[RESULT];
    char *mirror = (char *)block[MIRROR];
    for (word due = block[COUNT]; due > 0; due--) {
        switch (block[ITEMS]) {
        case F32_ITEMS: MULTIPLY(float, 1, 0); break;
        case F64_ITEMS: MULTIPLY(double, 1, 0); break;
        case C64_ITEMS: MULTIPLY(const void *, one32, zero32); break;
        case C128_ITEMS: MULTIPLY(const void *, one64, zero64); break;
        }
        if (mirror) {
            switch (block[ITEMS]) {
            case F32_ITEMS: mirror_items(block, result, mirror, 4); break;
            case C128_ITEMS: mirror_items(block, result, mirror, 16); break;
            default: mirror_items(block, result, mirror, 8);
            }
            mirror += block[NEXT];
        }
        left += block[LEFT_NEXT], right += block[RIGHT_NEXT], result += block[NEXT];
    }
    return 0;
}

/* A square system of f64 or c128, and its condition; `library/linear.py` writes the words.  Without a right side it is the identity,
   and the solution the inverse.  Strides are in bytes; the work space has `rows` × (`rows` + `columns` + 4) items, then 3 × `rows`
   words.  1: a pivot is 0; 2: the rank may not be full. */

enum { SYSTEM_ROWS, SYSTEM_COLUMNS, SYSTEM_BYTES, SOLVE, CONDITION, LEAST, MATRIX_DOWN, MATRIX_ACROSS, SIDE_DOWN, SIDE_ACROSS,
       MATRIX, SIDE, SOLUTION, SPACE };

/* Copies lines of items of 8 or 16 bytes; returns the greatest sum of magnitudes (of real and imaginary parts) in a line, or NaN. */
static inline __attribute__((always_inline)) double copy_lines(
    char *to, word to_line, word to_item, const char *from, word line, word item, word lines, word items, word bytes)
{
    double greatest = 0;
    for (word i = 0; i < lines; i++) {
        double sum = 0, number;
        for (word j = 0; j < items; j++)
            for (word part = 0; part < bytes; part += 8) {
                __builtin_memcpy(&number, from + i * line + j * item + part, 8);
                __builtin_memcpy(to + i * to_line + j * to_item + part, &number, 8);
                sum += __builtin_fabs(number);
            }
        if (!(sum <= greatest))
            greatest = sum;
    }
    return greatest;
}

static inline __attribute__((always_inline)) word solve_items(const word *block, const word bytes)
{
    word rows = block[SYSTEM_ROWS], columns = block[SYSTEM_COLUMNS], trouble = 0, length = rows * bytes;
    double norm, reciprocal = 0, least, one = 1;
    char *factors = (char *)block[SPACE], *solution = factors + rows * length, *work = solution + columns * length;
    char *pivots = work + 4 * length, *more = pivots + 8 * rows;
    norm = copy_lines(factors, length, bytes, (const char *)block[MATRIX], block[MATRIX_ACROSS], block[MATRIX_DOWN], rows, rows, bytes);
    if (block[SIDE])
        copy_lines(solution, length, bytes, (const char *)block[SIDE], block[SIDE_ACROSS], block[SIDE_DOWN], columns, rows, bytes);
    else {
        __builtin_memset(solution, 0, columns * length);
        for (word row = 0; row < rows; row++)
            __builtin_memcpy(solution + row * (length + bytes), &one, sizeof one);
    }
    ((void (*)(word *, word *, char *, word *, char *, char *, word *, word *))block[SOLVE])(
        &rows, &columns, factors, &rows, pivots, solution, &rows, &trouble);
    if (trouble)
        return 1;
    ((void (*)(const char *, word *, char *, word *, double *, double *, char *, char *, word *, word))block[CONDITION])(
        "1", &rows, factors, &rows, &norm, &reciprocal, work, more, &trouble, 1);
    copy_lines((char *)block[SOLUTION], bytes, columns * bytes, solution, length, bytes, columns, rows, bytes);
    __builtin_memcpy(&least, block + LEAST, sizeof least);
    return reciprocal > least ? 0 : 2;
}

static word solve(const word *block) { return block[SYSTEM_BYTES] == 8 ? solve_items(block, 8) : solve_items(block, 16); }

/* Sorted rows; `library/sort.py` writes the words.  Equal items that differ in their bits, zeros and NaN, have the order that they
   have in the row, never beyond their part of it, even if another thread changes the items meanwhile; NaN is last. */

enum { SORTED_ROWS, LENGTH, ITEM, IS_FLOAT, DESCENDING, SORT, SOURCE, TARGET };

static void reverse_items(char *items, word length, word bytes)
{
    word saved = 0;
    for (char *low = items, *high = items + (length - 1) * bytes; low < high; low += bytes, high -= bytes) {
        __builtin_memcpy(&saved, low, bytes);
        __builtin_memcpy(low, high, bytes);
        __builtin_memcpy(high, &saved, bytes);
    }
}

#define SETTLE(name, number) \
    static void name(const number *source, number *target, word length, word descending) \
    { \
        word count = length, first = 0, last; \
        while (count && target[count - 1] != target[count - 1]) \
            count--; \
        for (word i = 0, next = count; next < length && i < length; i++) \
            if (source[i] != source[i]) \
                target[next++] = source[i]; \
        if (descending) \
            reverse_items((char *)target, count, sizeof *target); \
        if (!count || (target[0] > 0 && target[count - 1] > 0) || (target[0] < 0 && target[count - 1] < 0)) \
            return; \
        for (word left = count; left;) { \
            word half = left / 2, is_before = descending ? target[first + half] > 0 : target[first + half] < 0; \
            first += is_before ? half + 1 : 0; \
            left = is_before ? left - half - 1 : half; \
        } \
        for (last = first; last < count && target[last] == 0;) \
            last++; \
        for (word i = 0; first < last && i < length; i++) \
            if (source[i] == 0) \
                target[first++] = source[i]; \
    }

SETTLE(settle_f64, double)
SETTLE(settle_f32, float)

static word sorted_rows(const word *block)
{
    word length = block[LENGTH], bytes = length * block[ITEM];
    const char *source = (const char *)block[SOURCE];
    char *target = (char *)block[TARGET];
    for (word row = 0; row < block[SORTED_ROWS]; row++, source += bytes, target += bytes) {
        __builtin_memcpy(target, source, bytes);
        if (((int (*)(char *, word, void *))block[SORT])(target, length, 0))
            return 1;
        if (!block[IS_FLOAT]) {
            if (block[DESCENDING])
                reverse_items(target, length, block[ITEM]);
        } else if (block[ITEM] == 8)
            settle_f64((const double *)source, (double *)target, length, block[DESCENDING]);
        else
            settle_f32((const float *)source, (float *)target, length, block[DESCENDING]);
    }
    return 0;
}
