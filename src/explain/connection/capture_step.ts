/** The kernel's station: the rule that redirects the connection to the proxy, or lets it bypass the proxy. */
import { type Address, isLoopback } from "../../golang/net/mod.ts";
import { addressOf } from "../address.ts";
import { arriving } from "../kernel/rules.ts";
import { type Packet, type Trace, trace, type TracedRule, type TracedRules } from "../../iptables/mod.ts";
import type { Detail } from "../answer_schema.ts";
import { passedInbound, passedOutbound, type Reason, ruleText } from "./capture_reasons.ts";
import type { Facts } from "./facts.ts";
import type { Sender } from "./sender.ts";
import { ending, passing, refusing, type Step, unknowing, unsure } from "./connection_path.ts";

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
  const family = destination?.family ?? 4;
  const isLocal = destination !== undefined && isLoopback(destination);
  const isInside = to !== undefined && (isLocal || facts.addresses.includes(to));
  const source = isLocal ? destination : ownAddress(facts, family);
  const packet: Packet = {
    ...arriving({ family, source, destination, port }),
    inInterface: undefined,
    outInterface: isInside ? "lo" : "eth0",
    uid: sender.uid,
    gid: sender.gid ?? sender.uid,
    isSent: true,
  };
  return captured(facts, packet, (rule, rules) => passedOutbound(rule, rules, sender));
}

/** Returns the kernel's station for an inbound connection from another pod. */
export function captureInbound(facts: Facts, from: string, port: number): Captured {
  const source = addressOf(from);
  const family = source?.family ?? 4;
  const isInside = source !== undefined && isLoopback(source) || facts.addresses.includes(from);
  const packet = arriving({ family, source, destination: ownAddress(facts, family), port });
  return captured(facts, isInside ? { ...packet, inInterface: "lo" } : packet, passedInbound);
}

function ownAddress({ addresses }: Facts, family: 4 | 6): Address | undefined {
  return addresses.map(addressOf).find((each) => each?.family === family);
}

type WhyPassed = (rule: TracedRule | undefined, rules: TracedRules) => Reason;

function captured(facts: Facts, packet: Packet, why: WhyPassed): Captured {
  const { kernel, pod, snapshot: { parts } } = facts;
  if (pod?.isHostNetwork === true) {
    const message = "the pod uses the host's network: the kernel redirects no connections";
    const fix = "remove spec.hostNetwork from the pod";
    const common = { result: "warning", message, detail: { hostNetwork: true } } as const;
    return { step: ending("kernel", common, { verdict: "bypasses", fix }), port: undefined };
  }
  if (kernel.rules === undefined) {
    const message = `the kernel's rules are unknown: ${kernel.why}; capture is assumed`;
    const port = packet.isSent ? 15001 : 15006;
    return { step: unsure("kernel", { message, detail: { port } }), port };
  }
  const isUnread = packet.family === 6 && kernel.source === "seen" && parts["rules.ip6tables"].text === undefined &&
    parts["rules.nft"].text === undefined;
  if (isUnread) {
    return { step: unknowing("kernel", { message: "the snapshot has no rules for IPv6" }), port: undefined };
  }
  const { source, rules } = kernel;
  const { result, assumed } = traced(rules.rules, packet);
  return conclude(result, { source, assumed, origin: kernel.why, why: (rule) => why(rule, rules) });
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
  const name = decided === undefined ? "" : `${decided.chain} ${decided.place}`;
  const common = { name, source, detail: detailOf(decided, passed, origin) };
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
      const step = ending("kernel", { ...common, message: `${reason}${note}` }, { verdict: "bypasses", fix });
      return { step, port: undefined };
    }
    case "unknown": {
      const message = `it is unknown whether ${ruleText(decided)} matches`;
      return { step: unknowing("kernel", { ...common, source: "unknown", message }), port: undefined };
    }
  }
}

function detailOf(decided: TracedRule | undefined, all: readonly TracedRule[], origin: string): Detail {
  const passed = all.map(({ table, chain, place, text, packets }) =>
    `${table} ${chain} ${place}: ${text}${packets === undefined ? "" : ` (${packets} packets)`}`
  );
  if (decided === undefined) return { passed, origin };
  const { table, chain, place: rule, text, packets } = decided;
  return { table, chain, rule, text, ...packets === undefined ? {} : { packets }, passed, origin };
}
