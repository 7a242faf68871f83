/** sprig's random functions, all from the system's secure generator. */
import { type FuncMap, varying } from "../../go_value.ts";
import { INT, int, limitMade, STRING, text } from "./args.ts";

const DIGITS = "0123456789";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");

/** Returns the functions of this file by name. */
export function randomFunctions(): FuncMap {
  return {
    randAlpha: characters(LETTERS),
    randAlphaNum: characters(LETTERS + DIGITS),
    randAscii: characters(ASCII),
    randNumeric: characters(DIGITS),
    randInt: varying([INT, INT], (min, max) => BigInt(between(int(min), int(max)))),
    randBytes: varying([INT], (count) => randomBytes(int(count)).toBase64()),
    shuffle: varying([STRING], (s) => shuffle([...text(s)]).join("")),
    uuidv4: varying([], () => crypto.randomUUID()),
  };
}

function characters(alphabet: string) {
  return varying([INT], (count) => {
    limitMade(int(count));
    return Array.from({ length: Math.max(int(count), 0) }, () => alphabet.charAt(below(alphabet.length))).join("");
  });
}

/** Random bytes. Throws if `count` is more than the generator returns in one call. */
function randomBytes(count: number): Uint8Array {
  if (count < 0) throw new Error("runtime error: makeslice: len out of range");
  if (count > MAX_BYTES) throw new Error(`the result has more than ${MAX_BYTES} elements`);
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Maximum bytes that one call of the generator returns. */
const MAX_BYTES = 65536;

function between(min: number, max: number): number {
  if (max <= min) throw new Error("invalid argument to Intn");
  return min + below(max - min);
}

/**
 * A uniform random number below `limit`. Draws 53 bits, and draws again if they exceed the last whole multiple of
 * `limit`.
 */
function below(limit: number): number {
  const usable = Math.floor(2 ** 53 / limit) * limit;
  for (;;) {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    const drawn = (high >>> 11) * 2 ** 32 + low;
    if (drawn < usable) return drawn % limit;
  }
}

function shuffle(runes: string[]): string[] {
  for (let i = runes.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [runes[i], runes[j]] = [runes[j] ?? "", runes[i] ?? ""];
  }
  return runes;
}
