/** sprig's base64 and base32. A text that cannot be decoded yields the text of Go's error, as in sprig. */
import { declared, type FuncMap } from "../value.ts";
import { STRING, text } from "./args.ts";
import { fromBinary, toBinary } from "./octets.ts";

/** The functions by name. */
export function encodingFunctions(): FuncMap {
  return {
    b64enc: declared([STRING], (s) => btoa(toBinary(text(s)))),
    b64dec: declared([STRING], (s) => decode(text(s), BASE64)),
    b32enc: declared([STRING], (s) => encodeBase32(toBinary(text(s)))),
    b32dec: declared([STRING], (s) => decode(text(s), BASE32)),
  };
}

interface Alphabet {
  readonly name: string;
  readonly letters: string;
  /** Bits of a letter, letters of a full group, and how many letters of a last group may be padded. */
  readonly bits: number;
  readonly group: number;
  readonly padded: readonly number[];
}

const BASE64: Alphabet = {
  name: "base64",
  letters: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  bits: 6,
  group: 4,
  padded: [2, 3],
};

const BASE32: Alphabet = {
  name: "base32",
  letters: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  bits: 5,
  group: 8,
  padded: [2, 4, 5, 7],
};

function encodeBase32(binary: string): string {
  let bits = "";
  for (const byte of binary) bits += byte.charCodeAt(0).toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((group) => BASE32.letters.charAt(parseInt(group.padEnd(5, "0"), 2))).join("");
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, "=");
}

/** Decodes with padding required; line ends are skipped wherever they are. */
function decode(source: string, alphabet: Alphabet): string {
  const letters: { value: number; at: number }[] = [];
  const binary = toBinary(source);
  let at = 0;
  for (; at < binary.length; at++) {
    const c = binary.charAt(at);
    if (c === "\n" || c === "\r") continue;
    const value = alphabet.letters.indexOf(c);
    if (value < 0) break;
    letters.push({ value, at });
  }
  const problem = paddingProblem(binary, { at, letters: letters.length, alphabet });
  return problem === undefined ? join(letters.map((letter) => letter.value), alphabet) : corrupt(alphabet, problem);
}

/** The byte at which Go finds that the text is no encoding, `undefined` if all is well. */
function paddingProblem(
  binary: string,
  { at, letters, alphabet }: { at: number; letters: number; alphabet: Alphabet },
): number | undefined {
  const { group, padded } = alphabet;
  const over = letters % group;
  if (at === binary.length) return over === 0 ? undefined : endProblem(binary, over, alphabet);
  if (binary[at] !== "=" || !padded.includes(over)) return at;
  let missing = group - over;
  let end = at;
  for (; end < binary.length; end++) {
    const c = binary[end];
    if (c === "\n" || c === "\r") continue;
    if (c !== "=" || missing === 0) return end;
    missing--;
  }
  return missing === 0 ? undefined : end;
}

/** Without padding, base64 points at the start of the last group, base32 at the end. */
function endProblem(binary: string, over: number, { name }: Alphabet): number {
  return name === "base64" ? binary.replace(/[\r\n]+$/, "").length - over : binary.length;
}

function corrupt({ name }: Alphabet, at: number): string {
  return `illegal ${name} data at input byte ${at}`;
}

function join(values: readonly number[], { bits }: Alphabet): string {
  let binary = "";
  let pending = 0;
  let held = 0;
  for (const value of values) {
    pending = (pending << bits) | value;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    binary += String.fromCharCode((pending >> held) & 0xff);
    pending &= (1 << held) - 1;
  }
  return fromBinary(binary);
}
