/** The kernel's station: the rule that redirects the connection to the proxy, or lets it bypass the proxy. */
import { addressOf, isLoopback } from "../kernel/sockets.ts";
import { type Packet, type Trace, trace, type TracedRule, type TracedRules } from "../../iptables/mod.ts";
import type { Detail } from "../answer_schema.ts";
import { passedInbound, passedOutbound, type Reason, ruleText } from "./capture_reasons.ts";
import type { Facts } from "./facts.ts";
import type { Sender } from "./sender.ts";
import { passing, refusing, sentence, stationOf, type Step, unknowing, unsure } from "./connection_path.ts";

export interface Captured {
  readonly step: Step;
  /** The proxy's port; `undefined` if the connection ends here or the port is unknown. */
  readonly port: number | undefined;
}

/** Stand-ins for an unknown user and unknown addresses. No rule contains these values (addresses: RFC 5737). */
const SOME_USER = 4_294_967_293;
const SOME_ADDRESS = "192.0.2.1";
const SOME_ADDRESS_6 = "2001:db8::1";

/** Returns the kernel's station for an outbound connection. */
export function captureOutbound(facts: Facts, sender: Sender, to: string | undefined, port: number): Captured {
  const destination = addressOf(to);
  const isInside = to !== undefined && (isLoopback(destination) || facts.addresses.includes(to));
  const packet: Packet = {
    family: destination?.family ?? 4,
    protocol: "tcp",
    source: isLoopback(destination) ? destination : addressOf(ownAddress(facts, destination?.family ?? 4)),
    destination,
    port,
    inInterface: undefined,
    outInterface: isInside ? "lo" : "eth0",
    uid: sender.uid,
    gid: sender.gid ?? sender.uid,
    isSent: true,
    mark: 0,
  };
  return captured(facts, packet, (rule, rules) => passedOutbound(rule, rules, sender));
}

/** Returns the kernel's station for an inbound connection from another pod. */
export function captureInbound(facts: Facts, from: string, port: number): Captured {
  const source = addressOf(from);
  const isInside = isLoopback(source) || facts.addresses.includes(from);
  const packet: Packet = {
    family: source?.family ?? 4,
    protocol: "tcp",
    source,
    destination: addressOf(ownAddress(facts, source?.family ?? 4)),
    port,
    inInterface: isInside ? "lo" : "eth0",
    outInterface: undefined,
    uid: undefined,
    gid: undefined,
    isSent: false,
    mark: 0,
  };
  return captured(facts, packet, passedInbound);
}

function ownAddress({ addresses }: Facts, family: 4 | 6): string | undefined {
  return addresses.find((each) => each.includes(":") === (family === 6));
}

type WhyPassed = (rule: TracedRule | undefined, rules: TracedRules) => Reason;

function captured(facts: Facts, packet: Packet, why: WhyPassed): Captured {
  const { kernel, pod } = facts;
  if (pod?.isHostNetwork === true) return { step: hostNetwork(), port: undefined };
  if (kernel.rules === undefined) {
    const message = `the kernel's rules are unknown: ${kernel.why}`;
    const port = packet.isSent ? 15001 : 15006;
    return {
      step: unsure("kernel", { message: `${message}; capture is assumed`, detail: { port } }),
      port,
    };
  }
  const family = packet.family === 6 && facts.snapshot.parts["rules.ip6tables"].text === undefined &&
    facts.snapshot.parts["rules.nft"].text === undefined && kernel.source === "seen";
  if (family) {
    return { step: unknowing("kernel", { message: "the snapshot has no rules for IPv6" }), port: undefined };
  }
  const { source, rules } = kernel;
  const { result, assumed } = traced(rules.rules, packet);
  return conclude(result, { source, assumed, origin: kernel.why, why: (rule) => why(rule, rules) });
}

function hostNetwork(): Step {
  const station = stationOf("kernel", {
    result: "warning",
    message: "the pod uses the host's network: the kernel redirects no connections",
    detail: { hostNetwork: true },
  });
  const fix = "remove spec.hostNetwork from the pod";
  return { station, end: { verdict: "bypasses", reason: sentence(station.message), fix } };
}

/** Traces the packet through the rules. Replaces unknown values with values that no rule names. */
function traced(rules: readonly TracedRule[], packet: Packet): { readonly result: Trace; readonly assumed: string } {
  const first = trace(rules, packet);
  if (first.fate.kind !== "unknown") return { result: first, assumed: "" };
  const assumed = [
    packet.isSent && packet.uid === undefined ? "a user that no rule names" : "",
    packet.destination === undefined ? "an address that no rule names" : "",
  ].filter((part) => part !== "").join(" and ");
  return { result: trace(rules, filledIn(packet)), assumed };
}

function filledIn(packet: Packet): Packet {
  const address = addressOf(packet.family === 6 ? SOME_ADDRESS_6 : SOME_ADDRESS);
  const { uid = SOME_USER, gid = SOME_USER, destination = address, source = address } = packet;
  return { ...packet, uid, gid, destination, source };
}

interface Context {
  readonly source: "seen" | "planned";
  readonly assumed: string;
  /** Where the rules were read, for the station's detail. */
  readonly origin: string;
  readonly why: (rule: TracedRule | undefined) => Reason;
}

function conclude({ fate, decided, passed }: Trace, { source, assumed, origin, why }: Context): Captured {
  const note = assumed === "" ? "" : `; ${assumed} is assumed`;
  const common = { name: ruleName(decided), source, detail: detailOf(decided, passed, origin) };
  switch (fate.kind) {
    case "redirect":
    case "tproxy": {
      const message = `${ruleText(decided)} sends it to port ${fate.port}${note}`;
      const detail = { ...common.detail, port: fate.port };
      return { step: passing("kernel", { ...common, message, detail }), port: fate.port };
    }
    case "drop": {
      const message = `${ruleText(decided)} drops the packet`;
      const step = refusing("kernel", { ...common, message }, "remove this rule from the pod's network namespace");
      return { step, port: undefined };
    }
    case "pass": {
      const { reason, fix } = why(decided);
      const station = stationOf("kernel", { ...common, message: `${reason}${note}` });
      const end = { verdict: "bypasses", reason: sentence(station.message), fix } as const;
      return { step: { station, end }, port: undefined };
    }
    case "unknown": {
      const message = `it is unknown whether ${ruleText(decided)} matches`;
      return { step: unknowing("kernel", { ...common, source: "unknown", message }), port: undefined };
    }
  }
}

function ruleName(rule: TracedRule | undefined): string {
  return rule === undefined ? "" : `${rule.chain} ${rule.place}`;
}

function detailOf(decided: TracedRule | undefined, passed: readonly TracedRule[], origin: string): Detail {
  const rules = passed.map((rule) => {
    const packets = rule.packets === undefined ? "" : ` (${rule.packets} packets)`;
    return `${rule.table} ${rule.chain} ${rule.place}: ${rule.text}${packets}`;
  });
  return {
    ...decided === undefined
      ? {}
      : { table: decided.table, chain: decided.chain, rule: decided.place, text: decided.text },
    ...decided?.packets === undefined ? {} : { packets: decided.packets },
    passed: rules,
    origin,
  };
}
