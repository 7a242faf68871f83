/** The state of the identity in one line, for readiness and for whoever asks. */
import { BEHIND, stamp } from "./failure.ts";
import type { State } from "./machine.ts";

/** What is wrong; `undefined` if all is well. `now` is in milliseconds since 1970. */
export function problemText(
  { phase, failure, held, storeProblem }: State,
  address: string,
  now: number,
): string | undefined {
  if (phase === "closed") return undefined;
  if (held === undefined) {
    return failure === undefined ? `No certificate yet: "${address}" is asked` : `No certificate: ${failure.text}`;
  }
  const end = stamp(held.notAfter);
  const why = failure === undefined ? "" : `: ${failure.text}`;
  if (held.notAfter <= now) return `The certificate ended at ${end} and could not be renewed${why}`;
  if (failure !== undefined) return `The certificate, which ends at ${end}, could not be renewed yet${why}`;
  return aheadText(held.notBefore, now) ?? storeProblem;
}

/** The clock of a certificate that is not valid yet. */
export function aheadText(notBefore: number, now: number): string | undefined {
  if (notBefore <= now) return undefined;
  return `clock: The certificate is valid only from ${stamp(notBefore)} on: ${BEHIND}`;
}
