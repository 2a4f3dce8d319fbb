/* Memory, and functions of four numbers at once: what `bert.c` and `lab.c` share. */

#include <wasm_simd128.h>

typedef float four __attribute__((vector_size(16)));
typedef four unaligned __attribute__((aligned(1), may_alias));
typedef unsigned short half;
#define FOUR(place) (*(unaligned *)(place)) /* four numbers from a place on */

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
enum { WIDE = 8, ROWS = 4, DEPTH = 384, PAGE = 65536 };

/* -- memory: everything is taken from the end, and given back by going back to a mark ---------- */

extern unsigned char __heap_base;
static unsigned long end;

/* Return the address where the next bytes will be taken. */
EXPORT(mark) unsigned long mark(void) {
  if (!end) end = ((unsigned long)&__heap_base + 15) & ~15ul;
  return end;
}

/* Give back what was taken since a mark. */
EXPORT(release) void release(unsigned long to) { end = to; }

/* Take bytes, aligned to 16; 0 if the browser gives no more. */
EXPORT(take) void *take(unsigned long bytes) {
  const unsigned long from = mark(), to = (from + bytes + 15) & ~15ul;
  const unsigned long there = __builtin_wasm_memory_size(0) * PAGE;
  if (to < from) return 0;
  if (to > there && __builtin_wasm_memory_grow(0, (to - there + PAGE - 1) / PAGE) == -1ul) return 0;
  end = to;
  return (void *)from;
}

/* -- numbers ----------------------------------------------------------------------------------- */

INLINE four splat(float x) { return (four){x, x, x, x}; }

INLINE float total(four x) { return (x[0] + x[1]) + (x[2] + x[3]); }

/* Read four numbers of a row; after its end, `rest`. */
INLINE four partly(const float *from, int count, float rest) {
  if (count >= 4) return FOUR(from);
  four found = splat(rest);
  for (int i = 0; i < count; i++) found[i] = from[i];
  return found;
}

INLINE void put(float *to, four x, int count) {
  if (count >= 4) FOUR(to) = x;
  else
    for (int i = 0; i < count; i++) to[i] = x[i];
}

/* exp of numbers of at most 0: 2^n times a polynomial fitted to 4e-9 on half an octave. */
INLINE four exponential(four x) {
  x = wasm_f32x4_max(x, splat(-87.0f));
  const four n = wasm_f32x4_nearest(x * 1.44269504f);
  const four r = x - n * 0x1.62ep-1f - n * 0x1.0bfbe8p-15f;
  static const float c[] = {0.00137514079f, 0.00836891634f, 0.0416695331f, 0.166665185f,
                            0.499999886f,   1.0f,           1.0f};
  four p = splat(c[0]);
  for (int i = 1; i < 7; i++) p = p * r + c[i];
  const v128_t power = wasm_i32x4_trunc_sat_f32x4(n) + 127;
  return p * (four)wasm_i32x4_shl(power, 23);
}

/* 1 + erf(x / sqrt 2), with a rational function fitted to erf(z)/z within 2e-9 below 3.95. */
INLINE four twice_below(four x) {
  const four most = splat(3.95f);
  const four z = wasm_f32x4_max(wasm_f32x4_min(x * 0.707106781f, most), -most), u = z * z;
  static const float a[] = {-1.29682882e-08f, 4.64067561e-06f, 0.000377945711f, 0.00384338843f,
                            0.0542749461f,    0.185168834f,    1.12837917f};
  static const float b[] = {6.26947925e-05f, 0.00130407814f, 0.0154437848f,
                            0.113911093f,    0.497435016f,   1.0f};
  four p = splat(a[0]), q = splat(b[0]);
  for (int i = 1; i < 7; i++) p = p * u + a[i];
  for (int i = 1; i < 6; i++) q = q * u + b[i];
  return 1 + z * p / q;
}

/* Turn a row of scores, each times `scale`, into probabilities; return the sum that they were
   divided by, and the largest score. */
static float softmax(float *row, int count, float scale, float *largest) {
  const float least = -3.4e38f;
  four most = splat(least), sum = splat(0);
  for (int i = 0; i < count; i += 4)
    most = wasm_f32x4_max(most, partly(row + i, count - i, least));
  float top = least;
  for (int i = 0; i < 4; i++) top = most[i] > top ? most[i] : top;
  for (int i = 0; i < count; i += 4) {
    const four value = exponential((partly(row + i, count - i, top) - top) * scale);
    put(row + i, value, count - i);
    sum += partly(row + i, count - i, 0);
  }
  const float all = total(sum);
  for (int i = 0; i < count; i += 4) put(row + i, partly(row + i, count - i, 0) / all, count - i);
  *largest = top;
  return all;
}

/* -- products ---------------------------------------------------------------------------------- */

/* Read four float16 numbers, exactly; infinities do not occur in weights. */
INLINE four widened(const half *from) {
  const v128_t bits = wasm_i32x4_shl(wasm_i32x4_load16x4(from), 13);
  return (four)(bits & (int)0x8fffe000) * 0x1p112f;
}

/* Read four numbers of a matrix from a place on. */
INLINE four stored(const void *from, long at, int halves) {
  return halves ? widened((const half *)from + at) : FOUR((const float *)from + at);
}

/* Lay WIDE columns of B side by side: panel[k][column]; columns that are not there are 0. B is read
   along its columns if they are next to each other, and along k otherwise (a multiple of 4). */
INLINE void lay(float *panel, const void *b, const int halves, long begin, int b_deep, int b_column,
                int columns, int depth) {
  if (b_column == 1) {
    const float *row = (const float *)b + begin;
    for (int k = 0; k < depth; k++, row += b_deep, panel += WIDE)
      for (int c = 0; c < WIDE; c += 4) FOUR(panel + c) = partly(row + c, columns - c, 0);
    return;
  }
  for (int c = 0; c < WIDE; c += 4)
    for (int k = 0; k < depth; k += 4) {
      four rows[4];
      for (int i = 0; i < 4; i++)
        rows[i] = c + i < columns ? stored(b, begin + (long)(c + i) * b_column + k, halves) : splat(0);
      for (int i = 0; i < 4; i++)
        FOUR(panel + (k + i) * WIDE + c) = (four){rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
    }
}

/* Multiply a few rows of A by a panel, on top of `start`, of what is there, or of 0. */
INLINE void few(const int count, const float *a, int a_row, int a_deep, const float *panel,
                int depth, float *to, int to_row, int columns, const float *start, int more) {
  four sum[ROWS][2];
  for (int r = 0; r < count; r++)
    for (int i = 0; i < 2; i++) {
      const float *from = more ? to + r * to_row : start;
      sum[r][i] = from ? partly(from + 4 * i, columns - 4 * i, 0) : splat(0);
    }
#pragma clang loop unroll(disable)
  for (int k = 0; k < depth; k++, a += a_deep, panel += WIDE) {
    const four left = FOUR(panel), right = FOUR(panel + 4);
#pragma clang loop unroll(full)
    for (int r = 0; r < count; r++) {
      sum[r][0] += a[r * a_row] * left;
      sum[r][1] += a[r * a_row] * right;
    }
  }
  for (int r = 0; r < count; r++)
    for (int i = 0; i < 2; i++) put(to + r * to_row + 4 * i, sum[r][i], columns - 4 * i);
}

/* to[r][c] = sum over k of a[r][k] b[k][c], on top of `start`[c], of what is there (`more`) or 0.
   Steps lead from row to row, from k to k and from column to column. B is float16 if `halves`. */
static void product(float *to, int to_row, const float *a, int a_row, int a_deep, const void *b,
                    int b_deep, int b_column, const float *start, int lines, int columns, int depth,
                    int more, int halves) {
  static float panel[DEPTH * WIDE];
  for (int c = 0; c < columns; c += WIDE)
    for (int k = 0; k < depth; k += DEPTH) {
      const int deep = depth - k < DEPTH ? depth - k : DEPTH, left = columns - c;
      const int again = more || k > 0;
      const long begin = (long)k * b_deep + (long)c * b_column;
      if (halves) lay(panel, b, 1, begin, b_deep, b_column, left, deep);
      else lay(panel, b, 0, begin, b_deep, b_column, left, deep);
      const float *from = a + (long)k * a_deep, *base = start ? start + c : 0;
      int r = 0;
#define STEP(n) few(n, from + r * a_row, a_row, a_deep, panel, deep, to + r * to_row + c, to_row, left, base, again)
      for (; r + ROWS <= lines; r += ROWS) STEP(ROWS);
      if (lines - r == 3) STEP(3);
      if (lines - r == 2) STEP(2);
      if (lines - r == 1) STEP(1);
    }
}
