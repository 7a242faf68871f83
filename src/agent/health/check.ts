/** Runs health checks of the application. */
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../platform/log.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import type { World } from "../../platform/world.ts";
import { ask } from "../status/probes/ask.ts";
import { probeSource } from "../status/probes/source.ts";
import type { HealthCheck } from "./options.ts";

/** User-Agent of pilot-agent's probes. */
const USER_AGENT = "istio-probe/1.0";

/** Checks the health once. Resolves with the problem, or with `undefined` if healthy. Never rejects. */
export type Check = (signal: AbortSignal) => Promise<string | undefined>;

/** Creates a check with a timeout. */
export function healthCheck(world: World, check: HealthCheck, timeoutSeconds: number, log: Logger): Check {
  return check.kind === "exec" ? execCheck(world, check, timeoutSeconds) : probed(world, check, timeoutSeconds, log);
}

type Kind<Name extends HealthCheck["kind"]> = Extract<HealthCheck, { kind: Name }>;

/** Runs a command. On timeout or abort, kills the whole process group. */
function execCheck({ processes }: World, { command: [command, ...args] }: Kind<"exec">, seconds: number): Check {
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
      if (timeout.aborted) return `"${command}" did not exit within ${seconds}s`;
      return code === 0 ? undefined : `"${command}" exited with code ${code}`;
    } catch (error) {
      return messageOf(error);
    }
  };
}

function probed(world: World, { prober, host, headers }: Kind<"asked">, seconds: number, log: Logger): Check {
  const source = probeSource(world, host, log);
  return async (signal) => {
    try {
      const { status } = await ask({
        network: world.network,
        host,
        source: source(),
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
  // A configured header replaces the agent's header. A header that is configured twice is sent twice.
  for (const [name] of given) headers.delete(name);
  for (const [name, value] of given) headers.append(name, value);
  return headers;
}
