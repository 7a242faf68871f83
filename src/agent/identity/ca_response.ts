/** What an authority answered, checked before it is used. */
import { messageOf } from "../../core/errors.ts";
import { decodePems, type Facts, readFacts, sameBytes } from "../../core/x509/mod.ts";
import { spanText, StageError, stamp } from "./failure.ts";

/** A chain that can be used. */
export interface Chain {
  /** PEM of all certificates, the leaf first. */
  readonly certificate: string;
  /** PEM of those that are trusted from now on. */
  readonly roots: string;
  /** What the leaf says. */
  readonly leaf: Facts;
}

/** There are some; what claims to have more keeps this program busy. */
const MOST_CERTIFICATES = 100;
const MINUTE = 60_000;

/**
 * Checks an answer: PEM texts, the leaf first, roots last. Errors: `StageError` if there are fewer than two, one cannot be
 * read, the leaf has another key than ours, or has expired by our clock.
 */
export function checkAnswer(entries: readonly string[], publicKey: Uint8Array, now: number): Chain {
  if (entries.length < 2) {
    const what = entries.length === 0 ? "without a certificate" : "with one certificate";
    throw wrong(`it answered ${what}, where the leaf and at least its root are expected`);
  }
  const facts = entries.map(factsOf);
  if (facts.flat().length > MOST_CERTIFICATES) {
    throw wrong(`it answered with more than ${MOST_CERTIFICATES} certificates`);
  }
  const leaf = facts[0]?.[0];
  if (leaf === undefined || !sameBytes(leaf.publicKey, publicKey)) {
    throw wrong("the first certificate of its answer has another key than the one that was asked for");
  }
  const [begin, end] = [leaf.notBefore.getTime(), leaf.notAfter.getTime()];
  if (end <= begin) throw wrong(`its certificate ends at ${stamp(end)}, before it begins`);
  if (end <= now) {
    const ago = spanText(Math.round((now - end) / MINUTE) * MINUTE);
    const text = `clock: The CA's new certificate ended about ${ago} ago already, by the clock of this machine`;
    throw new StageError(text, { hint: "set the clock of this machine, or that of the CA" });
  }
  const texts = entries.map((entry) => `${entry.trim()}\n`);
  return { certificate: texts.join(""), roots: texts.at(-1) ?? "", leaf };
}

/** What the certificates of an entry say, at least one. */
function factsOf(entry: string, index: number): Facts[] {
  const blocks = decodePems(entry).filter(({ type }) => type === "CERTIFICATE");
  if (blocks.length === 0) throw wrong(`entry ${index + 1} of its answer is no certificate in PEM`);
  try {
    return blocks.map(({ bytes }) => readFacts(bytes));
  } catch (error) {
    throw wrong(`entry ${index + 1} of its answer cannot be read: ${messageOf(error)}`);
  }
}

function wrong(what: string): StageError {
  return new StageError(`CA: The answer of the CA cannot be used: ${what}`);
}

/** The SPIFFE identity of a certificate; `undefined` if it has none. */
export function spiffeIdOf({ uris }: Facts): string | undefined {
  return uris.find((uri) => uri.startsWith("spiffe://"));
}
