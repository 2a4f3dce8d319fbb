/** Numbers: what is read from scores, and how numbers are written. */

/** Return softmax(logits / temperature). */
export function softmax(logits, temperature = 1) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const odds = Float64Array.from(logits, (each) => Math.exp((each - most) / temperature));
  const sum = odds.reduce((a, b) => a + b, 0);
  return odds.map((each) => each / sum);
}

export const argmax = (values) => values.reduce((best, each, n) => each > values[best] ? n : best, 0);

/** Return the places of the largest numbers, largest first; of equal ones the first, or the last by -1. */
export function largest(values, count, order = 1) {
  const least = Float32Array.from(values).sort().at(-Math.min(count, values.length));
  const found = [...values.keys()].filter((at) => values[at] >= least);
  return found.sort((a, b) => values[b] - values[a] || order * (a - b)).slice(0, count);
}

/** Round to the nearest whole number, halves to the even one. */
export const rounded = (x) => Math.round(x) - Number(x % 1 === 0.5 && Math.round(x) % 2 === 1);

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** Return the checksum of bytes in ZIP and PNG files. */
export const crc32 = (bytes) =>
  ~bytes.reduce((sum, byte) => CRC[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;

// -- as text --------------------------------------------------------------------------------------

export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
export const count = (number, name) => `${grouped(number)} ${number === 1 ? name : `${name}s`}`;
export const units = (value) => value.toFixed(2).replace(/\.?0+$/, "");

export function percent(share, digits = 1, { finest = null, counted = false } = {}) {
  while (finest !== null && digits < finest && 100 * share < 10 ** (1 - digits)) digits++;
  const shown = (100 * share).toFixed(digits);
  const least = 10 ** -digits;
  if (!counted && Number(shown) < least) return `< ${least.toFixed(digits)} %`;
  if (!counted && Number(shown) > 100 - least) return `> ${(100 - least).toFixed(digits)} %`;
  return `${shown} %`;
}

/** Write a score with two digits; rounding never makes it 0 or 1. */
export function score(value) {
  const shown = value.toFixed(2);
  return { "1.00": "> 0.99", "0.00": "< 0.01" }[shown] ?? shown;
}

export function general(value, digits) {
  const [part, power] = value.toExponential(digits - 1).split("e");
  const at = Number(power);
  const trimmed = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  if (at >= -4 && at < digits) return trimmed(value.toFixed(digits - 1 - at));
  return `${trimmed(part)}e${at < 0 ? "-" : "+"}${String(Math.abs(at)).padStart(2, "0")}`;
}
