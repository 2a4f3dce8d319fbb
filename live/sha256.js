/** SHA-256 (FIPS 180-4), for pages without https, where browsers offer none. */

const K = new Uint32Array(64);
const START = new Uint32Array(8);
for (let n = 2, found = 0; found < 64; n++) {
  if (Array.from({ length: n - 2 }, (_, i) => i + 2).some((each) => n % each === 0)) continue;
  K[found] = bits(Math.cbrt(n));
  if (found < 8) START[found] = bits(Math.sqrt(n));
  found++;
}

function bits(root) {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

function block(state, words, view, at) {
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const a = words[i - 15];
    const b = words[i - 2];
    const s = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
    const t = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
    words[i] = words[i - 16] + s + words[i - 7] + t;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s + ((e & f) ^ (~e & g)) + K[i] + words[i]) | 0;
    const t = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (t + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((each, n) => { state[n] += each; });
}

/** Return the digest of bytes, as hexadecimal digits. */
export function sha256(bytes) {
  const state = START.slice();
  const words = new Uint32Array(64);
  const whole = bytes.length - (bytes.length % 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < whole; at += 64) block(state, words, view, at);
  const rest = bytes.length - whole;
  const last = new Uint8Array(rest < 56 ? 64 : 128);
  last.set(bytes.subarray(whole));
  last[rest] = 0x80;
  const end = new DataView(last.buffer);
  end.setBigUint64(last.length - 8, BigInt(bytes.length) * 8n);
  for (let at = 0; at < last.length; at += 64) block(state, words, end, at);
  return Array.from(state, (each) => each.toString(16).padStart(8, "0")).join("");
}

/** Return the digest of bytes by the browser's own means where there are any. */
export async function digest(bytes) {
  if (!globalThis.crypto?.subtle) return sha256(bytes);
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (each) => each.toString(16).padStart(2, "0")).join("");
}
