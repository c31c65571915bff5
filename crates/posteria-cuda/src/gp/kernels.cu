// Covariances and their derivatives in double precision. In front of this text come
//   INPUTS, PARAMETERS                       how many there are (PARAMETERS is at least 1)
//   covariance(a, b, n, h)                   k(x_i, x_j): a holds x_i, b points to x_j with stride n
//   add_slopes(w, a, b, n, h, g)             adds w dk/dlog theta to g
// where h holds the parameters themselves. Matrices are stored column after column.

// B = I + W^1/2 (K + J^2 I) W^1/2, the lower half; roots holds W^1/2.
extern "C" __global__ void fill(const double *x, const double *parameters, const double *roots, double jitter, double *out, int n) {
  __shared__ double h[PARAMETERS];
  for (int p = threadIdx.y * 32 + threadIdx.x; p < PARAMETERS; p += 256) h[p] = parameters[p];
  __syncthreads();
  if (blockIdx.x < blockIdx.y) return;
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  double a[INPUTS];
#pragma unroll
  for (int k = 0; k < INPUTS; k++) a[k] = x[(size_t)k * n + i];
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int j = blockIdx.y * 32 + y;
    if (j > i) break;
    double value = covariance(a, x + j, n, h);
    if (i == j) value += jitter;
    value *= roots[i] * roots[j];
    out[(size_t)j * n + i] = i == j ? value + 1.0 : value;
  }
}

extern "C" __global__ void clear_upper(double *matrix, int n) {
  if (blockIdx.x > blockIdx.y) return;
  const int i = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int j = blockIdx.y * 32 + y;
    if (i < n && j < n && i < j) matrix[(size_t)j * n + i] = 0.0;
  }
}

extern "C" __global__ void diagonal(const double *matrix, double *out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = matrix[(size_t)i * n + i];
}

// Inverts the triangles of 32 rows on the diagonal of a lower triangle: a warp each, a column per lane.
extern "C" __global__ void invert_leaves(double *matrix, int n) {
  __shared__ double leaf[32][33];
  const int first = blockIdx.x * 32, rows = min(32, n - first), lane = threadIdx.x;
  for (int c = 0; c < 32; c++)
    leaf[lane][c] = lane < rows && c <= lane ? matrix[(size_t)(first + c) * n + first + lane] : lane == c ? 1.0 : 0.0;
  __syncwarp();
  double column[32];
#pragma unroll
  for (int r = 0; r < 32; r++) {
    double sum = r == lane ? 1.0 : 0.0;
#pragma unroll
    for (int k = 0; k < r; k++) sum = fma(-leaf[r][k], column[k], sum);
    column[r] = sum / leaf[r][r];
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < 32; r++) leaf[r][lane] = column[r];
  __syncwarp();
  for (int c = 0; c < rows; c++)
    if (lane < rows && lane >= c) matrix[(size_t)(first + c) * n + first + lane] = leaf[lane][c];
}

// The share of every tile of the lower half in tr(W dK/dlog theta), W = (sum_t alpha alpha' - T R)/2 with
// R = W^1/2 B^-1 W^1/2 and alpha = W^1/2 b; tile (x, y) writes to x (x + 1) / 2 + y.
extern "C" __global__ void add_up(const double *x, const double *parameters, const double *roots, const double *inverse, const double *solved, int targets, double *tiles, int n) {
  __shared__ double h[PARAMETERS], sums[8][PARAMETERS];
  for (int p = threadIdx.y * 32 + threadIdx.x; p < PARAMETERS; p += 256) h[p] = parameters[p];
  __syncthreads();
  if (blockIdx.x < blockIdx.y) return;
  const int i = blockIdx.x * 32 + threadIdx.x;
  double g[PARAMETERS];
#pragma unroll
  for (int p = 0; p < PARAMETERS; p++) g[p] = 0.0;
  if (i < n) {
    double a[INPUTS];
#pragma unroll
    for (int k = 0; k < INPUTS; k++) a[k] = x[(size_t)k * n + i];
    for (int y = threadIdx.y; y < 32; y += 8) {
      const int j = blockIdx.y * 32 + y;
      if (j > i) break;
      double w = -targets * inverse[(size_t)j * n + i];
      for (int t = 0; t < targets; t++) w = fma(solved[(size_t)t * n + i], solved[(size_t)t * n + j], w);
      w *= roots[i] * roots[j];
      // The other half has the same; the diagonal is there once.
      add_slopes(i == j ? 0.5 * w : w, a, x + j, n, h, g);
    }
  }
#pragma unroll
  for (int p = 0; p < PARAMETERS; p++) {
#pragma unroll
    for (int s = 16; s; s >>= 1) g[p] += __shfl_xor_sync(~0u, g[p], s);
    if (threadIdx.x == 0) sums[threadIdx.y][p] = g[p];
  }
  __syncthreads();
  const size_t tile = (size_t)blockIdx.x * (blockIdx.x + 1) / 2 + blockIdx.y;
  for (int p = threadIdx.y * 32 + threadIdx.x; p < PARAMETERS; p += 256) {
    double sum = 0.0;
    for (int y = 0; y < 8; y++) sum += sums[y][p];
    tiles[tile * PARAMETERS + p] = sum;
  }
}

// One block per parameter adds its shares, always in the same order.
extern "C" __global__ void total(const double *tiles, int count, double *out) {
  __shared__ double sums[256];
  double sum = 0.0;
  for (int t = threadIdx.x; t < count; t += 256) sum += tiles[(size_t)t * PARAMETERS + blockIdx.x];
  sums[threadIdx.x] = sum;
  for (int s = 128; s; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// The lower half of a matrix among some rows in increasing order: a block per column.
extern "C" __global__ void gather(const double *matrix, const int *rows, int count, double *out, int n) {
  const int j = blockIdx.x;
  for (int i = threadIdx.x; i < count; i += 256) out[(size_t)j * count + i] = i < j ? 0.0 : matrix[(size_t)rows[j] * n + rows[i]];
}

// I - A + epsilon I in place of A, the lower half.
extern "C" __global__ void open_up(double *matrix, double epsilon, int n) {
  if (blockIdx.x < blockIdx.y) return;
  const int i = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int j = blockIdx.y * 32 + y;
    if (i < n && j <= i) matrix[(size_t)j * n + i] = (i == j ? 1.0 + epsilon : 0.0) - matrix[(size_t)j * n + i];
  }
}

// W^1/2 K(X, X*), a column for each of m new rows.
extern "C" __global__ void cross(const double *x, const double *other, const double *parameters, const double *roots, double *out, int n, int m) {
  __shared__ double h[PARAMETERS];
  for (int p = threadIdx.y * 32 + threadIdx.x; p < PARAMETERS; p += 256) h[p] = parameters[p];
  __syncthreads();
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  double a[INPUTS];
#pragma unroll
  for (int k = 0; k < INPUTS; k++) a[k] = x[(size_t)k * n + i];
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int j = blockIdx.y * 32 + y;
    if (j < m) out[(size_t)j * n + i] = roots[i] * covariance(a, other + j, m, h);
  }
}

// Of every column c with its whitened form v: c'b and v'v, always in the same order.
extern "C" __global__ void sums_of_columns(const double *columns, const double *whitened, const double *b, double *out, int n) {
  __shared__ double products[256], squares[256];
  const size_t first = (size_t)blockIdx.x * n;
  double product = 0.0, square = 0.0;
  for (int i = threadIdx.x; i < n; i += 256) {
    product = fma(columns[first + i], b[i], product);
    square = fma(whitened[first + i], whitened[first + i], square);
  }
  products[threadIdx.x] = product;
  squares[threadIdx.x] = square;
  for (int s = 128; s; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      products[threadIdx.x] += products[threadIdx.x + s];
      squares[threadIdx.x] += squares[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = products[0];
    out[2 * blockIdx.x + 1] = squares[0];
  }
}
