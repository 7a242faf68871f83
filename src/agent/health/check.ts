/** One check of the application. */
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { requestFailure } from "../../core/request_failure.ts";
import type { World } from "../../core/world/world.ts";
import { ask } from "../status/probes/ask.ts";
import { probeSource } from "../status/probes/source.ts";
import type { HealthCheck } from "./options.ts";

/** What applications see of who asks, as pilot-agent has it. */
const USER_AGENT = "istio-probe/1.0";

/** A check that can be made again and again: it resolves to why the application is not well, and never rejects. */
export type Check = (signal: AbortSignal) => Promise<string | undefined>;

/** Makes it. `timeoutSeconds` is the longest that one may take. */
export function checkOf(world: World, check: HealthCheck, timeoutSeconds: number, log: Logger): Check {
  return check.kind === "exec" ? executed(world, check, timeoutSeconds) : asked(world, check, timeoutSeconds, log);
}

type Kind<Name extends HealthCheck["kind"]> = Extract<HealthCheck, { kind: Name }>;

/** Ended with all that it has started when it takes too long, or nobody waits for it: a group of its own. */
function executed({ processes }: World, { command: [command, ...args] }: Kind<"exec">, seconds: number): Check {
  return async (signal) => {
    const timeout = AbortSignal.timeout(seconds * 1000);
    const over = AbortSignal.any([signal, timeout]);
    try {
      const child = processes.spawn({ command, args });
      const kill = () => child.signal("SIGKILL");
      over.addEventListener("abort", kill);
      if (over.aborted) kill();
      const { code } = await child.ended;
      over.removeEventListener("abort", kill);
      if (timeout.aborted) return `"${command}" did not end within ${seconds}s`;
      return code === 0 ? undefined : `"${command}" ended with exit code ${code}`;
    } catch (error) {
      return messageOf(error);
    }
  };
}

function asked(world: World, { prober, host, headers }: Kind<"asked">, seconds: number, log: Logger): Check {
  const source = probeSource(world, host, log);
  return async (signal) => {
    try {
      const { status } = await ask({
        network: world.network,
        host,
        source: source.address(),
        statusPort: 0,
        isHttp2Offered: false,
        headers: headersOf(headers),
        signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]),
      }, prober);
      return status >= 200 && status < 400 ? undefined : `the application answered ${status}`;
    } catch (error) {
      return requestFailure(error, seconds * 1000).text;
    }
  };
}

function headersOf(given: readonly (readonly [string, string])[]): Headers {
  const headers = new Headers({ "user-agent": USER_AGENT });
  // A header that is given replaces that of the agent; one that is given twice is sent twice.
  for (const [name] of given) headers.delete(name);
  for (const [name, value] of given) headers.append(name, value);
  return headers;
}
