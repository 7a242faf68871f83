/**
 * bcrypt (Provos and Mazières, 1999), version 2a. Its tables are the first digits of pi after the point, so they are
 * computed, once, when a template asks for a hash.
 */
const ROUNDS = 16;
const TABLE_WORDS = ROUNDS + 2 + 4 * 256;
const ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/**
 * The hash of a password (at most 72 bytes) with 16 bytes of salt and 2^cost rounds: `$2a$10$` with 22 characters of
 * salt and 31 of hash.
 */
export function bcrypt(password: Uint8Array, salt: Uint8Array, cost: number): string {
  const key = words(Uint8Array.of(...password, 0), ROUNDS + 2);
  const cipher = new Blowfish(initialTables());
  cipher.expand(key, words(salt, 4));
  const saltKey = words(salt, ROUNDS + 2);
  for (let i = 0; i < 2 ** cost; i++) {
    cipher.expand(key, NO_SALT);
    cipher.expand(saltKey, NO_SALT);
  }
  const hash = cipher.encryptMagic().slice(0, 23);
  return `$2a$${String(cost).padStart(2, "0")}$${encode(salt)}${encode(hash)}`;
}

const NO_SALT = new Int32Array(4);
const MAGIC = new TextEncoder().encode("OrpheanBeholderScryDoubt");

class Blowfish {
  readonly #p: Int32Array;
  readonly #s: Int32Array;
  #left = 0;
  #right = 0;

  constructor(tables: Int32Array) {
    this.#p = tables.slice(0, ROUNDS + 2);
    this.#s = tables.slice(ROUNDS + 2);
  }

  /** Mixes a key (and salt) into the tables. */
  expand(key: Int32Array, salt: Int32Array): void {
    const p = this.#p;
    for (let i = 0; i < p.length; i++) p[i] = (p[i] ?? 0) ^ (key[i] ?? 0);
    this.#left = 0;
    this.#right = 0;
    const used = this.#fill(p, salt, 0);
    this.#fill(this.#s, salt, used);
  }

  #fill(table: Int32Array, salt: Int32Array, offset: number): number {
    for (let i = 0; i < table.length; i += 2) {
      this.#left ^= salt[(offset + i) & 3] ?? 0;
      this.#right ^= salt[(offset + i + 1) & 3] ?? 0;
      this.#encrypt();
      table[i] = this.#left;
      table[i + 1] = this.#right;
    }
    return offset + table.length;
  }

  #encrypt(): void {
    const p = this.#p;
    const s = this.#s;
    let left = this.#left ^ (p[0] ?? 0);
    let right = this.#right;
    for (let i = 1; i <= ROUNDS; i += 2) {
      right ^= mix(s, left) ^ (p[i] ?? 0);
      left ^= mix(s, right) ^ (p[i + 1] ?? 0);
    }
    this.#left = right ^ (p[ROUNDS + 1] ?? 0);
    this.#right = left;
  }

  /** The fixed text encrypted 64 times. */
  encryptMagic(): Uint8Array {
    const text = words(MAGIC, 6);
    for (let i = 0; i < 6; i += 2) {
      this.#left = text[i] ?? 0;
      this.#right = text[i + 1] ?? 0;
      for (let n = 0; n < 64; n++) this.#encrypt();
      text[i] = this.#left;
      text[i + 1] = this.#right;
    }
    return Uint8Array.from([...text].flatMap((word) => [word >>> 24, word >>> 16, word >>> 8, word]));
  }
}

function mix(s: Int32Array, x: number): number {
  const sum = ((s[x >>> 24] ?? 0) + (s[256 + ((x >>> 16) & 255)] ?? 0)) ^ (s[512 + ((x >>> 8) & 255)] ?? 0);
  return (sum + (s[768 + (x & 255)] ?? 0)) | 0;
}

/** Big-endian words of bytes taken over and over. */
function words(bytes: Uint8Array, count: number): Int32Array {
  const at = (i: number) => bytes[i % bytes.length] ?? 0;
  return Int32Array.from(
    { length: count },
    (_, i) => at(4 * i) << 24 | at(4 * i + 1) << 16 | at(4 * i + 2) << 8 | at(4 * i + 3),
  );
}

let tables: Int32Array | undefined;

function initialTables(): Int32Array {
  tables ??= piFraction(TABLE_WORDS);
  return tables;
}

/** Words of pi after the point, by Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239). */
function piFraction(count: number): Int32Array {
  const guard = 64n;
  const bits = BigInt(32 * count) + guard;
  const pi = 16n * arctanInverse(5n, bits) - 4n * arctanInverse(239n, bits);
  const fraction = (pi & ((1n << bits) - 1n)) >> guard;
  const hex = fraction.toString(16).padStart(8 * count, "0");
  return Int32Array.from({ length: count }, (_, i) => parseInt(hex.slice(8 * i, 8 * i + 8), 16) | 0);
}

/** arctan(1/x) times 2^bits. */
function arctanInverse(x: bigint, bits: bigint): bigint {
  let term = (1n << bits) / x;
  let sum = 0n;
  for (let n = 1n; term !== 0n; n += 2n) {
    sum += n % 4n === 1n ? term / n : -(term / n);
    term /= x * x;
  }
  return sum;
}

function encode(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,6}/g) ?? [];
  return groups.map((group) => ALPHABET.charAt(parseInt(group.padEnd(6, "0"), 2))).join("");
}
