// One vector's pass back to the options, in shared memory, and the whole round in one pass.
//
// Built for a number of quads (N_QUADS). A score's fixed-point number is cut into two halves that are
// added up apart (about 38 bits).
//
// A block of threads takes `batch` users at a time: so many that no sum can pass 32 bits. Then
// its sums go to the 64-bit totals, and it starts again.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define WORDS 2
#define CODES (N_QUADS * 1024)

__device__ __forceinline__ u32 code_of(const u32 *four, int h, int k) {
    return (h * 4 + k) * 256 + (four[h] >> (8 * k) & 255);
}

__device__ __forceinline__ void add(const u32 *four, double score, double fixed, int bits, int *sums) {
    i64 number = __double2ll_rn(score * fixed);
    int low = (int)(number & ((1LL << bits) - 1)), high = (int)(number >> bits);
    sums += threadIdx.x % COPIES;
    int *highs = sums + CODES * COPIES;
    if (low == 0) {  // ones and zeros, and other numbers of few bits: half the additions, or none
        if (high)
#pragma unroll
            for (int h = 0; h < N_QUADS; h++)
#pragma unroll
                for (int k = 0; k < 4; k++) atomicAdd(highs + code_of(four, h, k) * COPIES, high);
        return;
    }
#pragma unroll
    for (int h = 0; h < N_QUADS; h++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 code = code_of(four, h, k) * COPIES;
            atomicAdd(sums + code, low);
            atomicAdd(highs + code, high);
        }
}

// Add a block's sums to the totals and set them to zero.
__device__ __forceinline__ void empty(int *sums, int bits, u64 *totals) {
    for (int code = threadIdx.x; code < CODES; code += blockDim.x) {
        i64 total = 0;
#pragma unroll
        for (int copy = 0; copy < COPIES; copy++) {
            int at = code * COPIES + copy;
            total += (i64)(u32)sums[at] + ((i64)sums[CODES * COPIES + at] << bits);
            sums[CODES * COPIES + at] = 0;
            sums[at] = 0;
        }
        if (total) atomicAdd(totals + code, (u64)total);
    }
}

// Cᵀ (scale * (C w)); `scale` is one number for all users, or one each.
extern "C" __global__ void __launch_bounds__(THREADS)
through(const u32 *quads, i64 n_users, const double *table, const double *scale, int same_scale,
        double fixed, int bits, int batch, u64 *totals) {
    extern __shared__ double room[];
    double *look = room;
    int *sums = (int *)(look + CODES);
    for (int code = threadIdx.x; code < CODES; code += blockDim.x) look[code] = table[code];
    for (int code = threadIdx.x; code < CODES * COPIES * WORDS; code += blockDim.x) sums[code] = 0;
    __syncthreads();
    double everybody = same_scale ? scale[0] : 1.0;
    for (i64 start = blockIdx.x * (i64)batch; start < n_users; start += gridDim.x * (i64)batch) {
        i64 end = min(start + batch, n_users);
        for (i64 user = start + threadIdx.x; user < end; user += blockDim.x) {
            u32 four[N_QUADS];
#pragma unroll
            for (int h = 0; h < N_QUADS; h++) four[h] = __ldcs(quads + h * n_users + user);
            double even = 0, odd = 0;
#pragma unroll
            for (int h = 0; h < N_QUADS; h++) {
                even += look[code_of(four, h, 0)] + look[code_of(four, h, 1)];
                odd += look[code_of(four, h, 2)] + look[code_of(four, h, 3)];
            }
            double score = (even + odd) * (same_scale ? everybody : scale[user]);
            add(four, score, fixed, bits, sums);
        }
        __syncthreads();
        empty(sums, bits, totals);
        __syncthreads();
    }
}

// Cᵀ s of some users, for each column of s.
extern "C" __global__ void __launch_bounds__(THREADS)
choosers(const u32 *quads, i64 n_users, i64 first, i64 count, const double *scores, i64 user_step,
         i64 column_step, const double *fixed, int bits, int batch, i64 length, u64 *totals) {
    extern __shared__ double room[];
    int *sums = (int *)room;
    for (int code = threadIdx.x; code < CODES * COPIES * WORDS; code += blockDim.x) sums[code] = 0;
    __syncthreads();
    scores += blockIdx.y * column_step;
    totals += blockIdx.y * length;
    double unit = fixed[blockIdx.y];
    for (i64 start = blockIdx.x * (i64)batch; start < count; start += gridDim.x * (i64)batch) {
        i64 end = min(start + batch, count);
        for (i64 user = start + threadIdx.x; user < end; user += blockDim.x) {
            u32 four[N_QUADS];
#pragma unroll
            for (int h = 0; h < N_QUADS; h++) four[h] = quads[h * n_users + first + user];
            add(four, scores[user * user_step], unit, bits, sums);
        }
        __syncthreads();
        empty(sums, bits, totals);
        __syncthreads();
    }
}
