/**
 * `--redirect-traffic`: the agent applies the rules for traffic capture when it starts, instead of an init container.
 */
import { MeshError } from "../base/errors.ts";
import { UNCAPTURED_PORTS } from "../istio/configuration.ts";
import type { World } from "../platform/world.ts";
import type { AgentSettings } from "./settings/read.ts";

/** Runs `iptables apply` with arguments; resolves with its exit code. */
export type ApplyRules = (args: readonly string[]) => Promise<number>;

/** Arguments of `iptables apply` for variables that are not set. The values are the defaults of Istio's injector. */
const DEFAULTS = { ISTIO_INBOUND_PORTS: ["-b", "*"], ISTIO_SERVICE_CIDR: ["-i", "*"] } as const;

/**
 * Returns the arguments of `iptables apply`. The resulting rules capture all traffic that the variables do not exclude.
 * They recognize Envoy's traffic by the user or group of this process. Throws a `MeshError` if applications may run as
 * the same user and group.
 */
export function redirectArguments(
  env: Readonly<Record<string, string>>,
  { status, prometheus }: Pick<AgentSettings["ports"], "status" | "prometheus">,
  owner: { readonly uid: number; readonly gid: number },
): string[] {
  const isGiven = (name: string) => (env[name] ?? "") !== "";
  const ports = [...new Set([...UNCAPTURED_PORTS, status, prometheus])].filter((port) => port !== 0).join();
  return [
    ...Object.entries(DEFAULTS).flatMap(([name, flags]) => isGiven(name) ? [] : flags),
    ...isGiven("ISTIO_LOCAL_EXCLUDE_PORTS") ? [] : ["-d", ports],
    ...isGiven("PROXY_UID") || isGiven("PROXY_GID") ? [] : ownerArguments(owner),
  ];
}

function ownerArguments({ uid, gid }: { readonly uid: number; readonly gid: number }): string[] {
  if (uid === 0 && gid === 0) {
    throw new MeshError("Envoy would run as user 0 and group 0, and its own traffic would be captured", {
      hint: "Give the container its own group (securityContext.runAsGroup: 1337)",
    });
  }
  return ["-u", String(uid === 0 ? 1337 : uid), "-g", String(gid === 0 ? 1337 : gid)];
}

/** Returns the user and the group of this process (proc_pid_status(5)). */
export async function ownerOfProcess(world: World): Promise<{ readonly uid: number; readonly gid: number }> {
  const status = await world.files.readText("/proc/self/status");
  const id = (line: RegExp) => Number(line.exec(status)?.[1] ?? NaN);
  return { uid: id(/^Uid:\s+\d+\s+(\d+)/m), gid: id(/^Gid:\s+\d+\s+(\d+)/m) };
}
