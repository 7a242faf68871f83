/** Proves that traffic is captured: settings in, a result for each flow out. Nothing leaves the pod. */
import { EXIT, MeshError } from "../../core/errors.ts";
import type { Address } from "../../core/net.ts";
import type { InterfaceAddress, SystemCalls, World } from "../../core/world/mod.ts";
import { addressText } from "../address_text.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { Family } from "../plan/rule.ts";
import type { Settings } from "../settings/settings.ts";
import type { Proof } from "./probe/attempt.ts";
import { proveConnection, proveQuery } from "./probe/connections.ts";
import type { Flow, FlowKind, FlowResult } from "./flow.ts";
import { flowsOf } from "./flows.ts";
import { type Identity, readIdentity } from "./identity.ts";
import { proveInbound } from "./probe/inbound.ts";
import { type OpenDatagramPort, openDatagramPort, openPort, type PortState } from "./probe/ports.ts";

/** What is proved: settings, and the pod as far as they depend on it. */
export interface VerifyInput {
  readonly settings: Settings;
  readonly families: readonly Family[];
  readonly dnsServers: readonly Address[];
  readonly names: OwnerNames;
}

/** Proves every flow of the settings within `--probe-timeout`. Throws `MeshError` when a signal ends it. */
export async function verifyCapture(world: World, input: VerifyInput): Promise<FlowResult[]> {
  const { settings: { capture, run } } = input;
  const me = await readIdentity(world);
  const addresses = world.network.interfaces().map(({ address }) => address);
  const flows = flowsOf({ ...input, settings: capture, addresses, probePort: run.probePort, me });
  const isTransparent = capture.mode === "TPROXY";
  const ports = openPorts(world.system, flows, isTransparent && mayBeTransparent(me));
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
    ports.close();
  }
}

/** Addresses of interfaces that a list names; a final `+` stands for any ending. */
export function excludedAddresses(
  interfaces: readonly InterfaceAddress[],
  list: readonly string[],
): ReadonlySet<string> {
  const isNamed = (name: string) =>
    list.some((item) => item.endsWith("+") ? name.startsWith(item.slice(0, -1)) : name === item);
  return new Set(interfaces.filter(({ name }) => isNamed(name)).map(({ address }) => address));
}

const NOT_OPEN = { reason: "it is not listened on" };

function mayBeTransparent({ hasNetAdmin, hasNetRaw }: Identity): boolean {
  return hasNetAdmin || hasNetRaw;
}

interface Ports {
  readonly tcp: ReadonlyMap<string, PortState>;
  readonly udp: ReadonlyMap<string, OpenDatagramPort | "in use" | { readonly reason: string }>;
  close(): void;
}

function openPorts(system: SystemCalls, flows: readonly Flow[], transparent: boolean): Ports {
  const tcp = new Map<string, PortState>();
  const udp = new Map<string, OpenDatagramPort | "in use" | { readonly reason: string }>();
  for (const { kind, family, port } of flows) {
    const key = `${family}/${port}`;
    if (kind === "DNS over UDP") udp.set(key, udp.get(key) ?? openDatagramPort(system, family, port));
    else tcp.set(key, tcp.get(key) ?? openPort(system, family, port, transparent));
  }
  return {
    tcp,
    udp,
    close() {
      for (const state of [...tcp.values(), ...udp.values()]) {
        if (typeof state === "object" && "close" in state) state.close();
      }
    },
  };
}

function proveOwn(proof: Proof, flow: Flow, { tcp, udp }: Ports): Promise<FlowResult> {
  const key = `${flow.family}/${flow.port}`;
  return flow.kind === "DNS over UDP"
    ? proveQuery(proof, flow, udp.get(key) ?? NOT_OPEN)
    : proveConnection(proof, flow, tcp.get(key) ?? NOT_OPEN);
}

const KINDS: readonly FlowKind[] = ["outbound", "inbound", "proxy to itself", "DNS over TCP", "DNS over UDP"];

function inOrder(results: readonly FlowResult[], flows: readonly Flow[]): FlowResult[] {
  const families = [...new Set(flows.map(({ family }) => family))];
  return results.toSorted((a, b) =>
    families.indexOf(a.flow.family) - families.indexOf(b.flow.family) ||
    KINDS.indexOf(a.flow.kind) - KINDS.indexOf(b.flow.kind)
  );
}
