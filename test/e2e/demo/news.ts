/** Progress messages while the machine of the demo starts. */
import { ageText } from "../../../src/base/text/mod.ts";
import { BUILDS } from "../../support/programs/go_program.ts";

/** The servers of the demo in build order: the program, and its usual name. */
const SERVERS = [["pilot-discovery", "istiod"], ["kube-apiserver", "kube-apiserver"]] as const;

const EVERY_MILLISECONDS = 30_000;

/**
 * Returns a message about the current build, or that nothing is being built. Times are in milliseconds since the
 * process started.
 */
export function newsOf(builds: ReadonlyMap<string, number>, now: number): string {
  const lines = [...builds].map(([program, since]) =>
    `building ${nameOf(program)}, ${ageText((now - since) / 1000)}\n`
  );
  return lines.length === 0 ? `still starting, ${ageText(now / 1000)}\n` : lines.join("");
}

function nameOf(program: string): string {
  const at = SERVERS.findIndex(([each]) => each === program);
  return SERVERS[at] === undefined ? program : `${SERVERS[at][1]} (${at + 1} of ${SERVERS.length})`;
}

/** Prints progress messages on standard error until it is stopped. */
export function startNews(): { stop(): void } {
  const timer = setInterval(
    () => Deno.stderr.writeSync(new TextEncoder().encode(newsOf(BUILDS, performance.now()))),
    EVERY_MILLISECONDS,
  );
  return { stop: () => clearInterval(timer) };
}
