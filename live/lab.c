/* A small BERT that is trained: forward, backward and AdamW in float32, for WebAssembly with SIMD.

   The model, the loss of the masked words and the steps are those of `bert_core` without dropout;
   Loshchilov and Hutter 2019 for AdamW. Rows of a batch follow one another without padding: T
   tokens in all. D hidden, F = 4 D intermediate, H heads, K head size, V pieces. All weights are
   one array, in the order in which `lab.js` writes them to a file. `python -m tools.live` compiles
   this file to `lab.wasm`. */

#include "numbers.h"

enum { LAYERS = 4, PARTS = 5 + 12 * LAYERS + 5 + 4 };

typedef struct {
  float *input, *input_bias; /* of query, key and value: (3 D, D) */
  float *mixed, *mixed_bias, *mixed_weight, *mixed_shift;
  float *inner, *inner_bias, *outer, *outer_bias, *outer_weight, *outer_shift;
} Layer;
typedef struct {
  float *words, *places, *types, *weight, *shift;
  Layer layer[LAYERS];
  float *dense, *dense_bias, *head_weight, *head_shift, *bias;
  float *pooler, *pooler_bias, *pair, *pair_bias; /* of the second task */
} Model;

/* What a normalisation keeps: its results before scale and shift, and 1 / deviation by row. */
typedef struct {
  float *plain, *scale;
} Normal;
typedef struct {
  const int *counts; /* places of each row that go on: all, or in the last layer the chosen ones */
  int going;         /* all of them together: N */
  float *x, *state;  /* what comes in (T, D), and of the places that go on (N, D) */
  float *query, *pair, *weights, *context, *between, *inner, *slope;
  Normal mixed, outer;
} Kept;

static int size, heads, layers, vocabulary, placed, paired;
static Model model, down; /* the weights, and the slope of the loss for each of them */
static float *values, *slopes, *means, *squares;
static int trained;
static int ends[PARTS], decays[PARTS], parts; /* where a part ends, and whether it decays */

static int tokens, rows;
static const int *ids, *types, *lengths; /* no types: all are 0 */
static Kept kept[LAYERS];
static Normal embedded;

static int chosen;
static const int *chosen_at;
static float *last, *dense, *dense_slope, *chosen_head, *scores, *said;
static Normal head;
static float *firsts, *pooled, *relation; /* of each row: [CLS], after the pooler, and two scores */

static const float EPSILON = 1e-12f;

static int refused; /* whether there was too little memory, since it was set to 0 */

static float *floats(long count) {
  float *found = take((unsigned long)count * sizeof(float));
  if (!found) refused = 1;
  return found;
}

static int padded(int count) { return (count + 3) & ~3; }

static void clear(float *x, long count) {
  for (long i = 0; i < count; i++) x[i] = 0;
}

/* -- the weights ------------------------------------------------------------------------------- */

/* Give the next `count` numbers of an array to a part; matrices decay. */
static float *part(float **at, int count, int matrix, const float *first) {
  float *here = *at;
  *at += count;
  ends[parts] = *at - first;
  decays[parts++] = matrix;
  return here;
}

static void arrange(Model *m, float *first, int places, int shared) {
  float *at = first;
  const int inner = 4 * size;
  parts = 0;
#define PART(count, matrix) part(&at, count, matrix, first)
  m->words = PART(vocabulary * size, 1);
  m->places = PART(places * size, 1);
  m->types = PART(2 * size, 1);
  m->weight = PART(size, 0);
  m->shift = PART(size, 0);
  for (int n = 0; n < layers; n++) {
    Layer *l = m->layer + n;
    if (n && shared) {
      *l = m->layer[0];
      continue;
    }
    l->input = PART(3 * size * size, 1);
    l->input_bias = PART(3 * size, 0);
    l->mixed = PART(size * size, 1);
    l->mixed_bias = PART(size, 0);
    l->mixed_weight = PART(size, 0);
    l->mixed_shift = PART(size, 0);
    l->inner = PART(inner * size, 1);
    l->inner_bias = PART(inner, 0);
    l->outer = PART(size * inner, 1);
    l->outer_bias = PART(size, 0);
    l->outer_weight = PART(size, 0);
    l->outer_shift = PART(size, 0);
  }
  m->bias = PART(vocabulary, 0);
  m->dense = PART(size * size, 1);
  m->dense_bias = PART(size, 0);
  m->head_weight = PART(size, 0);
  m->head_shift = PART(size, 0);
  if (paired) {
    m->pooler = PART(size * size, 1);
    m->pooler_bias = PART(size, 0);
    m->pair = PART(2 * size, 1);
    m->pair_bias = PART(2, 0);
  }
  trained = at - first;
}

/* Make room for a model; once for an instance. `learns` is 0 if its positions stay as they are;
   with `pairs` it has the second task. Returns the address of its weights, which are not set, or 0. */
EXPORT(begin)
float *begin(int hidden, int of_heads, int of_layers, int pieces, int places, int shared, int learns,
             int pairs) {
  size = hidden, heads = of_heads, layers = of_layers, vocabulary = pieces, placed = learns, paired = pairs;
  arrange(&model, 0, places, shared);
  values = floats(trained), slopes = floats(trained);
  means = floats(trained), squares = floats(trained);
  if (refused) return 0;
  arrange(&model, values, places, shared);
  arrange(&down, slopes, places, shared);
  clear(means, trained);
  clear(squares, trained);
  return values;
}

EXPORT(count) int count(void) { return trained; }
EXPORT(gradients) float *gradients(void) { return slopes; }

/* -- products ---------------------------------------------------------------------------------- */

/* y (N, out) = x (N, in) . weight (out, in) transposed + bias. */
static void linear(float *y, const float *x, const float *weight, const float *bias, int n, int in,
                   int out) {
  product(y, out, x, in, 1, weight, 1, in, bias, n, out, in, 0, 0);
}

/* Slopes for the input of a linear layer, from those for its output; added if `more`. */
static void linear_back(float *dx, const float *dy, const float *weight, int n, int in, int out,
                        int more) {
  product(dx, in, dy, out, 1, weight, in, 1, 0, n, in, out, more, 0);
}

/* Add the slopes for the weights of a linear layer; rows of dy are `dy_row` apart. */
static void linear_learn(float *weight, float *bias, const float *dy, int dy_row, const float *x,
                         int n, int in, int out) {
  product(weight, in, dy, 1, dy_row, x, in, 1, 0, out, in, n, 1, 0);
  for (int t = 0; t < n; t++)
    for (int i = 0; i < out; i++) bias[i] += dy[t * dy_row + i];
}

/* -- layers ------------------------------------------------------------------------------------ */

/* y = normalised x + `also` (or 0), scaled and shifted, row by row (N, D). */
static void normalise(float *y, Normal keep, const float *x, const float *also, const float *weight,
                      const float *shift, int n) {
  for (int t = 0; t < n; t++, y += size, x += size) {
    float *plain = keep.plain + t * size;
    four sum = splat(0), spread = sum;
    for (int i = 0; i < size; i += 4) {
      four value = FOUR(x + i);
      if (also) value += FOUR(also + t * size + i);
      FOUR(plain + i) = value;
      sum += value;
    }
    const float mean = total(sum) / size;
    for (int i = 0; i < size; i += 4) {
      const four far = FOUR(plain + i) - mean;
      FOUR(plain + i) = far;
      spread += far * far;
    }
    const float scale = keep.scale[t] = 1 / __builtin_sqrtf(total(spread) / size + EPSILON);
    for (int i = 0; i < size; i += 4) {
      FOUR(plain + i) *= scale;
      FOUR(y + i) = FOUR(plain + i) * FOUR(weight + i) + FOUR(shift + i);
    }
  }
}

/* Turn the slopes for the output of a normalisation into those for its input; add its weights'. */
static void normalise_back(float *dy, Normal keep, const float *weight, float *dweight,
                           float *dshift, int n) {
  for (int t = 0; t < n; t++, dy += size) {
    const float *plain = keep.plain + t * size;
    four sum = splat(0), along = sum;
    for (int i = 0; i < size; i += 4) {
      const four slope = FOUR(dy + i), value = FOUR(plain + i), inside = slope * FOUR(weight + i);
      FOUR(dweight + i) += slope * value;
      FOUR(dshift + i) += slope;
      FOUR(dy + i) = inside;
      sum += inside;
      along += inside * value;
    }
    const float mean = total(sum) / size, turn = total(along) / size;
    for (int i = 0; i < size; i += 4)
      FOUR(dy + i) = (FOUR(dy + i) - mean - FOUR(plain + i) * turn) * keep.scale[t];
  }
}

/* GELU in place, and its slope: the share below x, plus x times the density at x. */
static void gelu(float *x, float *slope, int count) {
  for (int i = 0; i < count; i += 4) {
    const four value = FOUR(x + i), below = twice_below(value) * 0.5f;
    const four density = exponential(value * value * -0.5f) * 0.39894228f;
    FOUR(x + i) = value * below;
    FOUR(slope + i) = below + value * density;
  }
}

static void multiply(float *x, const float *by, int count) {
  for (int i = 0; i < count; i += 4) FOUR(x + i) *= FOUR(by + i);
}

static void attend(const Kept *k) {
  const int width = size / heads, wide = 2 * size;
  const float scale = 1 / __builtin_sqrtf(width);
  float *weights = k->weights, top;
  for (int r = 0, first = 0, from = 0; r < rows; first += lengths[r], from += k->counts[r++]) {
    const int n = lengths[r], going = k->counts[r], room = padded(n);
    for (int h = 0; h < heads; h++, weights += going * room) {
      const float *query = k->query + from * size + h * width;
      const float *key = k->pair + first * wide + h * width;
      product(weights, room, query, size, 1, key, 1, wide, 0, going, n, width, 0, 0);
      for (int t = 0; t < going; t++) {
        softmax(weights + t * room, n, scale, &top);
        clear(weights + t * room + n, room - n);
      }
      float *context = k->context + from * size + h * width;
      product(context, size, weights, room, 1, key + size, wide, 1, 0, going, width, n, 0, 0);
    }
  }
}

/* Slopes for queries (N, D), and for keys and values (T, 2 D), from those for the context (N, D). */
static void attend_back(float *dquery, float *dpair, const float *context, const Kept *k) {
  static float slope[64 * 64];
  const int width = size / heads, wide = 2 * size;
  const float scale = 1 / __builtin_sqrtf(width);
  const float *weights = k->weights;
  for (int r = 0, first = 0, from = 0; r < rows; first += lengths[r], from += k->counts[r++]) {
    const int n = lengths[r], going = k->counts[r], room = padded(n);
    for (int h = 0; h < heads; h++, weights += going * room) {
      const int at = from * size + h * width, pair_at = first * wide + h * width;
      const float *dy = context + at, *key = k->pair + pair_at;
      float *dkey = dpair + pair_at;
      clear(slope, going * room);
      product(slope, room, dy, size, 1, key + size, 1, wide, 0, going, n, width, 0, 0);
      product(dkey + size, wide, weights, 1, room, dy, size, 1, 0, n, width, going, 0, 0);
      for (int t = 0; t < going; t++) {
        float *row = slope + t * room;
        four sum = splat(0);
        multiply(row, weights + t * room, room);
        for (int i = 0; i < room; i += 4) sum += FOUR(row + i);
        const float mean = total(sum);
        for (int i = 0; i < room; i += 4)
          FOUR(row + i) = (FOUR(row + i) - FOUR(weights + t * room + i) * mean) * scale;
      }
      product(dquery + at, size, slope, room, 1, key, wide, 1, 0, going, width, n, 0, 0);
      product(dkey, wide, slope, 1, room, k->query + at, size, 1, 0, n, width, going, 0, 0);
    }
  }
}

static void embed(float *x) {
  for (int r = 0, t = 0; r < rows; r++)
    for (int n = 0; n < lengths[r]; n++, t++) {
      const float *word = model.words + (long)ids[t] * size, *place = model.places + n * size;
      const float *type = model.types + (types ? types[t] * size : 0);
      for (int i = 0; i < size; i++) x[t * size + i] = word[i] + place[i] + type[i];
    }
}

/* Read a batch: the ids and types of all rows, one row after another (types may be 0), the lengths of
   the rows (at most 64), and the places that are to be scored, in order. Only these go through the
   last layer beyond its keys and values. What learning needs stays in memory until a release. Returns
   0, or 1 if there is too little memory. */
EXPORT(forward)
int forward(const int *of_ids, const int *of_types, const int *of_lengths, int of_rows, const int *at,
            int places) {
  ids = of_ids, types = of_types, lengths = of_lengths, rows = of_rows, tokens = refused = 0;
  chosen_at = at, chosen = places;
  int *counts = take(rows * sizeof(int));
  long every = 0, some = 0; /* numbers of attention weights in a layer */
  for (int r = 0, c = 0; r < rows; r++) {
    const int begun = c, room = heads * padded(lengths[r]);
    tokens += lengths[r];
    while (c < chosen && at[c] < tokens) c++;
    if (counts) counts[r] = c - begun;
    every += lengths[r] * room, some += (c - begun) * room;
  }
  const long flat = (long)tokens * size;
  float *other = floats(flat), *x = floats(flat);
  embedded = (Normal){floats(flat), floats(tokens)};
  for (int n = 0; n < layers; n++) {
    const int ends = n + 1 == layers, going = ends ? chosen : tokens;
    const long part = (long)going * size;
    kept[n] = (Kept){ends ? counts : lengths, going, x, ends ? floats(part) : x, floats(part),
                     floats(2 * flat), floats(ends ? some : every), floats(part), floats(part),
                     floats(4 * part), floats(4 * part), {floats(part), floats(going)},
                     {floats(part), floats(going)}};
    x = floats(part);
  }
  if (refused || !counts) return 1;
  last = x;
  embed(other);
  normalise(kept[0].x, embedded, other, 0, model.weight, model.shift, tokens);
  for (int n = 0; n < layers; n++) {
    const Layer *l = model.layer + n;
    const Kept *k = kept + n;
    const int going = k->going;
    for (int i = 0; k->state != k->x && i < going * size; i++)
      k->state[i] = k->x[(long)at[i / size] * size + i % size];
    linear(k->query, k->state, l->input, l->input_bias, going, size, size);
    linear(k->pair, k->x, l->input + size * size, l->input_bias + size, tokens, size, 2 * size);
    attend(k);
    linear(other, k->context, l->mixed, l->mixed_bias, going, size, size);
    normalise(k->between, k->mixed, other, k->state, l->mixed_weight, l->mixed_shift, going);
    linear(k->inner, k->between, l->inner, l->inner_bias, going, size, 4 * size);
    gelu(k->inner, k->slope, going * 4 * size);
    linear(other, k->inner, l->outer, l->outer_bias, going, 4 * size, size);
    normalise(n + 1 < layers ? kept[n + 1].x : last, k->outer, other, k->between, l->outer_weight,
              l->outer_shift, going);
  }
  return 0;
}

/* Score every piece at the chosen places: rows of V, rounded up to 4. Returns their address, or 0
   if there is too little memory. */
EXPORT(fill) float *fill(void) {
  const int room = padded(vocabulary);
  const long flat = (long)chosen * size;
  dense = floats(flat), dense_slope = floats(flat);
  chosen_head = floats(flat), head = (Normal){floats(flat), floats(chosen)};
  said = floats(2 * chosen), scores = floats((long)chosen * room);
  if (refused) return 0;
  linear(dense, last, model.dense, model.dense_bias, chosen, size, size);
  gelu(dense, dense_slope, chosen * size);
  normalise(chosen_head, head, dense, 0, model.head_weight, model.head_shift, chosen);
  product(scores, room, chosen_head, size, 1, model.words, 1, size, model.bias, chosen, vocabulary,
          size, 0, 0);
  return scores;
}

/* Turn rows of scores into probabilities; say of each the sum that it was divided by, and the score
   of its label less the highest one: the loss is log(sum) - difference. A label of -1 says nothing. */
static void judge(float *row, int room, int classes, const int *labels, int count, float *said) {
  for (int n = 0; n < count; n++, row += room, said += 2) {
    const float score = labels[n] < 0 ? 0 : row[labels[n]];
    float top;
    said[0] = softmax(row, classes, 1, &top);
    said[1] = score - top;
  }
}

/* Judge the scores at the chosen places. */
EXPORT(compare) float *compare(const int *labels) {
  judge(scores, padded(vocabulary), vocabulary, labels, chosen, said);
  return said;
}

static void tanh_of(float *x, int count) {
  for (int i = 0; i < count; i += 4) {
    const four small = exponential((four)wasm_f32x4_abs(FOUR(x + i)) * -2);
    const four found = (1 - small) / (1 + small); /* of |x| */
    FOUR(x + i) = wasm_v128_bitselect(found, FOUR(x + i), wasm_i32x4_splat(0x7fffffff));
  }
}

/* Judge for each row whether its second sentence follows; its first chosen place is [CLS]. Returns 0
   if there is too little memory. */
EXPORT(relate) float *relate(const int *labels) {
  const int *counts = kept[layers - 1].counts;
  float *judged = floats(2 * rows);
  firsts = floats(rows * size), pooled = floats(rows * size), relation = floats(4 * rows);
  if (refused) return 0;
  for (int r = 0, from = 0; r < rows; from += counts[r++])
    for (int i = 0; i < size; i++) firsts[r * size + i] = last[from * size + i];
  linear(pooled, firsts, model.pooler, model.pooler_bias, rows, size, size);
  tanh_of(pooled, rows * size);
  product(relation, 4, pooled, size, 1, model.pair, 1, size, model.pair_bias, rows, 2, size, 0, 0);
  judge(relation, 4, 2, labels, rows, judged);
  return judged;
}

/* Turn probabilities into the slopes of the mean loss over the labels for the scores. */
static void blame(float *row, int room, int classes, const int *labels, int count) {
  int labelled = 0;
  for (int n = 0; n < count; n++) labelled += labels[n] >= 0;
  for (int n = 0; n < count; n++, row += room) {
    if (labels[n] >= 0) row[labels[n]] -= 1;
    for (int i = 0; i < classes; i++) row[i] = labels[n] < 0 ? 0 : row[i] / labelled;
  }
}

/* Add the slopes of the second task; those for the chosen places go to dy. */
static int relate_back(float *dy, const int *labels) {
  const int *counts = kept[layers - 1].counts;
  float *dpooled = floats(rows * size), *dfirsts = floats(rows * size);
  if (refused) return 1;
  blame(relation, 4, 2, labels, rows);
  linear_learn(down.pair, down.pair_bias, relation, 4, pooled, rows, size, 2);
  product(dpooled, size, relation, 4, 1, model.pair, size, 1, 0, rows, size, 2, 0, 0);
  for (int i = 0; i < rows * size; i++) dpooled[i] *= 1 - pooled[i] * pooled[i];
  linear_learn(down.pooler, down.pooler_bias, dpooled, size, firsts, rows, size, size);
  linear_back(dfirsts, dpooled, model.pooler, rows, size, size, 0);
  for (int r = 0, from = 0; r < rows; from += counts[r++])
    for (int i = 0; i < size; i++) dy[from * size + i] += dfirsts[r * size + i];
  return 0;
}

/* Compute the slopes of the mean loss at the chosen places for all weights, after `compare`, and with
   labels of rows, after `relate`, of the second task too. Returns 0, or 1 if there is too little
   memory. */
EXPORT(learn) int learn(const int *labels, const int *follows) {
  const int room = padded(vocabulary), most = tokens > chosen ? tokens : chosen;
  const long flat = (long)most * size;
  float *inside = floats((long)chosen * size), *dy = floats(flat), *dx = floats(flat);
  float *context = floats(flat), *query = floats(flat), *pair = floats(2 * flat);
  float *inner = floats(4 * flat);
  if (refused) return 1;
  clear(slopes, trained);
  blame(scores, room, vocabulary, labels, chosen);
  linear_learn(down.words, down.bias, scores, room, chosen_head, chosen, size, vocabulary);
  product(inside, size, scores, room, 1, model.words, size, 1, 0, chosen, size, vocabulary, 0, 0);
  normalise_back(inside, head, model.head_weight, down.head_weight, down.head_shift, chosen);
  multiply(inside, dense_slope, chosen * size);
  linear_learn(down.dense, down.dense_bias, inside, size, last, chosen, size, size);
  linear_back(dy, inside, model.dense, chosen, size, size, 0);
  if (follows && relate_back(dy, follows)) return 1;
  for (int n = layers - 1; n >= 0; n--) {
    const Layer *l = model.layer + n, *d = down.layer + n;
    const Kept *k = kept + n;
    const int going = k->going;
    normalise_back(dy, k->outer, l->outer_weight, d->outer_weight, d->outer_shift, going);
    linear_learn(d->outer, d->outer_bias, dy, size, k->inner, going, 4 * size, size);
    linear_back(inner, dy, l->outer, going, 4 * size, size, 0);
    multiply(inner, k->slope, going * 4 * size);
    linear_learn(d->inner, d->inner_bias, inner, 4 * size, k->between, going, size, 4 * size);
    linear_back(dy, inner, l->inner, going, size, 4 * size, 1);
    normalise_back(dy, k->mixed, l->mixed_weight, d->mixed_weight, d->mixed_shift, going);
    linear_learn(d->mixed, d->mixed_bias, dy, size, k->context, going, size, size);
    linear_back(context, dy, l->mixed, going, size, size, 0);
    attend_back(query, pair, context, k);
    linear_learn(d->input, d->input_bias, query, size, k->state, going, size, size);
    linear_learn(d->input + size * size, d->input_bias + size, pair, 2 * size, k->x, tokens, size,
                 2 * size);
    linear_back(dy, query, l->input, going, size, size, 1);
    linear_back(dx, pair, l->input + size * size, tokens, size, 2 * size, 0);
    for (int i = 0; i < going * size; i++)
      dx[k->state == k->x ? i : chosen_at[i / size] * size + i % size] += dy[i];
    float *used = dy;
    dy = dx, dx = used;
  }
  normalise_back(dy, embedded, model.weight, down.weight, down.shift, tokens);
  for (int r = 0, t = 0; r < rows; r++)
    for (int n = 0; n < lengths[r]; n++, t++)
      for (int i = 0; i < size; i++) {
        const float slope = dy[(long)t * size + i];
        down.words[(long)ids[t] * size + i] += slope;
        if (placed) down.places[n * size + i] += slope;
        down.types[(types ? types[t] * size : 0) + i] += slope;
      }
  return 0;
}

/* -- steps ------------------------------------------------------------------------------------- */

/* Return the length of all slopes together. */
EXPORT(norm) double norm(void) {
  double sum = 0;
  for (int i = 0; i < trained; i++) sum += (double)slopes[i] * slopes[i];
  return __builtin_sqrt(sum);
}

/* Do a step of AdamW with slopes times `scale`; `first` and `second` are 1 - beta^step, by which
   the means of slopes and of their squares are too small at first. */
EXPORT(adjust) void adjust(float rate, float decay, float scale, float first, float second) {
  const float step = rate / first, root = 1 / __builtin_sqrtf(second);
  float *restrict x = values, *restrict mean = means, *restrict square = squares;
  const float *restrict down = slopes;
  for (int n = 0, i = 0; n < parts; n++) {
    const float keep = decays[n] ? 1 - rate * decay : 1;
    for (const int to = ends[n]; i < to; i++) {
      const float slope = down[i] * scale;
      mean[i] += 0.1f * (slope - mean[i]);
      square[i] = 0.999f * square[i] + 0.001f * slope * slope;
      x[i] = x[i] * keep - step * mean[i] / (__builtin_sqrtf(square[i]) * root + 1e-8f);
    }
  }
}
