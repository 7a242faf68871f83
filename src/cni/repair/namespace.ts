/** Finds the network namespace of a pod on this node. */
import type { World } from "../../platform/mod.ts";
import { parseAddress } from "../../golang/net/mod.ts";

/** What a pod's processes have in common. */
export interface PodPlace {
  readonly uid: string;
  readonly addresses: readonly string[];
}

/**
 * The path of a network namespace that has one of the pod's addresses, under the node's /proc; `undefined` if no process runs
 * in one. The files of each process show its own namespace (proc(5)), so that none has to be entered. Any pod can make a
 * namespace with any address, so processes of other pods do not count.
 */
export async function networkNamespace(
  { files }: World,
  hostProc: string,
  { uid, addresses }: PodPlace,
): Promise<string | undefined> {
  let unnamed: string | undefined;
  for (const { name } of await files.list(hostProc)) {
    if (!/^\d+$/.test(name)) continue;
    // The process may end meanwhile.
    const read = (file: string) => files.readText(`${hostProc}/${name}/${file}`).catch(() => "");
    const pods = podsIn(await read("cgroup"));
    if (pods.some((each) => each !== uid) || pods.length === 0 && unnamed !== undefined) continue;
    const [ipv4, ipv6] = [await read("net/fib_trie"), await read("net/if_inet6")];
    if (!addresses.some((address) => hasAddress(address, ipv4, ipv6))) continue;
    const path = `${hostProc}/${name}/ns/net`;
    if (pods.length > 0) return path;
    unnamed = path;
  }
  return unnamed;
}

const POD_GROUP = /\bpod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})\b/g;

/** The UIDs of pods in the control groups of a process: `pod6f0c1c1e-…` or, with systemd, `pod6f0c1c1e_…`. */
function podsIn(groups: string): string[] {
  return [...groups.matchAll(POD_GROUP)].map(([, uid = ""]) => uid.replaceAll("_", "-"));
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
