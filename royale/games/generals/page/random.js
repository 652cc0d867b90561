// Stateless random numbers: what royale/rng.py makes, number for number (splitmix64 on BigInts).

const MASK = (1n << 64n) - 1n;

export function mix(x) {
  x = (x + 0x9e3779b97f4a7c15n) & MASK;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return x ^ (x >> 31n);
}

// A new key from a key and integers.
export function fold(key, ...parts) {
  return parts.reduce((k, part) => mix(k ^ mix(BigInt(part))), BigInt(key));
}

// A uniform on [0, 1) with 53 bits.
export function unit(key) {
  return Number(key >> 11n) / 2 ** 53;
}

// The seed that a person typed: any whole number, taken modulo 2^64; null for anything else.
export function parseSeed(text) {
  return /^\s*\d{1,30}\s*$/.test(text) ? BigInt(text) & MASK : null;
}
