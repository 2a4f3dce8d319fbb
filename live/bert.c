/* The forward pass of BERT in float32, for WebAssembly with SIMD; no library, one thread.

   Devlin et al. 2019, section 3, and Vaswani et al. 2017, section 3.2. `engine.js` puts the weight
   file into the memory and passes addresses. Matrices stay as they are stored; float16 becomes
   float32 eight rows at a time inside the product. T tokens, D hidden, F intermediate, H heads, K
   head size, L layers. `python -m tools.live` compiles this file to `bert.wasm`. */

#include "numbers.h"

typedef unsigned short half;
typedef struct {
  const void *query, *key, *value, *mixed, *inner, *outer;
  const float *query_bias, *key_bias, *value_bias, *mixed_bias, *mixed_weight, *mixed_shift;
  const float *inner_bias, *outer_bias, *outer_weight, *outer_shift;
} Layer;
typedef struct {
  int hidden, intermediate, heads, layers;
  float epsilon;
  int halves; /* whether matrices are float16; otherwise float32 */
  const void *words, *positions, *types;
  const float *weight, *shift; /* of the embeddings' normalisation */
  const Layer *layer;
} Model;

/* -- numbers ----------------------------------------------------------------------------------- */

/* Read four float16 numbers, exactly; infinities do not occur in weights. */
INLINE v128_t widened(const half *from) {
  const v128_t bits = wasm_i32x4_shl(wasm_i32x4_load16x4(from), 13);
  return wasm_f32x4_mul(wasm_v128_and(bits, wasm_i32x4_splat((int)0x8fffe000)),
                        wasm_f32x4_splat(0x1p112f));
}

/* Read four numbers of a matrix from a place on. */
INLINE v128_t stored(const void *from, long at, int halves) {
  return halves ? widened((const half *)from + at) : wasm_v128_load((const float *)from + at);
}

/* Apply GELU to numbers in place, a multiple of 4. */
EXPORT(gelu) void gelu(float *x, int count) {
  for (int i = 0; i < count; i += 4) wasm_v128_store(x + i, gelu4(wasm_v128_load(x + i)));
}

/* Turn a float16 vector into float32; a multiple of 4, or the last numbers one by one. */
EXPORT(widen) void widen(float *to, const half *from, int count) {
  for (int i = 0; i < count; i += 4) {
    half four[4] = {0, 0, 0, 0};
    for (int j = 0; j < 4 && i + j < count; j++) four[j] = from[i + j];
    put(to + i, widened(four), count - i);
  }
}

/* Add `also` (or 0) to each row (T, D), normalise it, scale and shift; in place. */
EXPORT(normalise)
void normalise(float *x, const float *also, const float *weight, const float *shift, float epsilon,
               int tokens, int size) {
  for (int t = 0; t < tokens; t++, x += size) {
    v128_t sum = wasm_f32x4_splat(0), squares = sum;
    for (int i = 0; i < size; i += 4) {
      v128_t value = wasm_v128_load(x + i);
      if (also) value = wasm_f32x4_add(value, wasm_v128_load(also + t * size + i));
      wasm_v128_store(x + i, value);
      sum = wasm_f32x4_add(sum, value);
    }
    const v128_t mean = wasm_f32x4_splat(total(sum) / size);
    for (int i = 0; i < size; i += 4) {
      const v128_t far = wasm_f32x4_sub(wasm_v128_load(x + i), mean);
      wasm_v128_store(x + i, far);
      squares = wasm_f32x4_add(squares, wasm_f32x4_mul(far, far));
    }
    const v128_t scale = wasm_f32x4_splat(1 / __builtin_sqrtf(total(squares) / size + epsilon));
    for (int i = 0; i < size; i += 4) {
      v128_t value = wasm_f32x4_mul(wasm_v128_load(x + i), scale);
      value = wasm_f32x4_mul(value, wasm_v128_load(weight + i));
      wasm_v128_store(x + i, wasm_f32x4_add(value, wasm_v128_load(shift + i)));
    }
  }
}

/* -- products ---------------------------------------------------------------------------------- */

/* Lay WIDE rows side by side: panel[k][row]; rows that are not there are 0. */
INLINE void lay(float *panel, const void *from, const int halves, long begin, int stride, int rows,
                int depth) {
  for (int r = 0; r < WIDE; r += 4)
    for (int k = 0; k < depth; k += 4) {
      v128_t four[4];
      for (int i = 0; i < 4; i++) {
        const long at = begin + (long)(r + i) * stride + k;
        four[i] = r + i >= rows ? wasm_f32x4_splat(0) : stored(from, at, halves);
      }
      transpose(panel + k * WIDE + r, four[0], four[1], four[2], four[3]);
    }
}

/* Multiply a few rows of x by a panel: y[row][column] = start[column] or y, + x[row] . panel. */
INLINE void few(const int rows, const float *x, int x_stride, const float *panel, int depth,
                float *y, int y_stride, int columns, const float *start, int more) {
  v128_t sum[ROWS][2];
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < 2; i++) {
      const float *from = more ? y + r * y_stride : start;
      const int left = columns - 4 * i;
      sum[r][i] = !from       ? wasm_f32x4_splat(0)
                  : left >= 4 ? wasm_v128_load(from + 4 * i)
                              : partly(from + 4 * i, left, 0);
    }
#pragma clang loop unroll(disable)
  for (int k = 0; k < depth; k++) {
    const v128_t a = wasm_v128_load(panel + k * WIDE), b = wasm_v128_load(panel + k * WIDE + 4);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; r++) {
      const v128_t value = wasm_v128_load32_splat(x + r * x_stride + k);
      sum[r][0] = wasm_f32x4_add(sum[r][0], wasm_f32x4_mul(value, a));
      sum[r][1] = wasm_f32x4_add(sum[r][1], wasm_f32x4_mul(value, b));
    }
  }
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < 2; i++) put(y + r * y_stride + 4 * i, sum[r][i], columns - 4 * i);
}

static void many(const float *x, int x_stride, int tokens, const float *panel, int depth, float *y,
                 int y_stride, int columns, const float *start, int more) {
  int t = 0;
#define STEP(n) \
  few(n, x + t * x_stride, x_stride, panel, depth, y + t * y_stride, y_stride, columns, start, more)
  for (; t + ROWS <= tokens; t += ROWS) STEP(ROWS);
  if (tokens - t == 3) STEP(3);
  if (tokens - t == 2) STEP(2);
  if (tokens - t == 1) STEP(1);
}

/* y (T, size) = x (T, depth) . weight (size, depth) transposed + bias; depth is a multiple of 4. */
EXPORT(linear)
void linear(float *y, const float *x, const void *weight, const float *bias, int tokens, int depth,
            int size, int halves) {
  static float panel[DEPTH * WIDE];
  for (int n = 0; n < size; n += WIDE)
    for (int k = 0; k < depth; k += DEPTH) {
      const int columns = size - n < WIDE ? size - n : WIDE, deep = depth - k < DEPTH ? depth - k : DEPTH;
      const long begin = (long)n * depth + k;
      if (halves) lay(panel, weight, 1, begin, depth, columns, deep);
      else lay(panel, weight, 0, begin, depth, columns, deep);
      many(x + k, depth, tokens, panel, deep, y + n, size, columns, bias + n, k > 0);
    }
}

/* -- BERT -------------------------------------------------------------------------------------- */

/* Scale the scores of a row and turn them into probabilities. */
static void softmax(float *row, int count, float scale) {
  const float least = -3.4e38f;
  v128_t most = wasm_f32x4_splat(least), sum = wasm_f32x4_splat(0);
  for (int i = 0; i < count; i += 4)
    most = wasm_f32x4_max(most, partly(row + i, count - i, least));
  float lanes[4], top = least;
  wasm_v128_store(lanes, most);
  for (int i = 0; i < 4; i++) top = lanes[i] > top ? lanes[i] : top;
  for (int i = 0; i < count; i += 4) {
    const v128_t far = wasm_f32x4_sub(partly(row + i, count - i, top), wasm_f32x4_splat(top));
    const v128_t value = exponential(wasm_f32x4_mul(far, wasm_f32x4_splat(scale)));
    put(row + i, value, count - i);
    sum = wasm_f32x4_add(sum, partly(row + i, count - i, 0));
  }
  const v128_t all = wasm_f32x4_splat(total(sum));
  for (int i = 0; i < count; i += 4)
    put(row + i, wasm_f32x4_div(partly(row + i, count - i, 0), all), count - i);
}

/* Attend with one head: context (T, K) inside rows of D, and probabilities (T, T). */
static void attend(float *context, float *weights, const float *query, const float *key,
                   const float *value, float *panel, int tokens, int size, int width) {
  const float scale = 1 / __builtin_sqrtf(width);
  for (int n = 0; n < tokens; n += WIDE) {
    const int columns = tokens - n < WIDE ? tokens - n : WIDE;
    lay(panel, key, 0, (long)n * size, size, columns, width);
    many(query, size, tokens, panel, width, weights + n, tokens, columns, 0, 0);
  }
  for (int t = 0; t < tokens; t++) softmax(weights + t * tokens, tokens, scale);
  for (int n = 0; n < width; n += WIDE) {
    for (int t = 0; t < tokens; t++)
      for (int i = 0; i < WIDE; i += 4)
        wasm_v128_store(panel + t * WIDE + i, wasm_v128_load(value + t * size + n + i));
    many(weights, tokens, tokens, panel, tokens, context + n, size, WIDE, 0, 0);
  }
}

static void embed(const Model *m, float *x, const int *ids, const int *types, int tokens) {
  for (int t = 0; t < tokens; t++)
    for (int i = 0; i < m->hidden; i += 4) {
      v128_t sum = stored(m->words, (long)ids[t] * m->hidden + i, m->halves);
      sum = wasm_f32x4_add(sum, stored(m->positions, t * m->hidden + i, m->halves));
      sum = wasm_f32x4_add(sum, stored(m->types, types[t] * m->hidden + i, m->halves));
      wasm_v128_store(x + t * m->hidden + i, sum);
    }
  normalise(x, 0, m->weight, m->shift, m->epsilon, tokens, m->hidden);
}

/* Put a row, or zeros, into the first `width` columns of every row. */
static void replace(float *x, const float *row, int tokens, int size, int width) {
  for (int t = 0; t < tokens; t++)
    for (int i = 0; i < width; i++) x[t * size + i] = row ? row[i] : 0;
}

/* Run all layers. `states` receives L + 1 times (T, D), the last one the result; `attentions` L
   times (H, T, T), or is 0. `off` is (L, H + 2) with 1 for heads, attention blocks and feed-forward
   blocks whose output is replaced, by (L, 3, D) numbers, `instead`, or by zeros; either may be 0.
   Returns 0, or 1 if there is not enough memory. */
EXPORT(forward)
int forward(const Model *m, const int *ids, const int *types, int tokens, float *states,
            float *attentions, const unsigned char *off, const float *instead) {
  const int size = m->hidden, width = size / m->heads;
  const unsigned long before = mark(), bytes = (unsigned long)tokens * size * sizeof(float);
  float *query = take(bytes), *key = take(bytes), *value = take(bytes), *context = take(bytes);
  float *inner = take((unsigned long)tokens * m->intermediate * sizeof(float));
  float *panel = take((tokens > width ? tokens : width) * WIDE * sizeof(float));
  float *weights = attentions ? attentions : take((unsigned long)tokens * tokens * sizeof(float));
  if (!query || !key || !value || !context || !inner || !panel || !weights) {
    release(before);
    return 1;
  }
  embed(m, states, ids, types, tokens);
  for (int number = 0; number < m->layers; number++) {
    const Layer *l = m->layer + number;
    float *x = states + (long)number * tokens * size, *y = x + (long)tokens * size;
    const unsigned char *without = off ? off + number * (m->heads + 2) : 0;
    const float *other = instead ? instead + (long)number * 3 * size : 0;
    linear(query, x, l->query, l->query_bias, tokens, size, size, m->halves);
    linear(key, x, l->key, l->key_bias, tokens, size, size, m->halves);
    linear(value, x, l->value, l->value_bias, tokens, size, size, m->halves);
    for (int h = 0; h < m->heads; h++) {
      const int at = h * width;
      attend(context + at, weights, query + at, key + at, value + at, panel, tokens, size, width);
      if (attentions) weights += (long)tokens * tokens;
      if (without && without[h]) replace(context + at, other ? other + at : 0, tokens, size, width);
    }
    linear(query, context, l->mixed, l->mixed_bias, tokens, size, size, m->halves);
    if (without && without[m->heads]) replace(query, other ? other + size : 0, tokens, size, size);
    normalise(query, x, l->mixed_weight, l->mixed_shift, m->epsilon, tokens, size);
    linear(inner, query, l->inner, l->inner_bias, tokens, size, m->intermediate, m->halves);
    gelu(inner, tokens * m->intermediate);
    linear(y, inner, l->outer, l->outer_bias, tokens, m->intermediate, size, m->halves);
    if (without && without[m->heads + 1]) replace(y, other ? other + 2 * size : 0, tokens, size, size);
    normalise(y, query, l->outer_weight, l->outer_shift, m->epsilon, tokens, size);
  }
  release(before);
  return 0;
}
