/**
 * Cases of the agent's bootstrap: the environment of a pod, in which the agent runs in process against a world in
 * memory.
 */
import { fakeWorld } from "../fake_world.ts";
import { bootstrapText, configFile } from "../../../src/agent/bootstrap/write.ts";
import { envoyArgs } from "../../../src/agent/bootstrap/envoy_args.ts";
import type { InterfaceAddress, World } from "../../../src/platform/world.ts";
import { readSettings } from "../../../src/agent/settings/read.ts";

/** The content of a case's `input.json`. */
export interface AgentCase {
  readonly env: Readonly<Record<string, string>>;
  /** The arguments, beginning with `proxy`. */
  readonly flags: readonly string[];
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
  /** The content of the mesh configuration file. */
  readonly mesh?: string | null;
  /** Files in the working folder, by path. */
  readonly files?: Readonly<Record<string, string>> | null;
  readonly netns_ips?: readonly string[] | null;
  /** Paths of Unix sockets that another program serves. */
  readonly sockets?: readonly string[];
}

/** Envoy's arguments and its bootstrap. */
export interface AgentOutcome {
  readonly args: readonly string[];
  readonly bootstrap: string;
  readonly warnings: readonly string[];
}

/** Runs a case. Throws a `MeshError` if the settings or the template are wrong. */
export async function runAgentCase(input: AgentCase): Promise<AgentOutcome> {
  const world = worldOf(input);
  const settings = await readSettings(world, input.flags.slice(1), { name: "pilot-agent" });
  const custom = settings.envoy.customConfigFile;
  const warnings = [...settings.warnings];
  const warn = (text: string) => void warnings.push(text);
  return {
    args: envoyArgs(settings, configFile(settings), 0),
    bootstrap: custom === "" ? await bootstrapText(world, settings, warn) : await world.files.readText(custom),
    warnings,
  };
}

/** Returns the pod's environment as the agent sees it. */
function worldOf(input: AgentCase): World {
  return fakeWorld({
    env: { ...input.env },
    files: filesOf(input),
    interfaces: [{ name: "lo", family: "IPv4", address: "127.0.0.1" }, ...podAddresses(input)],
    sockets: input.sockets ?? [],
  });
}

function podAddresses({ netns_ips }: AgentCase): InterfaceAddress[] {
  return (netns_ips ?? []).map((address) => ({
    name: "eth0",
    family: address.includes(":") ? "IPv6" : "IPv4",
    address,
  }));
}

function filesOf({ labels, annotations, mesh, files }: AgentCase): Record<string, string> {
  const found: Record<string, string> = { ...files };
  if (labels && Object.keys(labels).length > 0) found["./etc/istio/pod/labels"] = downward(labels);
  if (annotations && Object.keys(annotations).length > 0) found["./etc/istio/pod/annotations"] = downward(annotations);
  if (mesh) found["./etc/istio/config/mesh"] = mesh;
  return found;
}

/** Writes labels or annotations in the format of the downward API. */
function downward(values: Readonly<Record<string, string>>): string {
  return Object.entries(values).map(([key, value]) => `${key}=${JSON.stringify(value)}\n`).join("");
}
