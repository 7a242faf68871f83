/** Finds the network namespace of a pod on this node. */
import type { World } from "../../platform/mod.ts";
import { parseAddress } from "../../golang/net/mod.ts";

/**
 * The path of a network namespace that has one of the addresses, under the node's /proc; `undefined` if no process runs in one.
 * The files of each process show its own namespace (proc(5)), so that none has to be entered.
 */
export async function networkNamespace(
  { files }: World,
  hostProc: string,
  addresses: readonly string[],
): Promise<string | undefined> {
  const entries = await files.list(hostProc);
  for (const { name } of entries) {
    if (!/^\d+$/.test(name)) continue;
    // The process may end meanwhile.
    const read = (file: string) => files.readText(`${hostProc}/${name}/net/${file}`).catch(() => "");
    const [ipv4, ipv6] = [await read("fib_trie"), await read("if_inet6")];
    if (addresses.some((address) => hasAddress(address, ipv4, ipv6))) return `${hostProc}/${name}/ns/net`;
  }
  return undefined;
}

/** Whether the routes of IPv4 or the interfaces of IPv6 have an address as a local one. */
function hasAddress(text: string, routes: string, interfaces: string): boolean {
  const address = parseAddress(text);
  if (typeof address === "string") return false;
  if (address.family === 6) {
    return interfaces.startsWith(hex(address.value)) || interfaces.includes(`\n${hex(address.value)}`);
  }
  const lines = routes.split("\n").map((line) => line.trim());
  return lines.some((line, index) => line === `|-- ${text}` && lines[index + 1] === "/32 host LOCAL");
}

function hex(value: bigint): string {
  return value.toString(16).padStart(32, "0");
}
