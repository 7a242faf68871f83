/** The TCP connections of all processes in this network namespace (proc(5), `/proc/net/tcp` and `tcp6`). */
import type { Address } from "../../../core/net.ts";
import type { Endpoint, World } from "../../../core/world/mod.ts";
import type { Family } from "../../plan/rule.ts";

export interface Connection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly isListening: boolean;
}

const LISTEN = "0A";

/** The connections of a family; none where the kernel has no such family. */
export async function readConnections(world: World, family: Family): Promise<Connection[]> {
  const path = family === 4 ? "/proc/net/tcp" : "/proc/net/tcp6";
  return parseConnections(await world.files.readText(path).catch(() => ""));
}

/** The lines of such a file. */
export function parseConnections(text: string): Connection[] {
  return text.split("\n").slice(1).flatMap((line) => {
    const [, local = "", remote = "", state] = line.trim().split(/\s+/);
    if (state === undefined) return [];
    return [{ local: endpoint(local), remote: endpoint(remote), isListening: state === LISTEN }];
  });
}

/** `0100007F:3A99`: 32-bit words in host byte order, then the port. */
function endpoint(text: string): Endpoint {
  const [hex = "", port = ""] = text.split(":");
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.map((word) => word.match(/../g)?.reverse().join("") ?? "").join("");
  return {
    address: addressOf(BigInt(`0x${bytes === "" ? "0" : bytes}`), words.length),
    port: Number.parseInt(port, 16),
  };
}

function addressOf(value: bigint, words: number): Address {
  return { family: words === 1 ? 4 : 6, value, zone: "" };
}
