/** Finds the network namespace of a pod on this node. */
import type { World } from "../../platform/mod.ts";
import { parseAddress } from "../../golang/net/mod.ts";

/** The UID and addresses of a pod, which identify its processes. */
export interface PodPlace {
  readonly uid: string;
  readonly addresses: readonly string[];
}

/**
 * Returns the path under the node's /proc of a network namespace with one of the pod's addresses; `undefined` if no
 * process runs in such a namespace. The files in /proc show the namespace of each process (proc(5)), so the search does
 * not enter namespaces. Any pod can create a namespace with any address, so the search skips processes of other pods.
 */
export async function networkNamespace(
  { files }: World,
  hostProc: string,
  { uid, addresses }: PodPlace,
): Promise<string | undefined> {
  let unnamed: string | undefined;
  for (const { name } of await files.list(hostProc)) {
    if (!/^\d+$/.test(name)) continue;
    // The process may exit meanwhile.
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

/** Finds the pod UIDs in the control groups of a process: `pod6f0c1c1e-…` or, with systemd, `pod6f0c1c1e_…`. */
function podsIn(groups: string): string[] {
  return [...groups.matchAll(POD_GROUP)].map(([, uid = ""]) => uid.replaceAll("_", "-"));
}

/** Whether an address is local, according to the IPv4 routes or the IPv6 interfaces of a process. */
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
