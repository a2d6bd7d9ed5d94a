// The passes over answers on a GPU (see hitsndiffs/engines/cupy.py).
//
// quads   n_quads rows of n_users numbers: the bytes of four narrow groups each
// wide    n_wide rows of n_users 16-bit numbers: groups with more than 256 codes
// table   one entry per code: 256 for each narrow group, then the wide groups' from wide_starts on
//
// Sums over users are sums of whole numbers (fixed point). They are the same in any order, so a
// result is the same, bit for bit, from run to run; and adding whole numbers in shared memory is
// one instruction, where adding floats is a loop.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// -- packing -----------------------------------------------------------------------------

// Codes of the users first … first + count - 1 (one row per item) into their packed numbers.
template <typename Code>
__device__ void pack(const Code *codes, i64 count, i64 first, i64 n_users, int n_narrow,
                     const i64 *members, const i64 *starts, const i64 *n_codes, u8 *quads,
                     u16 *wide) {
    i64 user = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    int group = blockIdx.y;
    if (user >= count) return;
    u32 number = 0, stride = 1;
    for (i64 p = starts[group]; p < starts[group + 1]; p++) {
        i64 item = members[p];
        u32 largest = (u32)n_codes[item] - 1;  // a code past the item's last is "no answer"
        number += stride * min((u32)codes[item * count + user], largest);
        stride *= (u32)n_codes[item];
    }
    if (group < n_narrow)
        quads[((group / 4) * n_users + first + user) * 4 + group % 4] = number;
    else
        wide[(group - n_narrow) * n_users + first + user] = number;
}

extern "C" __global__ void pack_bytes(const u8 *codes, i64 count, i64 first, i64 n_users,
                                      int n_narrow, const i64 *members, const i64 *starts,
                                      const i64 *n_codes, u8 *quads, u16 *wide) {
    pack(codes, count, first, n_users, n_narrow, members, starts, n_codes, quads, wide);
}

extern "C" __global__ void pack_shorts(const u16 *codes, i64 count, i64 first, i64 n_users,
                                       int n_narrow, const i64 *members, const i64 *starts,
                                       const i64 *n_codes, u8 *quads, u16 *wide) {
    pack(codes, count, first, n_users, n_narrow, members, starts, n_codes, quads, wide);
}

// -- between options and codes -------------------------------------------------------------

// Summed weights of every code of every group; `columns` vectors side by side.
template <typename T>
__device__ void fill(const T *weights, int columns, const i64 *members, const i64 *starts,
                     const i64 *item_starts, const i64 *n_codes, const i64 *table_starts,
                     T *table) {
    int group = blockIdx.y;
    i64 size = 1;
    for (i64 p = starts[group]; p < starts[group + 1]; p++) size *= n_codes[members[p]];
    i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    i64 code = at / columns, column = at % columns;
    if (code >= size) return;
    T sum = 0;
    i64 rest = code;
    for (i64 p = starts[group]; p < starts[group + 1]; p++) {
        i64 item = members[p];
        i64 option = item_starts[item] + rest % n_codes[item];
        if (option < item_starts[item + 1]) sum += weights[option * columns + column];
        rest /= n_codes[item];
    }
    table[(table_starts[group] + code) * columns + column] = sum;
}

extern "C" __global__ void fill_doubles(const double *weights, int columns, const i64 *members,
                                        const i64 *starts, const i64 *item_starts,
                                        const i64 *n_codes, const i64 *table_starts,
                                        double *table) {
    fill(weights, columns, members, starts, item_starts, n_codes, table_starts, table);
}

extern "C" __global__ void fill_whole(const u64 *weights, int columns, const i64 *members,
                                      const i64 *starts, const i64 *item_starts,
                                      const i64 *n_codes, const i64 *table_starts, u64 *table) {
    fill(weights, columns, members, starts, item_starts, n_codes, table_starts, table);
}

// From the sums of codes to those of options: one warp per option and column. `sums` has one row
// of `length` entries per column.
extern "C" __global__ void spread(const i64 *sums, i64 length, int n_options, int columns,
                                  const double *units, const i64 *first_entries,
                                  const i64 *group_sizes, const i64 *strides,
                                  const i64 *n_codes, const i64 *places, double *options) {
    i64 warp = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (warp >= (i64)n_options * columns) return;
    i64 option = warp / columns, column = warp % columns;
    const i64 *entries = sums + column * length + first_entries[option];
    i64 stride = strides[option], codes = n_codes[option], place = places[option];
    i64 total = 0;
    for (i64 code = lane; code < group_sizes[option]; code += 32)
        if (code / stride % codes == place) total += entries[code];
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(0xffffffffu, total, step);
    if (lane == 0) options[option * columns + column] = (double)total * units[column];
}

// -- to the users --------------------------------------------------------------------------

// For each of some users and each column, the sum of the table's entries.
template <typename T>
__device__ void look_up(const u32 *quads, const u16 *wide, i64 n_users, i64 first, u32 count,
                        int n_quads, int n_wide, const i64 *wide_starts, const T *table,
                        int columns, T *scores) {
    u32 all = count * columns;
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < all; at += gridDim.x * blockDim.x) {
        i64 user = first + at / columns;
        u32 column = at % columns;
        T sum = 0;
        const T *part = table + column;
#pragma unroll 2
        for (int h = 0; h < n_quads; h++) {
            u32 four = quads[h * n_users + user];
            sum += __ldg(part + (four & 255) * columns) +
                   __ldg(part + (256 + (four >> 8 & 255)) * columns) +
                   (__ldg(part + (512 + (four >> 16 & 255)) * columns) +
                    __ldg(part + (768 + (four >> 24)) * columns));
            part += 1024 * (i64)columns;
        }
        for (int g = 0; g < n_wide; g++)
            sum += __ldg(table + (wide_starts[g] + wide[g * n_users + user]) * columns + column);
        scores[at] = sum;
    }
}

extern "C" __global__ void choices_doubles(const u32 *quads, const u16 *wide, i64 n_users,
                                           i64 first, u32 count, int n_quads, int n_wide,
                                           const i64 *wide_starts, const double *table,
                                           int columns, double *scores) {
    look_up(quads, wide, n_users, first, count, n_quads, n_wide, wide_starts, table, columns,
            scores);
}

extern "C" __global__ void choices_whole(const u32 *quads, const u16 *wide, i64 n_users,
                                         i64 first, u32 count, int n_quads, int n_wide,
                                         const i64 *wide_starts, const u64 *table, int columns,
                                         u64 *scores) {
    look_up(quads, wide, n_users, first, count, n_quads, n_wide, wide_starts, table, columns,
            scores);
}

// -- wide groups: too long for shared memory -------------------------------------------------

extern "C" __global__ void choosers_wide(const u16 *wide, i64 n_users, i64 first, i64 count,
                                         int n_wide, const i64 *wide_starts,
                                         const double *scores, i64 user_step, i64 column_step,
                                         const double *fixed, i64 length, u64 *sums) {
    int column = blockIdx.y;
    for (i64 u = blockIdx.x * (i64)blockDim.x + threadIdx.x; u < count;
         u += gridDim.x * (i64)blockDim.x) {
        double score = scores[u * user_step + column * column_step];
        u64 number = (u64)__double2ll_rn(score * fixed[column]);
        for (int g = 0; g < n_wide; g++)
            atomicAdd(sums + column * length + wide_starts[g] + wide[g * n_users + first + u],
                      number);
    }
}

// -- sparse rows: option numbers, user after user ---------------------------------------------

template <typename T>
__device__ void look_up_rows(const i64 *indptr, const int *options, i64 first, u32 count,
                             const T *weights, int columns, T *scores) {
    u32 all = count * columns;
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < all; at += gridDim.x * blockDim.x) {
        i64 user = first + at / columns;
        u32 column = at % columns;
        T sum = 0;
        for (i64 p = indptr[user]; p < indptr[user + 1]; p++)
            sum += __ldg(weights + (i64)options[p] * columns + column);
        scores[at] = sum;
    }
}

extern "C" __global__ void choices_rows_doubles(const i64 *indptr, const int *options, i64 first,
                                                u32 count, const double *weights, int columns,
                                                double *scores) {
    look_up_rows(indptr, options, first, count, weights, columns, scores);
}

extern "C" __global__ void choices_rows_whole(const i64 *indptr, const int *options, i64 first,
                                              u32 count, const u64 *weights, int columns,
                                              u64 *scores) {
    look_up_rows(indptr, options, first, count, weights, columns, scores);
}

extern "C" __global__ void choosers_rows(const i64 *indptr, const int *options, i64 first,
                                         i64 count, const double *scores, i64 user_step,
                                         i64 column_step, const double *fixed, i64 length,
                                         u64 *sums) {
    int column = blockIdx.y;
    for (i64 u = blockIdx.x * (i64)blockDim.x + threadIdx.x; u < count;
         u += gridDim.x * (i64)blockDim.x) {
        double score = scores[u * user_step + column * column_step];
        u64 number = (u64)__double2ll_rn(score * fixed[column]);
        for (i64 p = indptr[first + u]; p < indptr[first + u + 1]; p++)
            atomicAdd(sums + column * length + options[p], number);
    }
}

// The largest size of each column's scores, as the bits of a double: these are in the order of the
// sizes, and those of infinity and of "no number" are the largest.
extern "C" __global__ void largest(const double *scores, i64 count, i64 user_step,
                                   i64 column_step, u64 *sizes) {
    int column = blockIdx.y;
    u64 most = 0;
    for (i64 u = blockIdx.x * (i64)blockDim.x + threadIdx.x; u < count;
         u += gridDim.x * (i64)blockDim.x) {
        double score = fabs(scores[u * user_step + column * column_step]);
        most = max(most, (u64)__double_as_longlong(score));
    }
    for (int step = 16; step; step /= 2)
        most = max(most, __shfl_down_sync(0xffffffffu, most, step));
    if (threadIdx.x % 32 == 0) atomicMax(sizes + column, most);
}
