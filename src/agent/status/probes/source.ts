import { messageOf } from "../../../core/errors.ts";
import { type Logger, logText } from "../../../core/log.ts";
import { parseAddress } from "../../../core/net.ts";
import type { World } from "../../../core/world/world.ts";

/** The source address of probes; traffic capture would redirect any other into Envoy. */
export interface ProbeSource {
  /** The address; `undefined` if it cannot be bound. */
  address(): string | undefined;
}

/** The addresses that istio-iptables excludes (it also adds ::6 to the loopback interface). */
const SOURCES = { 4: "127.0.0.6", 6: "::6" } as const;

/** The source for probes of `host`, an IP address or `localhost`. Binding is tried once, and again after a failure. */
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
      if (!isTold) {
        logger.warn(
          logText(
            `Probes of the application cannot use the source address ${text}: ${problem}; traffic capture may redirect them`,
          ),
        );
      }
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
