import { messageOf } from "../../../core/errors.ts";
import { type Logger, logText } from "../../../core/log.ts";
import { parseAddress } from "../../../core/net.ts";
import type { World } from "../../../core/world/world.ts";

/** Where probes of the application come from; captured traffic of any other source is sent into Envoy. */
export interface ProbeSource {
  /** The address; `undefined` where it cannot be had. */
  address(): string | undefined;
}

/** What istio-iptables lets pass (it also puts ::6 on the loopback interface). */
const SOURCES = { 4: "127.0.0.6", 6: "::6" } as const;

/** The source for probes of this host, an IP address or `localhost`. It is tried out once, and again after a failure. */
export function probeSource({ system }: Pick<World, "system">, host: string, logger: Logger): ProbeSource {
  const text = SOURCES[host.includes(":") ? 6 : 4];
  let isTried = false;
  let isTold = false;
  return {
    address() {
      if (isTried) return text;
      const problem = bindProblem(system, text);
      if (problem === undefined) {
        isTried = true;
        return text;
      }
      const effect = "capture may take them";
      if (!isTold) logger.warn(logText(`Probes of the application cannot come from ${text}: ${problem}; ${effect}`));
      isTold = true;
      return undefined;
    },
  };
}

function bindProblem(system: World["system"], text: string): string | undefined {
  const address = parseAddress(text);
  if (typeof address === "string") return address;
  try {
    const socket = system.openSocket({ kind: "stream", family: address.family });
    try {
      socket.bind({ address, port: 0 });
    } finally {
      socket.close();
    }
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
