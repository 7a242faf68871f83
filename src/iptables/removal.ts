/** What `clean` would do, as text: found out without a change. */
import { MeshError } from "../core/errors.ts";
import { type Logger, logText } from "../core/log.ts";
import type { World } from "../core/world/world.ts";
import { type ApplyOptions, pending } from "./apply/apply.ts";

/**
 * The input of each program that would be started, behind a comment that names it: IPv4, then IPv6 behind a line
 * `# IPv6`. Policy rules, routes and addresses are comments. Empty where nothing of ours is, or can be seen.
 */
export async function removalText(world: World, log: Logger, options: ApplyOptions): Promise<string> {
  try {
    const { steps } = await pending(world, world.system, undefined, options);
    const firstIpv6 = steps.findIndex((what) => what.startsWith("ip6tables"));
    return steps.map((what, at) => (at === firstIpv6 ? "# IPv6\n" : "") + stepText(what)).join("");
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const { message, hint = "" } = error;
    log.warn(logText(`What is to be taken out cannot be seen: ${message}; ${hint}`));
    return "";
  }
}

/** A step is a command on one line, perhaps with its input on those below. */
export function stepText(what: string): string {
  const [command = "", ...input] = what.trimEnd().replace(/ with the following input:$/m, "").split("\n");
  return [`# ${command}`, ...input].map((line) => `${line}\n`).join("");
}
