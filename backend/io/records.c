/* Tables of text: the cells of records, and cells as items.  `records.py` has the requests; `tools/runtime.py` makes `records.ll`.

   What is read here is what Python reads, bit for bit, or is left to Python: `split` returns ODD for a block that it does not
   understand, `convert` stops at a cell that it does not understand.  Errors are Python's.

   Blocks are UTF-8 without NUL, and a NUL follows them. */

typedef long long word;
typedef unsigned long long bits;
typedef unsigned char byte;
typedef unsigned int offset;

enum { SPLIT, WIDTHS, CONVERT };
enum { COMPLETE, OPEN, ODD };
enum { TEXT, DOUBLE, FLOAT, INTEGER, TRUTH, PRESENT, DATE, TIME, PATTERN_DATE, PATTERN_TIME };
enum { LONGEST_CELL = 1 << 17, MOST_DIGITS = 19, LEAST_POWER = -342, MOST_POWER = 308 };

#define QUOTED (1u << 31)  /* bits of where a cell stops: it stands in quotes, */
#define ESCAPED (1u << 30) /* some of which are doubled */
#define WHERE (ESCAPED - 1)

struct request {
    word operation;
    const byte *data;
    word length, separator, keeps_blank, columns;
    offset *starts, *stops, *firsts;
    word cells, records, end, lines;
    word *widths;
    /* the cells from + k * stride, for k from `done` to `count`, become items of so many bytes */
    word from, stride, done, count;
    char *target;
    word bytes, form, takes_quoted;
    const char *missing; /* the item of a missing cell, or none */
    word low, high, decimal;
    const byte *group;
    word group_bytes;
    const byte *pattern;
    const bits *powers;
};

/* ---- white space, as in Python's `str.strip` */

/* Bytes of the white space at the start of a text; 0: it is something else. */
static int space(const byte *at, const byte *end)
{
    byte first = *at;
    if (first < 0x80)
        return first == ' ' || (first >= 9 && first <= 13) || (first >= 28 && first <= 31);
    if (end - at >= 2 && first == 0xC2)
        return at[1] == 0x85 || at[1] == 0xA0 ? 2 : 0;
    if (end - at < 3)
        return 0;
    if (first == 0xE2 && at[1] == 0x80)
        return (at[2] >= 0x80 && at[2] <= 0x8A) || at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF ? 3 : 0;
    if ((first == 0xE1 && at[1] == 0x9A && at[2] == 0x80) || (first == 0xE2 && at[1] == 0x81 && at[2] == 0x9F))
        return 3;
    return first == 0xE3 && at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
}

static void strip(const byte **start, const byte **stop)
{
    const byte *at = *start, *end = *stop;
    for (int bytes; at < end && (bytes = space(at, end)); at += bytes) { }
    while (at < end) {
        int bytes = end[-1] < 0x80 ? 1 : end - at >= 2 && end[-2] == 0xC2 ? 2 : 3;
        if (end - at < bytes || space(end - bytes, end) != bytes)
            break;
        end -= bytes;
    }
    *start = at, *stop = end;
}

/* ---- cells of records */

static word split(struct request *request)
{
    const byte *data = request->data;
    word length = request->length, at = 0, cells = 0, records = 0, lines = 0;
    byte separator = (byte)request->separator, ends[256] = {0};
    ends[separator] = ends['\n'] = ends['\r'] = ends[0] = 1;
    request->end = request->lines = 0;
    word result = COMPLETE;
    while (at < length || (request->keeps_blank && !records)) {
        word first = cells;
        for (;;) {
            while (data[at] == ' ')
                at++;
            word start = at, stop;
            offset flags = 0;
            if (data[at] == '"') {
                start = ++at, flags = QUOTED;
                for (;;) {
                    for (; data[at] != '"' && at < length; at++)
                        lines += data[at] == '\n';
                    if (at >= length || data[at + 1] != '"')
                        break;
                    at += 2, flags |= ESCAPED;
                }
                if (at >= length) {
                    if (at - start > LONGEST_CELL)
                        return ODD;
                    cells = first, result = OPEN;
                    goto finished;
                }
                stop = at++;
            } else {
                while (!ends[data[at]])
                    at++;
                stop = at;
            }
            if (stop - start > LONGEST_CELL)
                return ODD;
            request->starts[cells] = (offset)start, request->stops[cells++] = (offset)stop | flags;
            if (at >= length)
                break;
            if (data[at] == separator) {
                at++;
            } else if (data[at] == '\n' || (data[at] == '\r' && data[at + 1] == '\n')) {
                at += 1 + (data[at] == '\r');
                lines++;
                break;
            } else {
                return ODD;
            }
        }
        request->end = at, request->lines = lines;
        if (cells - first == 1 && !request->keeps_blank && !(request->stops[first] & QUOTED)) {
            const byte *start = data + request->starts[first], *stop = data + request->stops[first];
            strip(&start, &stop);
            if (start == stop) {
                cells = first;
                continue;
            }
        }
        request->firsts[records++] = (offset)first;
    }
finished:
    request->cells = cells, request->records = records;
    return result;
}

/* The longest cell of each column, in characters. */
static word widths(struct request *request)
{
    word column = 0, columns = request->columns, *widest = request->widths;
    for (word cell = request->from; cell < request->cells; cell++) {
        offset stop = request->stops[cell];
        const byte *at = request->data + request->starts[cell], *end = request->data + (stop & WHERE);
        if (end - at > widest[column]) {
            word count = 0;
            for (; at < end; at++) {
                count += (*at & 0xC0) != 0x80;
                at += *at == '"' && stop & ESCAPED;
            }
            if (count > widest[column])
                widest[column] = count;
        }
        column = column + 1 == columns ? 0 : column + 1;
    }
    return 0;
}

/* ---- numbers */

#define NEXT_DIGIT(at, end) ((at) < (end) && (byte)(*(at) - '0') < 10)

/* The sign before a number: -1, 1, or 0 where there is none. */
static int sign_of(const byte **at, const byte *end)
{
    const byte *start = *at;
    if (start < end && (*start == '-' || *start == '+'))
        return *at = start + 1, *start == '-' ? -1 : 1;
    if (end - start >= 2 && start[0] == 0xC2 && start[1] == 0xAF) /* ¯ */
        return *at = start + 2, -1;
    if (end - start >= 3 && start[0] == 0xE2 && start[1] == 0x88 && start[2] == 0x92) /* − */
        return *at = start + 3, -1;
    return 0;
}

/* The digits before a decimal sign, in groups of three where the column has a sign for them; how many count, -1: odd. */
static int digits_of(const struct request *request, const byte **start, const byte *end, bits *number)
{
    const byte *at = *start;
    int count = 0, since = 0, groups = 0;
    for (;;) {
        for (; NEXT_DIGIT(at, end); at++, since++) {
            *number = *number * 10 + (byte)(*at - '0');
            if (*number && ++count > MOST_DIGITS)
                return -1;
        }
        word bytes = request->group_bytes, same = 0;
        if (bytes == 1 && *request->group == ' ' && at < end)
            bytes = same = space(at, end); /* a blank is any white space */
        while (same < bytes && at + same < end && at[same] == request->group[same])
            same++;
        if (!bytes || same < bytes)
            break;
        if (groups++ ? since != 3 : since < 1 || since > 3)
            return -1;
        at += bytes, since = 0;
    }
    if (groups && since != 3)
        return -1;
    *start = at;
    return count;
}

static int integer(const struct request *request, const byte *at, const byte *end, char *item)
{
    int sign = sign_of(&at, end);
    const byte *start = at;
    bits number = 0;
    if (digits_of(request, &at, end, &number) < 0 || at == start || at != end)
        return 0;
    if (sign < 0 ? number > 0 - (bits)request->low : number > (bits)request->high)
        return 0;
    word value = sign < 0 ? (word)(0 - number) : (word)number;
    switch (request->bytes) {
    case 1: *(byte *)item = (byte)value; break;
    case 4: *(int *)item = (int)value; break;
    default: *(word *)item = value; break;
    }
    return 1;
}

/* The double next to number × 10 ** power, by the product with a power of five of 128 bits (Lemire, Number parsing at a gigabyte per
   second, 2021); 0: nearer than 128 bits can tell, or no normal number. */
static int scaled(const struct request *request, bits number, int power, bits *result)
{
    if (power < LEAST_POWER || power > MOST_POWER)
        return 0;
    int zeros = __builtin_clzll(number);
    const bits *five = request->powers + 2 * (power - LEAST_POWER);
    number <<= zeros;
    unsigned __int128 product = (unsigned __int128)number * five[1];
    bits high = (bits)(product >> 64), low = (bits)product;
    if ((high & 0x1FF) == 0x1FF) {
        bits more = (bits)(((unsigned __int128)number * five[0]) >> 64);
        low += more;
        high += low < more;
        if (low == ~0ULL && (power < -27 || power > 55))
            return 0;
    }
    int upper = (int)(high >> 63);
    bits mantissa = high >> (upper + 9);
    int exponent = ((217706 * power) >> 16) + 63 + upper - zeros + 1023;
    if (exponent <= 0)
        return 0;
    if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 && mantissa << (upper + 9) == high)
        mantissa &= ~1ULL;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= 1ULL << 53)
        mantissa = 1ULL << 52, exponent++;
    if (exponent >= 0x7FF)
        return 0;
    *result = (mantissa & ~(1ULL << 52)) | (bits)exponent << 52;
    return 1;
}

static int is_word(const byte *at, const byte *end, const char *lower)
{
    for (; at < end && *lower; at++, lower++)
        if ((*at | 0x20) != *lower)
            return 0;
    return at == end && !*lower;
}

static int real(const struct request *request, const byte *at, const byte *end, double *result)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    union { double number; bits pattern; } item;
    int sign = sign_of(&at, end), power = 0;
    if (at == end)
        return 0;
    if (is_word(at, end, "inf") || (!sign && is_word(at, end, "nan"))) {
        item.pattern = (*at | 0x20) == 'i' ? 0x7FF0000000000000 : 0x7FF8000000000000;
        return *result = sign < 0 ? -item.number : item.number, 1;
    }
    bits number = 0;
    const byte *start = at;
    int count = digits_of(request, &at, end, &number);
    word digits = at - start;
    if (count < 0)
        return 0;
    if (at < end && *at == request->decimal) {
        const byte *point = ++at;
        for (; NEXT_DIGIT(at, end); at++) {
            number = number * 10 + (byte)(*at - '0');
            if (number && ++count > MOST_DIGITS)
                return 0;
        }
        digits += at - point;
        if (at - point > 400)
            return 0;
        power = -(int)(at - point);
    }
    if (!digits)
        return 0;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        int below = at < end && *at == '-', exponent = 0;
        at += at < end && (*at == '-' || *at == '+');
        const byte *first = at;
        for (; NEXT_DIGIT(at, end) && at - first < 4; at++)
            exponent = exponent * 10 + (*at - '0');
        if (at == first)
            return 0;
        power += below ? -exponent : exponent;
    }
    if (at != end)
        return 0;
    if (!number) {
        item.number = 0;
    } else if (number <= 1ULL << 53 && power >= -22 && power <= 22) {
        item.number = power < 0 ? (double)number / tens[-power] : (double)number * tens[power];
    } else if (!scaled(request, number, power, &item.pattern)) {
        return 0;
    }
    *result = sign < 0 ? -item.number : item.number;
    return 1;
}

/* ---- dates */

/* So many digits as a number; -1: they are not there. */
static int fixed(const byte **at, const byte *end, int digits)
{
    int number = 0;
    for (; digits > 0; digits--, ++*at) {
        if (!NEXT_DIGIT(*at, end))
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

/* Days since 1970 of a date; 0 where there is no such date. */
static int days_of(int year, int month, int day, word *days)
{
    static const short before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (year < 2 || year > 9998 || month < 1 || month > 12 || day < 1)
        return 0;
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0), past = year - 1;
    if (day > before[month] - before[month - 1] + (month == 2 && leap))
        return 0;
    *days = 365LL * past + past / 4 - past / 100 + past / 400 + before[month - 1] + (month > 2 && leap) + day - 719163;
    return 1;
}

static int iso_date(const byte **at, const byte *end, word *days)
{
    int year = fixed(at, end, 4);
    if (year < 0 || *at == end || *(*at)++ != '-')
        return 0;
    int month = fixed(at, end, 2);
    if (month < 0 || *at == end || *(*at)++ != '-')
        return 0;
    return days_of(year, month, fixed(at, end, 2), days);
}

/* Seconds and nanoseconds since 1970 as nanoseconds; 0: 64 bits may not hold them. */
static int nanoseconds(word seconds, word fraction, word *result)
{
    if (seconds < -9200000000 || seconds > 9200000000)
        return 0;
    *result = seconds * 1000000000 + fraction;
    return 1;
}

static int iso_time(const byte *at, const byte *end, word *result)
{
    word days, fraction = 0, ahead = 0;
    int hour = 0, minute = 0, second = 0;
    if (!iso_date(&at, end, &days))
        return 0;
    if (at < end) {
        if (*at != 'T' && *at != ' ')
            return 0;
        at++;
        hour = fixed(&at, end, 2);
        if (at == end || *at++ != ':')
            return 0;
        minute = fixed(&at, end, 2);
        if (at < end && *at == ':') {
            at++;
            second = fixed(&at, end, 2);
            if (at < end && *at == '.') {
                const byte *point = ++at;
                word unit = 1000000000;
                for (; NEXT_DIGIT(at, end) && at - point < 9; at++)
                    fraction += (*at - '0') * (unit /= 10);
                if (at == point)
                    return 0;
            }
        }
        if (end - at == 1 && *at == 'Z') {
            at++;
        } else if (end - at == 6 && (*at == '+' || *at == '-')) {
            int before = *at++ == '-', hours = fixed(&at, end, 2);
            if (*at++ != ':')
                return 0;
            int minutes = fixed(&at, end, 2);
            if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
                return 0;
            ahead = (hours * 60 + minutes) * (before ? -60 : 60);
        }
    }
    if (at != end || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return 0;
    return nanoseconds(days * 86400 + hour * 3600 + minute * 60 + second - ahead, fraction, result);
}

/* A date in a pattern of strptime, whose numbers have all their digits. */
static int patterned(const struct request *request, const byte *at, const byte *end, word *result)
{
    int year = 1900, month = 1, day = 1, hour = 0, minute = 0, second = 0;
    for (const byte *sign = request->pattern; *sign; sign++) {
        if (*sign != '%') {
            if (at == end || *at++ != *sign)
                return 0;
            continue;
        }
        switch (*++sign) {
        case 'Y': year = fixed(&at, end, 4); break;
        case 'm': month = fixed(&at, end, 2); break;
        case 'd': day = fixed(&at, end, 2); break;
        case 'H': hour = fixed(&at, end, 2); break;
        case 'M': minute = fixed(&at, end, 2); break;
        case 'S': second = fixed(&at, end, 2); break;
        default: return 0;
        }
    }
    word days;
    if (at != end || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return 0;
    if (!days_of(year, month, day, &days))
        return 0;
    if (request->form != PATTERN_DATE)
        return nanoseconds(days * 86400 + hour * 3600 + minute * 60 + second, 0, result);
    *result = days;
    return 1;
}

/* ---- items */

/* A cell as characters, padded with blanks; 0: there is no room. */
static int text(const struct request *request, const byte *at, const byte *end, offset flags, offset *item)
{
    offset *last = item + request->bytes / 4;
    while (at < end) {
        if (item == last)
            return 0;
        offset code = *at++;
        if (code >= 0x80) {
            int more = code >= 0xF0 ? 3 : code >= 0xE0 ? 2 : 1;
            for (code &= 0x3F >> more; more > 0 && at < end; more--)
                code = code << 6 | (*at++ & 0x3F);
        } else if (code == '"' && flags & ESCAPED) {
            at++;
        }
        *item++ = code;
    }
    while (item < last)
        *item++ = ' ';
    return 1;
}

static int item(const struct request *request, const byte *at, const byte *end, offset flags, char *room)
{
    const byte *start = at, *stop = end;
    strip(&start, &stop);
    int is_missing = start == stop || (stop - start == 2 && start[0] == 'N' && start[1] == 'A');
    if (request->form == PRESENT)
        return *room = !is_missing, 1;
    if (is_missing && !(flags & QUOTED && request->takes_quoted)) {
        if (!request->missing)
            return 0;
        for (word byte = 0; byte < request->bytes; byte++)
            room[byte] = request->missing[byte];
        return 1;
    }
    if (request->form == TEXT)
        return text(request, at, end, flags, (offset *)room);
    switch (request->form) {
    case DOUBLE:
        return real(request, start, stop, (double *)room);
    case FLOAT: {
        double number;
        if (!real(request, start, stop, &number))
            return 0;
        if ((number > 3.4028234e38 || number < -3.4028234e38) && number - number == 0)
            return 0;
        return *(float *)room = (float)number, 1;
    }
    case INTEGER:
        return integer(request, start, stop, room);
    case TRUTH:
        *room = is_word(start, stop, "true") || (stop - start == 1 && *start == '1');
        return *room || is_word(start, stop, "false") || (stop - start == 1 && *start == '0');
    case DATE:
        return iso_date(&start, stop, (word *)room) && start == stop;
    case TIME:
        return iso_time(start, stop, (word *)room);
    default:
        return patterned(request, start, stop, (word *)room);
    }
}

/* Convert cells until one is odd: its number, or their count. */
static word convert(const struct request *request)
{
    word at = request->done;
    for (; at < request->count; at++) {
        word cell = request->from + at * request->stride;
        offset stop = request->stops[cell];
        const byte *data = request->data;
        if (!item(request, data + request->starts[cell], data + (stop & WHERE), stop, request->target + at * request->bytes))
            break;
    }
    return at;
}

word kernel(struct request *request)
{
    switch (request->operation) {
    case SPLIT: return split(request);
    case WIDTHS: return widths(request);
    default: return convert(request);
    }
}
