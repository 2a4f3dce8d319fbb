/* Memory, and functions of four numbers at once: what `bert.c` and `lab.c` share. */

#include <wasm_simd128.h>

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

INLINE float total(v128_t x) {
  return (wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1)) +
         (wasm_f32x4_extract_lane(x, 2) + wasm_f32x4_extract_lane(x, 3));
}

/* Read four numbers of a row; after its end, `rest`. */
INLINE v128_t partly(const float *from, int count, float rest) {
  if (count >= 4) return wasm_v128_load(from);
  float lanes[4] = {rest, rest, rest, rest};
  for (int i = 0; i < count; i++) lanes[i] = from[i];
  return wasm_v128_load(lanes);
}

INLINE void put(float *to, v128_t x, int count) {
  if (count >= 4) {
    wasm_v128_store(to, x);
    return;
  }
  float lanes[4];
  wasm_v128_store(lanes, x);
  for (int i = 0; i < count; i++) to[i] = lanes[i];
}

/* exp of numbers of at most 0: 2^n times a polynomial fitted to 4e-9 on half an octave. */
INLINE v128_t exponential(v128_t x) {
  x = wasm_f32x4_max(x, wasm_f32x4_splat(-87.0f));
  const v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(x, wasm_f32x4_splat(1.44269504f)));
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_splat(0x1.62ep-1f)));
  r = wasm_f32x4_sub(r, wasm_f32x4_mul(n, wasm_f32x4_splat(0x1.0bfbe8p-15f)));
  static const float c[] = {0.00137514079f, 0.00836891634f, 0.0416695331f, 0.166665185f,
                            0.499999886f,   1.0f,           1.0f};
  v128_t p = wasm_f32x4_splat(c[0]);
  for (int i = 1; i < 7; i++) p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(c[i]));
  const v128_t power = wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127));
  return wasm_f32x4_mul(p, wasm_i32x4_shl(power, 23));
}

/* 1 + erf(x / sqrt 2), with a rational function fitted to erf(z)/z within 2e-9 below 3.95. */
INLINE v128_t twice_below(v128_t x) {
  const v128_t most = wasm_f32x4_splat(3.95f);
  v128_t z = wasm_f32x4_mul(x, wasm_f32x4_splat(0.707106781f));
  z = wasm_f32x4_max(wasm_f32x4_min(z, most), wasm_f32x4_neg(most));
  const v128_t u = wasm_f32x4_mul(z, z);
  static const float a[] = {-1.29682882e-08f, 4.64067561e-06f, 0.000377945711f, 0.00384338843f,
                            0.0542749461f,    0.185168834f,    1.12837917f};
  static const float b[] = {6.26947925e-05f, 0.00130407814f, 0.0154437848f,
                            0.113911093f,    0.497435016f,   1.0f};
  v128_t p = wasm_f32x4_splat(a[0]), q = wasm_f32x4_splat(b[0]);
  for (int i = 1; i < 7; i++) p = wasm_f32x4_add(wasm_f32x4_mul(p, u), wasm_f32x4_splat(a[i]));
  for (int i = 1; i < 6; i++) q = wasm_f32x4_add(wasm_f32x4_mul(q, u), wasm_f32x4_splat(b[i]));
  const v128_t erf = wasm_f32x4_div(wasm_f32x4_mul(z, p), q);
  return wasm_f32x4_add(wasm_f32x4_splat(1.0f), erf);
}

/* x/2 (1 + erf(x / sqrt 2)). */
INLINE v128_t gelu4(v128_t x) {
  const v128_t near = twice_below(x);
  return wasm_f32x4_mul(wasm_f32x4_mul(x, wasm_f32x4_splat(0.5f)), near);
}

/* Store four rows of four as four columns, WIDE apart. */
INLINE void transpose(float *to, v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), cd = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5);
  const v128_t AB = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7), CD = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
  wasm_v128_store(to, wasm_i64x2_shuffle(ab, cd, 0, 2));
  wasm_v128_store(to + WIDE, wasm_i64x2_shuffle(ab, cd, 1, 3));
  wasm_v128_store(to + 2 * WIDE, wasm_i64x2_shuffle(AB, CD, 0, 2));
  wasm_v128_store(to + 3 * WIDE, wasm_i64x2_shuffle(AB, CD, 1, 3));
}
