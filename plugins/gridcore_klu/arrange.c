/* What is the same for all matrices with the pivots that KLU has found. Behind chunks.c; by_rows.c is next.
 *
 * Places are those of unknowns: in chunks LANES for each of a block, then for those beyond it; behind them the rest. */

#define SHORT 16

/* L or U of the rest, by rows; without the diagonal */
typedef struct {
    long groups;
    int *length, *count; /* of each group of rows, in the order of a solve */
    int *row;            /* the rows, group after group */
    int *begin, *size;   /* of each row, in the order of pivots: where its entries are, and how many */
    int *column;         /* of each entry */
} triangle;

typedef struct {
    long groups, late, numbers;
    int *length, *below, *count; /* of each group: entries in a row of U and in a column of L, and pivots */
    int *row;   /* the pivots that are not in groups, and come after them */
    int *ahead; /* how many entries of each row of L are of pivots in groups: they come first */
    int *at;    /* of each pivot in a group: it and where its row of U is; of each entry of its column of L where it is,
                 * and the entries that change with it */
} eliminations;

typedef struct {
    long unknowns, n;                  /* in all, and of the rest */
    long rows, entries;                /* of the matrix; lanes that repeat another have it twice */
    long lower_entries, upper_entries; /* of the rest */
    int *P, *Q;                        /* row and column of the matrix of each place */
    int *row, *ptr;      /* places of rows: of chunks, then the rest, those with fewer entries first; where they begin */
    int *column, *place; /* of their entries: places of columns; where their values are, */
    int *to;             /* and where in the factors */
    int *nested; /* of the rest: how many rows of U begin here, each of which is the next one and its entries */
    triangle lower, upper;
    eliminations early;
    blocks blocks;
    double *w, *x; /* of each place; w is zero wherever nobody is at work */
} pivots;

typedef struct {
    double *lower, *upper, *inverse; /* of the rest, one behind the other; `inverse` of U's diagonal */
    double *numbers;                 /* of chunks, behind these */
    double *scale; /* of each place: of the matrix's row, to a largest entry of one: pivots are told so */
} values;

/* What KLU has found: L and U by columns in the order of pivots, L's diagonal first and U's last. The pattern of the
 * matrix, room, and what is found: the number of each pivot in the rest, or -1, and what is L and U of the rest. */
typedef struct {
    long n, bits, least; /* with fewer unknowns than `least` there are no blocks */
    const int *Lp, *Li, *Up, *Ui, *P, *Q, *indptr, *indices;
    int *room, *more;
    unsigned long *keys;
    int *rest;
    const int *rest_Lp, *rest_Li, *rest_Up, *rest_Ui;
} source;

/* out = in, or 0, 1, .. n - 1, in the order of its keys */
static void sort(long n, const int *key, const int *in, int *out, int *first)
{
    for (long i = 0; i <= n; ++i) first[i] = 0;
    for (long i = 0; i < n; ++i) ++first[key[i] + 1];
    for (long i = 0; i < n; ++i) first[i + 1] += first[i];
    for (long i = 0; i < n; ++i) {
        const int k = in ? in[i] : (int)i;
        out[first[key[k]]++] = k;
    }
}

/* Columns ptr + begin to ptr + 1 - end of L or U, by rows; `step` is the direction of a solve */
static void arrange(long n, const int *ptr, const int *index, int begin, int end, int step, triangle *t, int *work)
{
    int *level = work, *by_size = work + n, *first = work + 2 * n, at = 0;
    for (long k = 0; k < n; ++k) level[k] = t->size[k] = 0;
    for (long j = step > 0 ? 0 : n - 1; j >= 0 && j < n; j += step)
        for (int p = ptr[j] + begin; p < ptr[j + 1] - end; ++p) {
            const int i = index[p];
            ++t->size[i];
            if (level[i] <= level[j]) level[i] = level[j] + 1;
        }
    sort(n, t->size, 0, by_size, first);
    sort(n, level, by_size, t->row, first);
    t->groups = 0;
    for (long q = 0; q < n; ++q) {
        const int k = t->row[q], before = q ? t->row[q - 1] : k;
        if (!q || t->size[k] != t->size[before] || level[k] != level[before]) {
            t->length[t->groups] = t->size[k];
            t->count[t->groups++] = 0;
        }
        ++t->count[t->groups - 1];
        t->begin[k] = at;
        at += t->size[k];
    }
    for (long k = 0; k < n; ++k) first[k] = t->begin[k];
    for (long j = 0; j < n; ++j)
        for (int p = ptr[j] + begin; p < ptr[j + 1] - end; ++p) t->column[first[index[p]]++] = (int)j;
}

/* The level of a pivot that also waits for one of this level; -1 is none, of pivots that come after all groups */
static int waits(int level, int of)
{
    return level < 0 || of < 0 ? -1 : level > of ? level : of + 1;
}

/* Which pivots come in groups; `begin` of each is where its numbers are, or -1 */
static void arrange_early(pivots *p, const int *Lp, const int *Up, const int *Ui, int *begin, int *work)
{
    const long n = p->n;
    const int *length = p->upper.size;
    int *level = work, *below = work + n, *order = work + 2 * n, *early = work + 3 * n, *first = work + 4 * n;
    eliminations *e = &p->early;
    long count = 0;
    for (long k = 0; k < n; ++k) { /* after all that change its row or its column, if they are in groups */
        const int *column = p->lower.column + p->lower.begin[k];
        level[k] = length[k] <= SHORT ? 0 : -1;
        for (int q = 0; q < p->lower.size[k]; ++q) level[k] = waits(level[k], level[column[q]]);
        for (int q = Up[k]; q < Up[k + 1] - 1; ++q) level[k] = waits(level[k], level[Ui[q]]);
        begin[k] = level[k] < 0 ? 0 : level[k];
        below[k] = Lp[k + 1] - Lp[k] - 1;
    }
    sort(n, below, 0, early, first);
    sort(n, length, early, order, first);
    sort(n, begin, order, early, first);
    e->groups = e->late = e->numbers = 0;
    for (long q = 0; q < n; ++q) {
        const int k = early[q], before = count ? early[count - 1] : k;
        begin[k] = -1;
        if (level[k] < 0) continue;
        if (!count || level[k] != level[before] || below[k] != below[before] || length[k] != length[before]) {
            e->length[e->groups] = length[k];
            e->below[e->groups] = below[k];
            e->count[e->groups++] = 0;
        }
        ++e->count[e->groups - 1];
        early[count++] = k;
        begin[k] = (int)e->numbers;
        e->numbers += 2 + below[k] * (1 + length[k]);
    }
    for (long k = 0; k < n; ++k) {
        int *column = p->lower.column + p->lower.begin[k], left = 0;
        if (level[k] < 0) e->row[e->late++] = (int)k;
        e->ahead[k] = 0;
        for (int q = 0; q < p->lower.size[k]; ++q) /* those of groups first, each sort in rising order */
            if (level[column[q]] < 0) order[left++] = column[q];
            else column[e->ahead[k]++] = column[q];
        for (int q = 0; q < left; ++q) column[e->ahead[k] + q] = order[q];
    }
}

/* `count` ints of the room */
static int *taken(int **room, long count)
{
    int *out = *room;
    *room += count;
    return out;
}

/* What a search is to look at, and room for what it learns; returns the room behind */
static int *begin_search(search *s, const source *of)
{
    const long n = of->n;
    int *room = of->room;
    s->Lp = of->Lp, s->Li = of->Li, s->Up = of->Up, s->now = 0;
    s->left = taken(&room, n), s->row = taken(&room, n + 1), s->column = taken(&room, of->Up[n] - n);
    s->child = taken(&room, n), s->next = taken(&room, n), s->at = taken(&room, n), s->met = taken(&room, n);
    for (long k = 0; k < n; ++k) s->met[k] = 0;
    return room;
}

/* Which pivots are in blocks, and what of L and U is the others' */
static void find(pivots *p, source *of)
{
    const long n = of->n;
    search s;
    blocks *b = &p->blocks;
    int *room = begin_search(&s, of), *entries = room;
    int *Lp = (int *)of->rest_Lp, *Li = (int *)of->rest_Li, *Up = (int *)of->rest_Up, *Ui = (int *)of->rest_Ui;
    for (long k = 0; k < n; ++k) s.left[k] = s.row[k] = 0;
    s.row[n] = 0;
    for (long j = 0; j < n; ++j) {
        for (int q = of->Lp[j] + 1; q < of->Lp[j + 1]; ++q) ++s.left[of->Li[q]];
        for (int q = of->Up[j]; q < of->Up[j + 1] - 1; ++q) ++s.row[of->Ui[q] + 1];
    }
    for (long k = 0; k < n; ++k) s.row[k + 1] += s.at[k] = s.row[k];
    for (long j = 0; j < n; ++j)
        for (int q = of->Up[j]; q < of->Up[j + 1] - 1; ++q) s.column[s.at[of->Ui[q]]++] = (int)j;
    find_blocks(&s, n, b, of->rest, room, of->keys, of->bits);
    p->n = Lp[0] = Up[0] = 0;
    for (long k = 0; k < n; ++k) of->rest[k] = of->rest[k] ? -1 : (int)p->n++;
    for (long k = 0; k < n; ++k) {
        if (of->rest[k] < 0) continue;
        Lp[1] = Lp[0], Up[1] = Up[0];
        for (int q = of->Lp[k]; q < of->Lp[k + 1]; ++q) Li[Lp[1]++] = of->rest[of->Li[q]];
        for (int q = of->Up[k]; q < of->Up[k + 1]; ++q)
            if (of->rest[of->Ui[q]] >= 0) Ui[Up[1]++] = of->rest[of->Ui[q]];
        ++Lp, ++Up;
    }
    for (long k = 0; k < n; ++k) entries[k] = 0;
    for (int q = 0; q < of->indptr[n]; ++q) ++entries[of->indices[q]];
    for (long chunk = 0, first = 0; chunk < b->chunks; first += b->some[chunk++]) {
        look_at(&s, b->root[first]);
        for (int i = 0; i < s.size; ++i) p->entries += (LANES - b->some[chunk]) * entries[of->P[s.unknown[i]]];
    }
}

/* Finds blocks, if there may be any, and so how much room is wanted. Returns the operations of a factorisation */
double rows_find(pivots *p, source *of)
{
    const long n = of->n;
    double operations = 0.0;
    int *size = of->room;
    for (long k = 0; k < n; ++k) size[k] = 0;
    for (int q = 0; q < of->Up[n]; ++q) ++size[of->Ui[q]];
    for (long k = 0; k < n; ++k) operations += (of->Lp[k + 1] - of->Lp[k] - 1) * (2.0 * size[k] - 1.0);
    p->entries = of->indptr[n];
    if (n >= of->least) {
        find(p, of);
    } else {
        for (long k = 0; k < n; ++k) of->rest[k] = (int)k;
        p->n = n;
        of->rest_Lp = of->Lp, of->rest_Li = of->Li, of->rest_Up = of->Up, of->rest_Ui = of->Ui;
    }
    p->rows = p->n + p->blocks.pivots;
    p->lower_entries = of->rest_Lp[p->n] - p->n, p->upper_entries = of->rest_Up[p->n] - p->n;
    return operations;
}

/* The matrix by rows in the order of pivots; what its entries and unknowns are in the factors */
typedef struct {
    int *pivot;                  /* of each row of the matrix */
    int *begin, *column, *value; /* where rows begin; of their entries columns, and where values are */
    int *to;                     /* where values go */
    int *place;                  /* of each pivot, */
    int *at, *lane;              /* and of each place the pivot, or -1; and its lane, if that repeats another */
    int *where;                  /* room for the rest */
} matrix;

static void matrix_rows(const source *of, matrix *m, int *next)
{
    for (long k = 0; k < of->n; ++k) m->pivot[of->P[k]] = (int)k;
    for (long k = 0; k <= of->n; ++k) m->begin[k] = 0;
    for (int q = 0; q < of->indptr[of->n]; ++q) ++m->begin[m->pivot[of->indices[q]] + 1];
    for (long k = 0; k < of->n; ++k) m->begin[k + 1] += next[k] = m->begin[k];
    for (long k = 0; k < of->n; ++k)
        for (int q = of->indptr[of->Q[k]]; q < of->indptr[of->Q[k] + 1]; ++q) {
            const int at = next[m->pivot[of->indices[q]]]++;
            m->column[at] = (int)k;
            m->value[at] = q;
        }
}

/* Where in the factors the numbers of a row of the rest are, by their columns */
static void row_places(const pivots *p, long k, int *where)
{
    const triangle *L = &p->lower, *U = &p->upper;
    const int *l = L->column + L->begin[k], *u = U->column + U->begin[k];
    for (int q = 0; q < L->size[k]; ++q) where[l[q]] = L->begin[k] + q;
    for (int q = 0; q < U->size[k]; ++q) where[u[q]] = (int)p->lower_entries + U->begin[k] + q;
    where[k] = (int)(p->lower_entries + p->upper_entries + k);
}

static void place_rest(const pivots *p, const source *of, matrix *m)
{
    for (int k = 0; k < of->n; ++k) {
        if (of->rest[k] < 0) continue;
        m->at[m->place[k] = (int)p->blocks.places + of->rest[k]] = k;
        row_places(p, of->rest[k], m->where);
        for (int q = m->begin[k]; q < m->begin[k + 1]; ++q)
            if (of->rest[m->column[q]] >= 0) m->to[m->value[q]] = m->where[of->rest[m->column[q]]];
    }
}

/* The block that was looked at, in a lane of a chunk: `at`, `numbers` and `sum` are the first of its own */
static void place_block(const pivots *p, const source *of, const search *s, matrix *m, int at, int numbers, int *sum)
{
    for (int i = 0; i < s->size; ++i) {
        const int k = s->unknown[i], column = of->Q[k];
        m->place[k] = at + LANES * i;
        for (int q = of->indptr[column]; q < of->indptr[column + 1]; ++q)
            m->to[q] = numbers + LANES * s->number[s->at[m->pivot[of->indices[q]]]][i];
        for (int q = m->begin[k]; q < m->begin[k + 1]; ++q)
            if (of->rest[m->column[q]] >= 0) m->to[m->value[q]] = numbers + LANES * s->number[i][s->at[m->column[q]]];
    }
    for (int i = s->size; i < s->size + s->beyond; ++i) {
        row_places(p, of->rest[s->unknown[i]], m->where);
        for (int j = s->size; j < s->size + s->beyond; ++j)
            if (s->number[i][j] >= 0)
                sum[LANES * (s->number[i][j] - s->form.sums)] = m->where[of->rest[s->unknown[j]]];
    }
}

static void place_blocks(pivots *p, const source *of, search *s, matrix *m)
{
    const blocks *b = &p->blocks;
    int *beyond = b->beyond, *sum = b->sum, at = 0, numbers = (int)(p->lower_entries + p->upper_entries + p->n);
    for (long chunk = 0, first = 0; chunk < b->chunks; first += b->some[chunk++]) {
        if (!chunk || b->form[chunk] != b->form[chunk - 1]) {
            look_at(s, b->root[first]);
            write_form(s, b->forms + b->form[chunk]);
        }
        for (int l = 0; l < LANES; ++l) {
            const int again = l >= b->some[chunk];
            look_at(s, b->root[again ? first : first + l]);
            for (int i = 0, here = at + l; i < s->size; ++i, here += LANES)
                m->at[here] = s->unknown[i], m->lane[here] = again * l;
            for (int i = 0; i < s->beyond; ++i) beyond[LANES * i + l] = of->rest[s->unknown[s->size + i]];
            if (!again) place_block(p, of, s, m, at + l, numbers + l, sum + l);
        }
        at += LANES * (s->size + s->beyond);
        beyond += LANES * s->beyond;
        sum += LANES * (s->form.pivots - s->form.sums);
        numbers += LANES * s->form.numbers;
    }
}

/* The order in which rows of the matrix are taken, and what becomes of their entries */
static void arrange_rows(pivots *p, const source *of, const matrix *m, int *size, int *first)
{
    const long n = p->n, places = p->blocks.places;
    int *row = p->row, at = p->ptr[0] = 0;
    for (int here = 0; here < places; ++here)
        if (m->at[here] >= 0) *row++ = here;
    for (long k = 0; k < n; ++k) {
        const int of_rest = m->at[places + k], entries = m->begin[of_rest + 1] - m->begin[of_rest];
        size[k] = entries < n ? entries : (int)n - 1;
    }
    sort(n, size, 0, row, first);
    for (long k = 0; k < n; ++k) row[k] += (int)places;
    for (long r = 0; r < p->rows; ++r) {
        const int here = p->row[r], k = m->at[here], lane = m->lane[here];
        p->P[here] = of->P[k], p->Q[here] = of->Q[k];
        for (int q = m->begin[k]; q < m->begin[k + 1]; ++q, ++at) {
            p->place[at] = m->value[q];
            p->to[at] = m->to[m->value[q]] + lane;
            p->column[at] = m->place[m->column[q]] + (of->rest[m->column[q]] < 0 ? lane : 0);
        }
        p->ptr[r + 1] = at;
    }
}

/* All that is the same for matrices with these pivots but `early.at`; `rows_find` was there before */
void rows_arrange(pivots *p, source *of)
{
    const long n = p->n, places = p->blocks.places + n, entries = of->indptr[of->n];
    search s;
    matrix m;
    begin_search(&s, of);
    int *room = of->more, *work = taken(&room, 6 * n + 1), *size = taken(&room, n), *first = taken(&room, n + 1);
    m.pivot = taken(&room, of->n), m.begin = taken(&room, of->n + 1), m.place = taken(&room, of->n);
    m.column = taken(&room, entries), m.value = taken(&room, entries), m.to = taken(&room, entries);
    m.at = taken(&room, places), m.lane = taken(&room, places), m.where = taken(&room, n);
    arrange(n, of->rest_Lp, of->rest_Li, 1, 0, 1, &p->lower, work);
    arrange(n, of->rest_Up, of->rest_Ui, 0, 1, -1, &p->upper, work);
    for (long k = n - 1; k >= 0; --k) {
        const int size = p->upper.size[k], *row = p->upper.column + p->upper.begin[k];
        int same = k + 1 < n && size == p->upper.size[k + 1] + 1 && row[0] == k + 1;
        for (int q = 1; same && q < size; ++q) same = row[q] == p->upper.column[p->upper.begin[k + 1] + q - 1];
        p->nested[k] = same ? p->nested[k + 1] + 1 : 1;
    }
    arrange_early(p, of->rest_Lp, of->rest_Up, of->rest_Ui, work, work + n);
    matrix_rows(of, &m, m.place);
    for (long k = 0; k < places; ++k) m.at[k] = -1, m.lane[k] = 0;
    place_rest(p, of, &m);
    place_blocks(p, of, &s, &m);
    arrange_rows(p, of, &m, size, first);
}

/* The places in the numbers of pivots of the rest that come in groups, for which there is room now */
void rows_places(pivots *p, source *of)
{
    const triangle *L = &p->lower, *U = &p->upper;
    int *next = of->more, *where = next + p->n;
    for (long k = 0; k < p->n; ++k) {
        if (next[k] < 0) continue;
        int *at = p->early.at + next[k];
        at[0] = (int)k;
        at[1] = (int)p->lower_entries + U->begin[k];
        next[k] += 2;
    }
    for (long k = 0; k < p->n; ++k) {
        row_places(p, k, where);
        for (int q = 0; q < p->early.ahead[k]; ++q) {
            const int j = L->column[L->begin[k] + q], size = U->size[j], *changed = U->column + U->begin[j];
            int *at = p->early.at + next[j];
            at[0] = where[j];
            for (int i = 0; i < size; ++i) at[1 + i] = where[changed[i]];
            next[j] += 1 + size;
        }
    }
}
