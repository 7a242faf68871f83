/** Proves that traffic is captured, with a result for each flow. No packet leaves the pod. */
import { EXIT, MeshError } from "../../base/errors.ts";
import { type Address, addressText } from "../../golang/net/mod.ts";
import type { InterfaceAddress, SystemCalls, World } from "../../platform/mod.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { Family } from "../plan/rule.ts";
import type { Settings } from "../settings/read.ts";
import type { Proof } from "./probe/attempt.ts";
import { proveConnection, proveQuery } from "./probe/connections.ts";
import { type Flow, FLOW_KINDS, type FlowResult, flowsOf } from "./flows.ts";
import { readIdentity } from "./owners.ts";
import { proveInbound } from "./probe/inbound.ts";
import { type OpenDatagramPort, openDatagramPort, type OpenPort, openPort, type PortState } from "./probe/ports.ts";

export interface VerifyInput {
  readonly settings: Settings;
  readonly families: readonly Family[];
  readonly dnsServers: readonly Address[];
  readonly names: OwnerNames;
}

/** Verifies all flows within `--probe-timeout`. Rejects with a `MeshError` after SIGINT or SIGTERM. */
export async function verifyCapture(world: World, input: VerifyInput): Promise<FlowResult[]> {
  const { settings: { capture, run } } = input;
  const me = await readIdentity(world);
  const addresses = world.network.interfaces().map(({ address }) => address);
  const flows = flowsOf({ ...input, settings: capture, addresses, probePort: run.probePort, me });
  const isTransparent = capture.mode === "TPROXY";
  const ports = openPorts(world.system, flows, isTransparent && (me.hasNetAdmin || me.hasNetRaw));
  const stop = new AbortController();
  const signals = (["SIGINT", "SIGTERM"] as const).map((name) => world.signals.on(name, () => stop.abort()));
  const deadline = world.clock.monotonic() + run.probeTimeoutMilliseconds;
  const excluded = excludedAddresses(world.network.interfaces(), capture.excludeInterfaces);
  const isExcluded = (source: Address) => excluded.has(addressText(source));
  const proof: Proof = { world, deadline, isExcluded, stop: stop.signal };
  try {
    const inbound = flows.filter(({ kind }) => kind === "inbound");
    const port = (family: Family) => ports.tcp.get(`${family}/${capture.inboundPort}`) ?? NOT_OPEN;
    const proved = await Promise.all([
      proveInbound(proof, inbound, { addresses, isTransparent, port }),
      ...flows.filter(({ kind }) => kind !== "inbound").map(async (flow) => [await proveOwn(proof, flow, ports)]),
    ]);
    if (stop.signal.aborted) {
      throw new MeshError("Interrupted before every flow was proved", { exitCode: EXIT.interrupted });
    }
    return inOrder(proved.flat(), flows);
  } finally {
    signals.forEach((off) => off());
    for (const state of [...ports.tcp.values(), ...ports.udp.values()]) {
      if (typeof state === "object" && "close" in state) state.close();
    }
  }
}

/** Returns the addresses of excluded interfaces. A final `+` in the list matches any suffix. */
export function excludedAddresses(
  interfaces: readonly InterfaceAddress[],
  list: readonly string[],
): ReadonlySet<string> {
  const isNamed = (name: string) =>
    list.some((item) => item.endsWith("+") ? name.startsWith(item.slice(0, -1)) : name === item);
  return new Set(interfaces.filter(({ name }) => isNamed(name)).map(({ address }) => address));
}

const NOT_OPEN = { reason: "no process listens on the port" };

/** The capture ports of TCP and of UDP, by family and number. */
interface Ports {
  readonly tcp: ReadonlyMap<string, PortState<OpenPort>>;
  readonly udp: ReadonlyMap<string, PortState<OpenDatagramPort>>;
}

function openPorts(system: SystemCalls, flows: readonly Flow[], transparent: boolean): Ports {
  const tcp = new Map<string, PortState<OpenPort>>();
  const udp = new Map<string, PortState<OpenDatagramPort>>();
  for (const { kind, family, port } of flows) {
    const key = `${family}/${port}`;
    if (kind === "DNS over UDP") udp.set(key, udp.get(key) ?? openDatagramPort(system, family, port));
    else tcp.set(key, tcp.get(key) ?? openPort(system, family, port, transparent));
  }
  return { tcp, udp };
}

function proveOwn(proof: Proof, flow: Flow, { tcp, udp }: Ports): Promise<FlowResult> {
  const key = `${flow.family}/${flow.port}`;
  return flow.kind === "DNS over UDP"
    ? proveQuery(proof, flow, udp.get(key) ?? NOT_OPEN)
    : proveConnection(proof, flow, tcp.get(key) ?? NOT_OPEN);
}

function inOrder(results: readonly FlowResult[], flows: readonly Flow[]): FlowResult[] {
  const families = [...new Set(flows.map(({ family }) => family))];
  return results.toSorted((a, b) =>
    families.indexOf(a.flow.family) - families.indexOf(b.flow.family) ||
    FLOW_KINDS.indexOf(a.flow.kind) - FLOW_KINDS.indexOf(b.flow.kind)
  );
}
