/* Blocks of pivots with one pattern, as devices of one model have, or ends of a network with all that hangs there.
 *
 * A block is a pivot with all that come before it in the elimination tree (J. W. H. Liu, SIAM J. Matrix Anal. Appl.
 * 11(1), 1990). What they change beyond it are a few unknowns of the rest, which is all that is in no block. Blocks of one
 * form are eliminated side by side, each in its lane of a vector. What would be indices of every entry is told once, by
 * steps of the form, which stay in the nearest cache. Of four files that are compiled as one this is the first; then
 * chunks.c, arrange.c, by_rows.c. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX__
#define PACK 4
#else
#define PACK 2
#endif
#define LANES (2 * PACK) /* two vectors, for one waits while the other is computed */

#define FEW 4      /* blocks of one form: of fewer most lanes would be empty */
#define MOST 40    /* pivots of a block, */
#define REACHED 16 /* and unknowns beyond it */
#define ALL (MOST + REACHED)

/* What blocks of a form have. Their numbers are L by rows, U by rows from the last to the first, sums for what is beyond,
 * and inverse pivots; steps are of each row of L and U in this order a count and the columns. Then, of each pivot, the
 * lengths of its row of U and its column of L and where the row is; and of each entry of the column where it is and what
 * it changes with the row. */
typedef struct {
    int size, beyond;                 /* pivots, and unknowns beyond */
    int upper, sums, pivots, numbers; /* where these begin in the numbers; how many there are */
    int step_upper, step_pivots;      /* where these begin in the steps */
} form;
#define STEPS(f) ((const int *)((f) + 1))

typedef struct {
    long chunks;                  /* LANES blocks of one form, or what is left of them, are one */
    long places, pivots, numbers; /* of all chunks: unknowns, those not beyond, and numbers; */
    long sums, reached;           /* of `sum` and of `beyond` */
    long ints;                    /* of `forms` */
    int *root;   /* of each block its last pivot, chunk after chunk */
    int *some;   /* of each chunk: how many blocks it has; lanes that are left repeat its first one, */
    int *form;   /* where its form is, */
    int *beyond; /* which unknowns of the rest are beyond its blocks, */
    int *sum;    /* and where sums for them are added */
    int *forms;
} blocks;

#define FORM(b, chunk) ((const form *)((b)->forms + (b)->form[chunk]))

/* What the search for blocks knows of factors, and of the block that it looks at */
typedef struct {
    const int *Lp, *Li, *Up; /* by columns; the diagonal is first in L, and last in U */
    int *row, *column;       /* U by rows, without the diagonal */
    int *left;               /* entries of each row of L, without it */
    int *child, *next;       /* the tree: of each pivot the last one before it, and of these the one before */
    int *at, *met, now;      /* of each unknown its index in the block in which it was met last */
    int size, beyond, entries, unknown[ALL], i[ALL * ALL], j[ALL * ALL];
    form form;
    int number[ALL][ALL]; /* of the form: by row and column, or -1 */
} search;

static unsigned long mixed(unsigned long key)
{
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15;
    return (key ^ key >> 29) * 0xbf58476d1ce4e5b9;
}

/* An entry of L, or of U, in row or column `i` of the block */
static int meet_entry(search *s, int i, int unknown, int lower)
{
    if (s->met[unknown] != s->now) {
        if (s->beyond == REACHED) return 0;
        s->met[unknown] = s->now;
        s->unknown[s->at[unknown] = s->size + s->beyond++] = unknown;
    }
    s->i[s->entries] = lower ? s->at[unknown] : i;
    s->j[s->entries++] = lower ? i : s->at[unknown];
    return 1;
}

/* The block that ends with a pivot: its pivots in their order, then what is beyond, in an order that follows from its
 * entries alone. Returns a key of its form, or 0 if it is none. */
static unsigned long look_at(search *s, int root)
{
    unsigned long key[REACHED] = {0}, all = 0;
    int *unknown = s->unknown, rank[ALL], inside = 0;
    ++s->now;
    s->size = 1, s->beyond = s->entries = 0;
    unknown[0] = root;
    for (int i = 0; i < s->size; ++i)
        for (int k = s->child[unknown[i]]; k >= 0; k = s->next[k]) unknown[s->size++] = k;
    for (int a = 0, b = s->size - 1; a < b; ++a, --b) { /* they are nearly in order, but backwards */
        const int k = unknown[a];
        unknown[a] = unknown[b], unknown[b] = k;
    }
    for (int i = 1; i < s->size; ++i) {
        const int k = unknown[i];
        int at = i;
        for (; at && unknown[at - 1] > k; --at) unknown[at] = unknown[at - 1];
        unknown[at] = k;
    }
    for (int i = 0; i < s->size; ++i) s->met[unknown[i]] = s->now, s->at[unknown[i]] = i;
    for (int i = 0; i < s->size; ++i) {
        const int k = unknown[i];
        for (int p = s->Lp[k] + 1; p < s->Lp[k + 1]; ++p)
            if (!meet_entry(s, i, s->Li[p], 1)) return 0;
        for (int p = s->row[k]; p < s->row[k + 1]; ++p)
            if (!meet_entry(s, i, s->column[p], 0)) return 0;
        inside -= s->left[k] + s->Up[k + 1] - s->Up[k] - 1;
    }
    for (int e = 0; e < s->entries; ++e) {
        const int lower = s->i[e] >= s->size, beyond = (lower ? s->i[e] : s->j[e]) - s->size;
        if (beyond < 0) ++inside;
        else key[beyond] += mixed(2 * (lower ? s->j[e] : s->i[e]) + lower + 1);
    }
    if (inside) return 0; /* others come before these, too */
    for (int b = 0; b < s->beyond; ++b) {
        int before = 0;
        for (int c = 0; c < s->beyond; ++c) before += key[c] < key[b] || (key[c] == key[b] && c < b);
        rank[b] = s->size + before;
    }
    int moved[REACHED];
    for (int b = 0; b < s->beyond; ++b) moved[b] = unknown[s->size + b];
    for (int b = 0; b < s->beyond; ++b) unknown[s->at[moved[b]] = rank[b]] = moved[b];
    for (int e = 0; e < s->entries; ++e) {
        if (s->i[e] >= s->size) s->i[e] = rank[s->i[e] - s->size];
        if (s->j[e] >= s->size) s->j[e] = rank[s->j[e] - s->size];
        all += mixed(s->i[e] * ALL + s->j[e] + 1);
    }
    return mixed(all + s->size) + s->beyond + 1;
}

/* The form of the block that was looked at, with its steps, to `out` if that is given. Returns how many ints it has; 0
 * if its entries are not those of an elimination. */
static int write_form(search *s, int *out)
{
    const int size = s->size, all = size + s->beyond, head = sizeof s->form / sizeof *out;
    int(*number)[ALL] = s->number, used = head, numbers = 0, row[MOST];
    form *f = &s->form;
#define PUT(what) (out ? (void)(out[used] = (what)) : (void)0, ++used)
    for (int i = 0; i < all; ++i)
        for (int j = 0; j < all; ++j) number[i][j] = -1;
    for (int e = 0; e < s->entries; ++e) number[s->i[e]][s->j[e]] = 0;
    for (int r = 0; r < all + size; ++r) {
        const int lower = r < all, i = lower ? r : all + size - 1 - r, at = used++;
        if (r == all) f->upper = numbers, f->step_upper = at - head;
        if (!lower) row[i] = numbers;
        for (int j = lower ? 0 : i + 1; j < (lower && i < size ? i : lower ? size : all); ++j)
            if (number[i][j] >= 0) {
                number[i][j] = numbers++;
                PUT(j);
            }
        if (out) out[at] = used - at - 1;
    }
    f->size = size, f->beyond = s->beyond, f->sums = numbers, f->step_pivots = used - head;
    for (int k = 0; k < size; ++k)
        for (int i = size; i < all; ++i)
            for (int j = size; j < all; ++j)
                if (number[i][j] < 0 && number[i][k] >= 0 && number[k][j] >= 0) number[i][j] = numbers++;
    f->pivots = numbers, f->numbers = numbers + size;
    for (int k = 0; k < size; ++k) number[k][k] = numbers++;
    for (int k = 0; k < size; ++k) {
        int length = 0, below = 0;
        for (int j = k + 1; j < all; ++j) length += number[k][j] >= 0, below += number[j][k] >= 0;
        PUT(length);
        PUT(below);
        PUT(row[k]);
        for (int i = k + 1; i < all; ++i) {
            if (number[i][k] < 0) continue;
            PUT(number[i][k]);
            for (int j = k + 1; j < all; ++j) {
                if (number[k][j] < 0) continue;
                if (number[i][j] < 0) return 0;
                PUT(number[i][j]);
            }
        }
    }
#undef PUT
    if (out) memcpy(out, f, sizeof *f);
    return used;
}

typedef struct {
    unsigned long key;
    long root;
} found;

static int in_order(const void *a, const void *b)
{
    const found *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->root > y->root) - (x->root < y->root);
}

/* Which pivots are in blocks: there `in` becomes 1. All of that and of b is zero; there is room for 3 n + 2^bits ints,
 * and for 4 n keys. */
static void find_blocks(search *s, long n, blocks *b, int *in, int *room, unsigned long *key, long bits)
{
    int *below = room, *alike = room + n, *many = room + 2 * n, *table = room + 3 * n;
    unsigned long *sum = key + n;
    found *most = (found *)(key + 2 * n);
    long count = 0;
    for (long k = 0; k < n; ++k) s->child[k] = s->next[k] = -1, below[k] = 1, sum[k] = many[k] = 0;
    for (long t = 0; t < 1L << bits; ++t) table[t] = -1;
    for (int k = 0; k < n; ++k) { /* alike are pivots that have, with all that is before them, as many entries */
        int parent = (int)n;
        const int lower = s->Lp[k + 1] - s->Lp[k], upper = s->row[k + 1] - s->row[k];
        for (int p = s->Lp[k] + 1; p < s->Lp[k + 1]; ++p) parent = s->Li[p] < parent ? s->Li[p] : parent;
        for (int p = s->row[k]; p < s->row[k + 1]; ++p) parent = s->column[p] < parent ? s->column[p] : parent;
        key[k] = mixed(mixed(mixed(sum[k] + lower) + upper) + s->left[k]) + s->Up[k + 1] - s->Up[k];
        if (parent < n) {
            s->next[k] = s->child[parent];
            s->child[parent] = k;
            below[parent] += below[k];
            sum[parent] += mixed(key[k]);
        }
        long at = key[k] >> (64 - bits);
        while (table[at] >= 0 && key[table[at]] != key[k]) at = at + 1 < 1L << bits ? at + 1 : 0;
        if (table[at] < 0) table[at] = k;
        ++many[alike[k] = table[at]];
    }
    for (long k = n - 1; k >= 0; --k) {
        if (in[k] || below[k] > MOST || many[alike[k]] < FEW || !(most[count].key = look_at(s, (int)k))) continue;
        most[count++].root = k;
        for (int i = 0; i < s->size; ++i) in[s->unknown[i]] = 1;
    }
    qsort(most, count, sizeof *most, in_order);
    long blocks = 0;
    for (long first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && most[end].key == most[first].key; ++end);
        look_at(s, (int)most[first].root);
        const int ints = write_form(s, 0), many = (int)(end - first);
        if (many < FEW || !ints) {
            for (long each = first; each < end; ++each) {
                look_at(s, (int)most[each].root);
                for (int i = 0; i < s->size; ++i) in[s->unknown[i]] = 0;
            }
            continue;
        }
        for (long each = first; each < end; ++each) {
            b->root[blocks++] = (int)most[each].root;
            if ((each - first) % LANES) continue;
            b->form[b->chunks] = (int)b->ints;
            b->some[b->chunks++] = end - each < LANES ? (int)(end - each) : LANES;
            b->pivots += LANES * s->size;
            b->places += LANES * (s->size + s->beyond);
            b->numbers += LANES * s->form.numbers;
            b->sums += LANES * (s->form.pivots - s->form.sums);
            b->reached += LANES * s->beyond;
        }
        b->ints += ints;
    }
}
