/* The forward pass of BERT in float32, for WebAssembly with SIMD; no library, one thread.

   Devlin et al. 2019, section 3, and Vaswani et al. 2017, section 3.2. `engine.js` puts the weight
   file into the memory and passes addresses. Matrices stay as they are stored; float16 becomes
   float32 eight rows at a time inside the product. T tokens, D hidden, F intermediate, H heads, K
   head size, L layers. `python -m tools.live` compiles this file to `bert.wasm`. */

#include "numbers.h"

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

/* Apply GELU to numbers in place, a multiple of 4. */
EXPORT(gelu) void gelu(float *x, int count) {
  for (int i = 0; i < count; i += 4) FOUR(x + i) *= 0.5f * twice_below(FOUR(x + i));
}

/* Turn a float16 vector into float32; a multiple of 4, or the last numbers one by one. */
EXPORT(widen) void widen(float *to, const half *from, int count) {
  for (int i = 0; i < count; i += 4) {
    half some[4] = {0, 0, 0, 0};
    for (int j = 0; j < 4 && i + j < count; j++) some[j] = from[i + j];
    put(to + i, widened(some), count - i);
  }
}

/* Add `also` (or 0) to each row (T, D), normalise it, scale and shift; in place. */
EXPORT(normalise)
void normalise(float *x, const float *also, const float *weight, const float *shift, float epsilon,
               int tokens, int size) {
  for (int t = 0; t < tokens; t++, x += size) {
    four sum = splat(0), squares = sum;
    for (int i = 0; i < size; i += 4) {
      four value = FOUR(x + i);
      if (also) value += FOUR(also + t * size + i);
      FOUR(x + i) = value;
      sum += value;
    }
    const float mean = total(sum) / size;
    for (int i = 0; i < size; i += 4) {
      const four far = FOUR(x + i) - mean;
      FOUR(x + i) = far;
      squares += far * far;
    }
    const float scale = 1 / __builtin_sqrtf(total(squares) / size + epsilon);
    for (int i = 0; i < size; i += 4)
      FOUR(x + i) = FOUR(x + i) * scale * FOUR(weight + i) + FOUR(shift + i);
  }
}

/* y (T, size) = x (T, depth) . weight (size, depth) transposed + bias; depth is a multiple of 4. */
EXPORT(linear)
void linear(float *y, const float *x, const void *weight, const float *bias, int tokens, int depth,
            int size, int halves) {
  product(y, size, x, depth, 1, weight, 1, depth, bias, tokens, size, depth, 0, halves);
}

/* -- BERT -------------------------------------------------------------------------------------- */

/* Attend with one head: context (T, K) inside rows of D, and probabilities (T, T). */
static void attend(float *context, float *weights, const float *query, const float *key,
                   const float *value, int tokens, int size, int width) {
  const float scale = 1 / __builtin_sqrtf(width);
  float top;
  product(weights, tokens, query, size, 1, key, 1, size, 0, tokens, tokens, width, 0, 0);
  for (int t = 0; t < tokens; t++) softmax(weights + t * tokens, tokens, scale, &top);
  product(context, size, weights, tokens, 1, value, size, 1, 0, tokens, width, tokens, 0, 0);
}

static void embed(const Model *m, float *x, const int *ids, const int *types, int tokens) {
  for (int t = 0; t < tokens; t++)
    for (int i = 0; i < m->hidden; i += 4) {
      four sum = stored(m->words, (long)ids[t] * m->hidden + i, m->halves);
      sum += stored(m->positions, t * m->hidden + i, m->halves);
      sum += stored(m->types, types[t] * m->hidden + i, m->halves);
      FOUR(x + t * m->hidden + i) = sum;
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
  float *weights = attentions ? attentions : take((unsigned long)tokens * tokens * sizeof(float));
  if (!query || !key || !value || !context || !inner || !weights) {
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
      attend(context + at, weights, query + at, key + at, value + at, tokens, size, width);
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
