/* Products of matrices: a block of words becomes calls of BLAS.  `cpu/products.py` writes the words.

   A block is the same part of each of `count` products, whose operands and results lie `…_next` bytes apart.  A matrix times itself
   transposed is done in another way: a block that says `mirrored` is refused (1) where its operands turn out to be one array. */

enum { LEFT_FORM, RIGHT_FORM, ROWS, COLUMNS, SHARED, LEFT_PITCH, RIGHT_PITCH, PITCH, MIRRORED, COUNT, LEFT_NEXT, RIGHT_NEXT, NEXT,
       ITEMS, FUNCTION, LEFT_WHOLE, RIGHT_WHOLE, LEFT, RIGHT, RESULT };
enum { F32_ITEMS, F64_ITEMS, C64_ITEMS, C128_ITEMS };
enum { ROWS_FIRST = 101 };

#define GEMM(number) void (*)(int, int, int, word, word, word, number, char *, word, char *, word, number, char *, word)
#define MULTIPLY(number, one, zero) \
    ((GEMM(number))block[FUNCTION])(ROWS_FIRST, (int)block[LEFT_FORM], (int)block[RIGHT_FORM], block[ROWS], block[COLUMNS], \
        block[SHARED], one, left, block[LEFT_PITCH], right, block[RIGHT_PITCH], zero, result, block[PITCH])

static word product(const word *block)
{
    static const float one32[2] = {1, 0}, zero32[2];
    static const double one64[2] = {1, 0}, zero64[2];
    char *left = (char *)block[LEFT], *right = (char *)block[RIGHT], *result = (char *)block[RESULT];
    if (block[MIRRORED] && block[LEFT_WHOLE] == block[RIGHT_WHOLE])
        return 1;
    for (word due = block[COUNT]; due > 0; due--) {
        switch (block[ITEMS]) {
        case F32_ITEMS: MULTIPLY(float, 1, 0); break;
        case F64_ITEMS: MULTIPLY(double, 1, 0); break;
        case C64_ITEMS: MULTIPLY(const void *, one32, zero32); break;
        case C128_ITEMS: MULTIPLY(const void *, one64, zero64); break;
        }
        left += block[LEFT_NEXT], right += block[RIGHT_NEXT], result += block[NEXT];
    }
    return 0;
}
