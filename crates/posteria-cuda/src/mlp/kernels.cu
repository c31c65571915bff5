// Hybrid Monte Carlo of networks with one hidden layer. In front of this text come, as #define,
//   D, H, O          inputs, hidden units, outputs
//   LIK              0 normal, 1 Student's t, 2 two classes, 3 several classes
//   DOUBLE           1 if forces are in double precision; energies and random numbers always are
//   LANES, WARPS     threads of a warp that a chain has (8 or 32), warps of a chain (more than one of 32 threads)
//   THREADS          threads of a block
//   BLOCKS           blocks that a multiprocessor has to hold
//   ON_CHIP          1 if the rows of a fold fit on chip
//   PER_INPUT        1 if every input has a scale of its own
//   PARTS, ABOVES    scales of weights, sampled scales above them
// A state is weights, log precisions of the parts, log squares of the scales above, log precision of the
// residuals, index of their degrees of freedom, log step size.
typedef unsigned int u32;
typedef unsigned long long u64;
#if DOUBLE
typedef double real;
#else
typedef float real;
#endif
#define INLINE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
enum { NORMAL, STUDENT_T, LOGISTIC, SOFTMAX };
enum { HIDDEN_BIAS = D * H, OUTPUT = HIDDEN_BIAS + H, OUTPUT_BIAS = OUTPUT + H * O, P = OUTPUT_BIAS + O };
enum { INPUT_PARTS = PER_INPUT ? D : 1, HYPER = PARTS + ABOVES + 3, STATE = P + HYPER };
enum { TAU = PARTS + ABOVES, DOF = TAU + 1, STEP = DOF + 1 };
enum { WIDTH = (D + 1 + 3) / 4 * 4, ROOM = (P + 3) / 4 * 4 + (LANES < 32 ? 4 : 0) };
// Each warp of a chain has all of its state, and does with it what the others do, but for its share of the rows.
enum { SPAN = LANES * WARPS, CHAINS = THREADS / SPAN, COPIES = THREADS / LANES, HYPER_ROOM = (HYPER + 2) / 2 * 2 };
enum { OF_DOF = 1, OF_KAPPA, OF_RESIDUAL, OF_PART, OF_ABOVE, OF_MOMENTUM, OF_STEP, OF_ACCEPTANCE };
// Numbers of the prior: four for every part and every scale above, then those of the residuals.
enum { PRIOR_ABOVE = 4 * PARTS, PRIOR_RESIDUAL = PRIOR_ABOVE + 4 * ABOVES };
#define LARGEST_LOG 80.0

// ---- random numbers: Philox 4x32-10, named by seed, fold, purpose, chain, iteration and index
struct Name { u64 seed; u32 fold, chain, iteration; };
INLINE uint4 bits(const Name &name, u32 purpose, u32 index, u32 attempt) {
  uint4 c = make_uint4(index, name.iteration, name.chain, name.fold << 20 | purpose << 12 | attempt);
  u32 k0 = (u32)name.seed, k1 = (u32)(name.seed >> 32);
  UNROLL for (int round = 0; round < 10; round++) {
    const u32 high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    const u32 high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}
INLINE double uniform(u32 high, u32 low) { return ((double)(((u64)high << 32 | low) >> 11) + 0.5) * 0x1p-53; }
INLINE double normal(uint4 r) { return sqrt(-2.0 * log(uniform(r.x, r.y))) * cospi(2.0 * uniform(r.z, r.w)); }
// log of a gamma variate of scale 1 [Marsaglia & Tsang 2000].
__device__ __noinline__ double log_gamma_draw(double shape, const Name &name, u32 purpose, u32 index) {
  const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
  for (u32 attempt = 0;; attempt += 2) {
    const double z = normal(bits(name, purpose, index, attempt));
    const uint4 r = bits(name, purpose, index, attempt + 1);
    const double root = 1.0 + c * z, v = root * root * root;
    if (attempt < 128 && (v <= 0.0 || !(log(uniform(r.x, r.y)) < 0.5 * z * z + d - d * v + d * log(v)))) continue;
    return log(d * v) + (shape < 1.0 ? log(uniform(r.z, r.w)) / shape : 0.0);
  }
}
// u with log density a u - b exp(-u) - c exp(u) - d (u - m)^2 / 2: tangents left and right of the mode cover it.
__device__ __noinline__ double log_concave_draw(double a, double b, double c, double m, double d, const Name &name, u32 purpose, u32 index) {
  double low = -200.0, high = 200.0;
  for (int halving = 0; halving < 22; halving++) {
    const double u = 0.5 * (low + high);
    if (a + b * exp(-u) - c * exp(u) - d * (u - m) > 0.0) low = u; else high = u;
  }
  double mode = 0.5 * (low + high);
  for (int newton = 0; newton < 4; newton++) {
    const double falls = b * exp(-mode), rises = c * exp(mode);
    mode += (a + falls - rises - d * (mode - m)) / (falls + rises + d);
  }
  const double bm = b * exp(-mode), cm = c * exp(mode), slope = a - d * (mode - m);
#define PSI(t) (slope * (t) - bm * expm1(-(t)) - cm * expm1(t) - 0.5 * d * (t) * (t))
  double ahead = fmin(1.5 / sqrt(bm + cm + d), 500.0), behind = ahead;
  while (PSI(ahead) < -3.0) ahead *= 0.7;
  while (PSI(-behind) < -3.0) behind *= 0.7;
  const double right = -(slope + bm * exp(-ahead) - cm * exp(ahead) - d * ahead), left = slope + bm * exp(behind) - cm * exp(-behind) + d * behind;
  const double from = ahead + PSI(ahead) / right, to = behind + PSI(-behind) / left, middle = from + to;
  const double area = middle + 1.0 / right + 1.0 / left;
  for (u32 attempt = 0;; attempt++) {
    const uint4 r = bits(name, purpose, index, attempt);
    double place = uniform(r.x, r.y) * area, t, cover = 0.0;
    if (place < middle) {
      t = place - to;
    } else if ((place -= middle) < 1.0 / right) {
      cover = log(place * right);
      t = from - cover / right;
    } else {
      cover = log((place - 1.0 / right) * left);
      t = -to + cover / left;
    }
    if (attempt >= 256 || log(uniform(r.z, r.w)) < PSI(t) - cover) return mode + t;
  }
#undef PSI
}

// ---- a chain on LANES threads
struct Chain {
  const real *rows;
  real *weights;
  double *hyper;
  // What warps tell each other, in one of two places by turns.
  double *totals;
  real *partial;
  mutable int turn;
  int n, lane, warp, base, count;
  double beta;
};
// All warps of a chain have come here.
INLINE void meet() {
  asm volatile("bar.sync %0, %1;" ::"r"((int)threadIdx.x / SPAN + 1), "r"((int)SPAN) : "memory");
}
INLINE float hyperbolic(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
INLINE double hyperbolic(double x) { return tanh(x); }
INLINE float exponential(float x) { return __expf(x); }
INLINE double exponential(double x) { return exp(x); }
INLINE float product(float a, float b, float c) { return fmaf(a, b, c); }
INLINE double product(double a, double b, double c) { return fma(a, b, c); }
INLINE double total(double value) {
  UNROLL for (int s = LANES / 2; s; s >>= 1) value += __shfl_xor_sync(~0u, value, s);
  return value;
}
// The sum over all rows of a chain, from that over the rows of every lane.
INLINE double over_rows(const Chain &x, double value) {
  value = total(value);
  if constexpr (WARPS > 1) {
    double *all = x.totals + (x.turn++ & 1) * WARPS;
    if (x.lane == 0) all[x.warp] = value;
    meet();
    value = 0.0;
    UNROLL for (int w = 0; w < WARPS; w++) value += all[w];
  }
  return value;
}
INLINE int part_of(int i) {
  return i < HIDDEN_BIAS ? (PER_INPUT ? i / H : 0) : i < OUTPUT ? INPUT_PARTS : i < OUTPUT_BIAS ? INPUT_PARTS + 1 : INPUT_PARTS + 2;
}
// Sums over lanes; every lane keeps those of the parameters it owns.
__host__ __device__ constexpr int owned(int count, int lanes) { return lanes <= 1 ? count : owned((count + 1) / 2, lanes / 2); }
enum { OWN = owned(P, LANES), SHARE = OWN * LANES };
template <int N, int S> INLINE void scatter(real *g, int lane) {
  if constexpr (S > 0) {
    constexpr int HALF = (N + 1) / 2;
    const bool upper = lane & S;
    UNROLL for (int i = 0; i < HALF; i++) {
      const real low = g[i], high = i + HALF < N ? g[i + HALF] : (real)0;
      g[i] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, S);
    }
    scatter<HALF, S / 2>(g, lane);
  }
}
template <int N, int S> INLINE void own(int lane, int &base, int &count) {
  if constexpr (S > 0) {
    constexpr int HALF = (N + 1) / 2;
    if (lane & S) { base += HALF; count -= HALF; } else count = min(count, HALF);
    own<HALF, S / 2>(lane, base, count);
  }
}
INLINE void publish(const Chain &x, const real *q) {
  __syncwarp();
  UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) x.weights[x.base + j] = q[j];
  __syncwarp();
}

// Derivatives of minus the log likelihood by the parameters that the lane owns.
INLINE void slopes(const Chain &x, const real *own_q, real *own_g) {
  publish(x, own_q);
  real q[P], g[P];
  UNROLL for (int i = 0; i < P; i++) { q[i] = x.weights[i]; g[i] = 0; }
  const real tau = (real)exp(x.hyper[TAU]), nu = (real)x.hyper[HYPER], beta = (real)x.beta;
#pragma unroll 1
  for (int r = x.warp * LANES + x.lane; r < x.n; r += SPAN) {
    const real *row = x.rows + (size_t)r * WIDTH;
    real in[D + 1], v[H], f[O], df[O];
    UNROLL for (int k = 0; k <= D; k++) in[k] = row[k];
    UNROLL for (int h = 0; h < H; h++) {
      real a = q[HIDDEN_BIAS + h];
      UNROLL for (int k = 0; k < D; k++) a = product(in[k], q[k * H + h], a);
      v[h] = hyperbolic(a);
    }
    UNROLL for (int o = 0; o < O; o++) {
      f[o] = q[OUTPUT_BIAS + o];
      UNROLL for (int h = 0; h < H; h++) f[o] = product(v[h], q[OUTPUT + h * O + o], f[o]);
    }
    if (LIK == NORMAL) df[0] = tau * (f[0] - in[D]);
    if (LIK == STUDENT_T) { const real e = f[0] - in[D]; df[0] = (nu + 1) * tau * e / product(tau * e, e, nu); }
    if (LIK == LOGISTIC) df[0] = product((real)0.5, hyperbolic((real)0.5 * f[0]), (real)0.5) - in[D];
    if (LIK == SOFTMAX) {
      real most = f[0], sum = 0;
      UNROLL for (int o = 1; o < O; o++) most = f[o] > most ? f[o] : most;
      UNROLL for (int o = 0; o < O; o++) { df[o] = exponential(f[o] - most); sum += df[o]; }
      sum = 1 / sum;
      UNROLL for (int o = 0; o < O; o++) df[o] = product(df[o], sum, (real)o == in[D] ? (real)-1 : (real)0);
    }
    UNROLL for (int o = 0; o < O; o++) { df[o] *= beta; g[OUTPUT_BIAS + o] += df[o]; }
    UNROLL for (int h = 0; h < H; h++) {
      real u = product(-v[h], v[h], (real)1);
      // With one output its weight is a factor of the whole sum.
      if (O == 1) u *= df[0];
      else { real s = 0; UNROLL for (int o = 0; o < O; o++) s = product(df[o], q[OUTPUT + h * O + o], s); u *= s; }
      UNROLL for (int o = 0; o < O; o++) g[OUTPUT + h * O + o] = product(df[o], v[h], g[OUTPUT + h * O + o]);
      g[HIDDEN_BIAS + h] += u;
      UNROLL for (int k = 0; k < D; k++) g[k * H + h] = product(u, in[k], g[k * H + h]);
    }
  }
  scatter<P, LANES / 2>(g, x.lane);
  if constexpr (WARPS > 1) {
    real *all = x.partial + (x.turn++ & 1) * WARPS * SHARE;
    UNROLL for (int j = 0; j < OWN; j++) all[x.warp * SHARE + j * LANES + x.lane] = g[j];
    meet();
    UNROLL for (int j = 0; j < OWN; j++) {
      g[j] = 0;
      UNROLL for (int w = 0; w < WARPS; w++) g[j] += all[w * SHARE + j * LANES + x.lane];
    }
  }
  UNROLL for (int j = 0; j < OWN; j++) {
    const int i = x.base + j;
    own_g[j] = j < x.count ? (O == 1 && i < OUTPUT ? g[j] * x.weights[OUTPUT + i % H] : g[j]) : (real)0;
  }
}

INLINE void outputs(const Chain &x, const real *row, double *f) {
  UNROLL for (int o = 0; o < O; o++) f[o] = x.weights[OUTPUT_BIAS + o];
#pragma unroll 1
  for (int h = 0; h < H; h++) {
    double a = x.weights[HIDDEN_BIAS + h];
    UNROLL for (int k = 0; k < D; k++) a = fma((double)row[k], (double)x.weights[k * H + h], a);
    a = tanh(a);
    UNROLL for (int o = 0; o < O; o++) f[o] = fma(a, (double)x.weights[OUTPUT + h * O + o], f[o]);
  }
}
// The sum over rows that makes minus the log likelihood: of squares (normal), of log(1 + tau r^2/nu) (t), or it itself.
INLINE double misfit(const Chain &x, const real *own_q) {
  publish(x, own_q);
  const double tau = exp(x.hyper[TAU]), nu = x.hyper[HYPER];
  double sum = 0.0;
#pragma unroll 1
  for (int r = x.warp * LANES + x.lane; r < x.n; r += SPAN) {
    const real *row = x.rows + (size_t)r * WIDTH;
    const double y = row[D];
    double f[O];
    outputs(x, row, f);
    if (LIK == NORMAL) sum = fma(f[0] - y, f[0] - y, sum);
    if (LIK == STUDENT_T) sum += log1p(tau * (f[0] - y) * (f[0] - y) / nu);
    if (LIK == LOGISTIC) sum += fmax(f[0], 0.0) + log1p(exp(-fabs(f[0]))) - y * f[0];
    if (LIK == SOFTMAX) {
      double most = f[0], s = 0.0, at = 0.0;
      UNROLL for (int o = 1; o < O; o++) most = fmax(most, f[o]);
      UNROLL for (int o = 0; o < O; o++) { s += exp(f[o] - most); at += (double)o == y ? f[o] - most : 0.0; }
      sum += log(s) - at;
    }
  }
  return over_rows(x, sum);
}
// Minus the log likelihood, up to what depends on no weight, to the power beta.
INLINE double energy(const Chain &x, double misfit) {
  const double factor = LIK == NORMAL ? 0.5 * exp(x.hyper[TAU]) : LIK == STUDENT_T ? 0.5 * (x.hyper[HYPER] + 1.0) : 1.0;
  return x.beta * factor * misfit;
}

// ---- full conditionals
INLINE double limited(double log_value) { return fmin(fmax(log_value, -LARGEST_LOG), LARGEST_LOG); }
// Minus the log variance of `count` normal numbers with this sum of squares, whose prior is inverse gamma about
// `square` (spread > 0: degrees of freedom) or log-normal (spread < 0: minus the deviation of the log scale).
INLINE double log_precision_draw(double spread, double square, double count, double squares, const Name &name, u32 purpose, u32 index) {
  if (spread > 0.0)
    return limited(log_gamma_draw(0.5 * (spread + count), name, purpose, index) - log(0.5 * fma(spread, square, squares)));
  return limited(log_concave_draw(0.5 * count, 0.0, 0.5 * squares, -log(square), 0.25 / (spread * spread), name, purpose, index));
}
INLINE void set(const Chain &x, int slot, double value) {
  __syncwarp();
  if (x.lane == 0) x.hyper[slot] = value;
  __syncwarp();
}
INLINE void draw_residual(const Chain &x, const double *prior, const Name &name, const real *q, double squares) {
  const double *of = prior + PRIOR_RESIDUAL;
  const double rows = x.beta > 0.0 ? (double)x.n : 0.0;
  if (LIK == STUDENT_T) {
    publish(x, q);
    const double tau = exp(x.hyper[TAU]), nu = x.hyper[HYPER];
    double sum = 0.0, logs = 0.0;
    if (rows > 0.0)
#pragma unroll 1
      for (int r = x.warp * LANES + x.lane; r < x.n; r += SPAN) {
        const real *row = x.rows + (size_t)r * WIDTH;
        double f[O];
        outputs(x, row, f);
        const double e = (f[0] - (double)row[D]) * (f[0] - (double)row[D]);
        const double log_kappa = log_gamma_draw(0.5 * (nu + 1.0), name, OF_KAPPA, r) - log(0.5 * (nu + tau * e));
        sum = fma(exp(log_kappa), e, sum);
        logs += log_kappa - exp(log_kappa);
      }
    squares = over_rows(x, sum);
    logs = over_rows(x, logs);
    const int count = (int)of[2];
    double most = -1e300, weight = 0.0;
    for (int g = 0; g < count; g++) most = fmax(most, fma(rows, of[4 + 2 * g], 0.5 * of[3 + 2 * g] * logs));
    for (int g = 0; g < count; g++) weight += exp(fma(rows, of[4 + 2 * g], 0.5 * of[3 + 2 * g] * logs) - most);
    const uint4 r = bits(name, OF_DOF, 0, 0);
    weight *= uniform(r.x, r.y);
    int chosen = 0;
    for (; chosen + 1 < count; chosen++) {
      weight -= exp(fma(rows, of[4 + 2 * chosen], 0.5 * of[3 + 2 * chosen] * logs) - most);
      if (weight < 0.0) break;
    }
    set(x, DOF, chosen);
    set(x, HYPER, of[3 + 2 * chosen]);
  }
  const double power = LIK == NORMAL ? x.beta : 1.0;
  if (LIK == NORMAL || LIK == STUDENT_T) {
    set(x, TAU, log_precision_draw(of[0], of[1], power * rows, rows > 0.0 ? power * squares : 0.0, name, OF_RESIDUAL, 0));
  }
}
INLINE void draw_scales(const Chain &x, const double *prior, const Name &name, const real *q) {
  // Lanes draw the scales of different parts at the same time.
  for (int begun = 0; begun < PARTS; begun += LANES) {
    double own = 0.0;
#pragma unroll 1
    for (int p = begun; p < min(begun + LANES, PARTS); p++) {
      double squares = 0.0;
      UNROLL for (int j = 0; j < OWN; j++) if (j < x.count && part_of(x.base + j) == p) squares = fma((double)q[j], (double)q[j], squares);
      squares = total(squares);
      if (begun + x.lane == p) own = squares;
    }
    const int p = begun + x.lane;
    const double *of = prior + 4 * p;
    if (p < PARTS && of[0] != 0.0) {
      const double square = of[2] < 0.0 ? of[1] : exp(x.hyper[PARTS + (int)of[2]]);
      x.hyper[p] = log_precision_draw(of[0], square, of[3], own, name, OF_PART, p);
    }
    __syncwarp();
  }
#pragma unroll 1
  for (int a = 0; a < ABOVES; a++) {
    const double *of = prior + PRIOR_ABOVE + 4 * a;
    const int first = (int)of[2], count = (int)of[3];
    const double spread = prior[4 * first];
    double sum = 0.0, precisions = 0.0;
    for (int p = first; p < first + count; p++) { sum += x.hyper[p]; precisions += exp(x.hyper[p]); }
    // What lies below: gamma precisions, or normal logarithms; what lies above likewise.
    double slope = 0.0, fall = 0.0, rise = 0.0, weight = 0.0, mean = 0.0;
    if (spread > 0.0) { slope = 0.5 * count * spread; rise = 0.5 * spread * precisions; }
    else { weight = 0.25 * count / (spread * spread); mean = -sum / count * weight; }
    if (of[1] > 0.0) { slope -= 0.5 * of[1]; fall = 0.5 * of[1] * of[0]; }
    else { const double own = 0.25 / (of[1] * of[1]); weight += own; mean += own * log(of[0]); }
    const double middle = weight > 0.0 ? mean / weight : 0.0;
    const double drawn = log_concave_draw(slope, fall, rise, middle, weight, name, OF_ABOVE, a);
    set(x, PARTS + a, limited(drawn));
  }
}
// Step sizes by parameter: (second derivative of minus the log posterior)^(-1/2), from scales and inputs alone.
INLINE double step_scale(const Chain &x, const double *squares, int i) {
  const double tau = exp(x.hyper[TAU]), nu = x.hyper[HYPER];
  const double of_output = x.beta * (LIK == NORMAL ? tau : LIK == STUDENT_T ? tau * (nu + 1.0) / (nu + 3.0) : 0.25);
  const double of_hidden = O * of_output * exp(-x.hyper[INPUT_PARTS + 1]);
  const double curvature = exp(x.hyper[part_of(i)])
    + (i < HIDDEN_BIAS ? squares[i / H] * of_hidden : i < OUTPUT ? x.n * of_hidden : x.n * of_output);
  return 1.0 / sqrt(curvature);
}

extern __shared__ __align__(16) unsigned char chip[];

INLINE Chain begin(const real *rows, const int *first, const int *count, double beta, int chain, const double *state) {
  Chain x;
  const int fold = blockIdx.y, own_copy = threadIdx.x / LANES, seat = threadIdx.x / SPAN;
  x.lane = threadIdx.x % LANES;
  x.warp = own_copy % WARPS;
  x.turn = 0;
  x.n = count[fold];
  x.beta = beta;
  rows += (size_t)first[fold] * WIDTH;
  double *hyper = (double *)chip;
  double *totals = hyper + COPIES * HYPER_ROOM;
  real *weights = (real *)(totals + (WARPS > 1 ? 2 * COPIES : 0)), *partial = weights + COPIES * ROOM;
  x.hyper = hyper + own_copy * HYPER_ROOM;
  x.totals = totals + seat * 2 * WARPS;
  x.weights = weights + own_copy * ROOM;
  x.partial = partial + seat * 2 * WARPS * SHARE;
#if ON_CHIP
  real *copy = partial + (WARPS > 1 ? 2 * COPIES * SHARE : 0);
  for (int i = threadIdx.x; i < x.n * WIDTH; i += THREADS) copy[i] = rows[i];
  rows = copy;
#endif
  x.rows = rows;
  x.base = 0;
  x.count = P;
  own<P, LANES / 2>(x.lane, x.base, x.count);
  for (int i = x.lane; i < HYPER; i += LANES) x.hyper[i] = state[P + i];
  __syncthreads();
  return x;
}
#define PLACE_OF_THREAD ((int)(blockIdx.x * CHAINS + threadIdx.x / SPAN))
#define CHAIN_OF_THREAD min(PLACE_OF_THREAD, chains - 1)
// One warp of a chain writes.
#define WRITES (PLACE_OF_THREAD < chains && x.warp == 0)

// Iterations of all chains of all folds. `state` has a state for every chain, fold after fold; `draws` every
// thin-th one, `report` the sum of acceptance probabilities and the last energy.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) sample(const real *rows, const int *first, const int *count, const u32 *labels, const double *squares, const double *prior, double *states, double *draws, double *report, const u32 *numbers, u64 seed, double beta, int chains, int begun, int iterations, int steps, int adapting, int thin) {
  const int chain = CHAIN_OF_THREAD, fold = blockIdx.y;
  const size_t place = (size_t)fold * chains + chain;
  double *state = states + place * STATE;
  Chain x = begin(rows, first, count, beta, chain, state);
  const double *dofs = prior + PRIOR_RESIDUAL + 3;
  squares += fold * D;
  real q[OWN], kept[OWN], p[OWN], g[OWN];
  UNROLL for (int j = 0; j < OWN; j++) q[j] = j < x.count ? (real)state[x.base + j] : (real)0;
  set(x, HYPER, dofs[2 * (int)x.hyper[DOF]]);
  double sum = misfit(x, q), accepted = 0.0;
#pragma unroll 1
  for (int it = 0; it < iterations; it++) {
    const Name name = {seed, labels[fold], numbers[chain], (u32)(begun + it)};
    draw_residual(x, prior, name, q, sum);
    draw_scales(x, prior, name, q);
    if (LIK == STUDENT_T) sum = misfit(x, q);
    const uint4 jitter = bits(name, OF_STEP, 0, 0);
    const double step = exp(x.hyper[STEP]) * (0.8 + 0.4 * uniform(jitter.x, jitter.y));
    double change = -energy(x, sum);
    real e[OWN], tau[OWN];
    UNROLL for (int j = 0; j < OWN; j++) {
      const int i = min(x.base + j, P - 1);
      tau[j] = (real)exp(x.hyper[part_of(i)]);
      e[j] = (real)(step * step_scale(x, squares, i));
      p[j] = (real)normal(bits(name, OF_MOMENTUM, i, 0));
      kept[j] = q[j];
    }
    double before = 0.0, after = 0.0;
    UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) before += 0.5 * ((double)p[j] * p[j] + (double)tau[j] * q[j] * q[j]);
#pragma unroll 1
    for (int l = 0; l <= steps; l++) {
      slopes(x, q, g);
      const real share = l == 0 || l == steps ? (real)0.5 : (real)1;
      UNROLL for (int j = 0; j < OWN; j++) {
        p[j] = product(-share * e[j], product(tau[j], q[j], g[j]), p[j]);
        if (l < steps) q[j] = product(e[j], p[j], q[j]);
      }
    }
    UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) after += 0.5 * ((double)p[j] * p[j] + (double)tau[j] * q[j] * q[j]);
    const double proposed = misfit(x, q);
    change += energy(x, proposed) + total(after - before);
    const uint4 r = bits(name, OF_ACCEPTANCE, 0, 0);
    // What is not a number is rejected.
    const bool accepts = log(uniform(r.x, r.y)) < -change;
    const double probability = change != change ? 0.0 : change > 0.0 ? exp(-change) : 1.0;
    accepted += probability;
    if (accepts) sum = proposed;
    else { UNROLL for (int j = 0; j < OWN; j++) q[j] = kept[j]; }
    if (begun + it < adapting) {
      const double gain = pow((double)(begun + it + 1), -0.6);
      set(x, STEP, fmin(fmax(x.hyper[STEP] + gain * (probability - 0.8), -12.0), 2.0));
    }
    if (thin > 0 && (begun + it + 1) % thin == 0 && WRITES) {
      const int kept_before = (begun + it + 1) / thin - begun / thin - 1;
      double *draw = draws + ((size_t)kept_before * gridDim.y * chains + place) * STATE;
      UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) draw[x.base + j] = q[j];
      for (int i = x.lane; i < HYPER; i += LANES) draw[P + i] = x.hyper[i];
    }
    __syncwarp();
  }
  if (WRITES) {
    UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) state[x.base + j] = q[j];
    for (int i = x.lane; i < HYPER; i += LANES) state[P + i] = x.hyper[i];
    if (x.lane == 0) { report[2 * place] = accepted; report[2 * place + 1] = energy(x, sum); }
  }
}

// Minus the log likelihood (up to what depends on no weight) and its derivatives by the weights at given states.
extern "C" __global__ void __launch_bounds__(THREADS) evaluate(const real *rows, const int *first, const int *count, const double *prior, double *states, double *energies, double *gradients, double beta, int chains) {
  const int chain = CHAIN_OF_THREAD;
  const size_t place = (size_t)blockIdx.y * chains + chain;
  const double *state = states + place * STATE;
  Chain x = begin(rows, first, count, beta, chain, state);
  real q[OWN], g[OWN];
  UNROLL for (int j = 0; j < OWN; j++) q[j] = j < x.count ? (real)state[x.base + j] : (real)0;
  set(x, HYPER, prior[PRIOR_RESIDUAL + 3 + 2 * (int)x.hyper[DOF]]);
  const double value = energy(x, misfit(x, q));
  slopes(x, q, g);
  if (!WRITES) return;
  if (x.lane == 0) energies[place] = value;
  UNROLL for (int j = 0; j < OWN; j++) if (j < x.count) gradients[place * P + x.base + j] = g[j];
}
