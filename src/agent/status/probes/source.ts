import { messageOf } from "../../../base/errors.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import { parseAddress } from "../../../golang/net/mod.ts";
import type { World } from "../../../platform/world.ts";

/** Source addresses that istio-iptables excludes from capture (it also adds ::6 to the loopback interface). */
const SOURCES = { 4: "127.0.0.6", 6: "::6" } as const;

/**
 * Returns a function that returns the source address for probes of `host`, or `undefined` while this address cannot be
 * bound. Traffic capture would redirect probes from any other address into Envoy.
 */
export function probeSource({ system }: Pick<World, "system">, host: string, logger: Logger): () => string | undefined {
  const text = SOURCES[host.includes(":") ? 6 : 4];
  let isBound = false;
  let isLogged = false;
  return () => {
    const problem = isBound ? undefined : bindProblem(system, text);
    isBound = problem === undefined;
    if (isBound) return text;
    const effect = "traffic capture may redirect them";
    if (!isLogged) {
      logger.warn(logText(`Application probes cannot use the source address ${text}: ${problem}; ${effect}`));
    }
    isLogged = true;
    return undefined;
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
