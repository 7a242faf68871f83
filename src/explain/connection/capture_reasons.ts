/** The reason why a connection bypasses the proxy, and the field to change. */
import type { TracedRule, TracedRules } from "../../iptables/mod.ts";
import { OWN_PORTS } from "../kernel/rules.ts";
import type { Sender } from "./sender.ts";

/** The reason as a clause. `fix` is the change that a user can make; empty if no fix is needed. */
export interface Reason {
  readonly reason: string;
  readonly fix: string;
}

/** Returns the name of a rule, such as `nat ISTIO_OUTPUT rule 9`. */
export function ruleText(rule: TracedRule | undefined): string {
  return rule === undefined ? "a rule" : `${rule.table} ${rule.chain} rule ${rule.place}`;
}

const ANNOTATION = "traffic.sidecar.istio.io";

/** The rule by which the connection bypasses the proxy, and the values that select the reason. */
interface Passed {
  readonly rules: TracedRules;
  readonly container: string;
  /** Whether the deciding rule excludes connections. */
  readonly isReturn: boolean;
  readonly owner: string | undefined;
  readonly port: string | undefined;
  /** An option of the deciding rule; `undefined` if no rule matched. */
  option(name: string): string | undefined;
}

type Text = string | ((passed: Passed) => string);

/** A condition, and the reason and the fix if it holds. */
type Case = readonly [holds: (passed: Passed) => boolean, why: Text, fix: Text];

/** Reasons for outbound connections. The first case that holds applies. */
const OUTBOUND: readonly Case[] = [
  [({ option }) => option("o") === "lo", "the connection stays in the pod", ""],
  [
    ({ isReturn, rules, owner = "" }) => isReturn && rules.settings.proxyUids.includes(owner),
    ({ container, owner }) => `${container} runs as the proxy's user ${owner}`,
    ({ container, owner }) => `set securityContext.runAsUser of ${container} to a user other than ${owner}`,
  ],
  [
    ({ isReturn, port }) => isReturn && port !== undefined,
    "its port is excluded",
    `remove the port from the annotation ${ANNOTATION}/excludeOutboundPorts`,
  ],
  [
    ({ isReturn, option }) => isReturn && /^127\.|^::1\//.test(option("d") ?? ""),
    "the destination is a loopback address",
    "",
  ],
  [
    ({ isReturn, option }) => isReturn && option("d") !== undefined,
    "its address is excluded",
    ({ option }) => `remove ${option("d")} from the annotation ${ANNOTATION}/excludeOutboundIPRanges`,
  ],
  [
    ({ option }) => option("o") !== undefined,
    "its interface is excluded",
    `remove the interface from the annotation ${ANNOTATION}/excludeInterfaces`,
  ],
  [
    ({ isReturn, owner }) => isReturn && owner !== undefined,
    "its user is excluded",
    "remove the user from the arguments of istio-iptables",
  ],
  [
    ({ rules }) => rules.settings.outboundCidrs !== "*",
    "no rule captures its address",
    `add the address to the annotation ${ANNOTATION}/includeOutboundIPRanges`,
  ],
];

const INBOUND: readonly Case[] = [
  [({ isReturn, port = "" }) => isReturn && OWN_PORTS.includes(port), "the port belongs to the proxy", ""],
  [
    ({ isReturn, port }) => isReturn && port !== undefined,
    "its port is excluded",
    `remove the port from the annotation ${ANNOTATION}/excludeInboundPorts`,
  ],
  [
    ({ isReturn, option }) => isReturn && option("i") !== undefined,
    "its interface is excluded",
    `remove the interface from the annotation ${ANNOTATION}/excludeInterfaces`,
  ],
  [
    ({ rules }) => rules.settings.inboundPorts !== "*",
    "no rule captures its port",
    `add the port to the annotation ${ANNOTATION}/includeInboundPorts`,
  ],
];

const OTHERWISE: Case = [() => true, "no rule captures the connection", ""];

const NOTHING_CAPTURED: Reason = {
  reason: "the pod's network has no Istio rules: the kernel redirects no connections",
  fix: "check the exit code of the container istio-init, or the log of the node's CNI agent; then restart the pod",
};

/** Returns the reason why an outbound connection bypasses the proxy. */
export function passedOutbound(rule: TracedRule | undefined, rules: TracedRules, { container }: Sender): Reason {
  return reasonOf(OUTBOUND, rule, rules, container === "" ? "the application" : `container ${container}`);
}

/** Returns the reason why an inbound connection bypasses the proxy. */
export function passedInbound(rule: TracedRule | undefined, rules: TracedRules): Reason {
  return reasonOf(INBOUND, rule, rules, "");
}

function reasonOf(cases: readonly Case[], rule: TracedRule | undefined, rules: TracedRules, container: string): Reason {
  if (!rules.isCaptured) return NOTHING_CAPTURED;
  const option = (name: string) => rule?.options.get(name);
  const owner = option("uid-owner") ?? option("gid-owner");
  const port = option("dport") ?? option("dports");
  const passed: Passed = { rules, container, isReturn: option("j") === "RETURN", owner, port, option };
  const [, found, change] = cases.find(([holds]) => holds(passed)) ?? OTHERWISE;
  const textOf = (text: Text) => typeof text === "string" ? text : text(passed);
  const why = textOf(found);
  return {
    reason: passed.isReturn ? `${ruleText(rule)} excludes the connection: ${why}` : why,
    fix: textOf(change),
  };
}
