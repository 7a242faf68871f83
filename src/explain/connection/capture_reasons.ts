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

interface Case {
  readonly holds: (passed: Passed) => boolean;
  readonly why: string | ((passed: Passed) => string);
  readonly fix: string | ((passed: Passed) => string);
}

/** Reasons for outbound connections. The first case that holds applies; the last case always holds. */
const OUTBOUND: readonly Case[] = [
  {
    holds: ({ option }) => option("o") === "lo",
    why: "the connection stays in the pod",
    fix: "",
  },
  {
    holds: ({ isReturn, rules, owner = "" }) => isReturn && rules.settings.proxyUids.includes(owner),
    why: ({ container, owner }) => `${container} runs as the proxy's user ${owner}`,
    fix: ({ container, owner }) => `set securityContext.runAsUser of ${container} to a user other than ${owner}`,
  },
  {
    holds: ({ isReturn, port }) => isReturn && port !== undefined,
    why: "its port is excluded",
    fix: `remove the port from the annotation ${ANNOTATION}/excludeOutboundPorts`,
  },
  {
    holds: ({ isReturn, option }) => isReturn && /^127\.|^::1\//.test(option("d") ?? ""),
    why: "the destination is a loopback address",
    fix: "",
  },
  {
    holds: ({ isReturn, option }) => isReturn && option("d") !== undefined,
    why: "its address is excluded",
    fix: ({ option }) => `remove ${option("d")} from the annotation ${ANNOTATION}/excludeOutboundIPRanges`,
  },
  {
    holds: ({ option }) => option("o") !== undefined,
    why: "its interface is excluded",
    fix: `remove the interface from the annotation ${ANNOTATION}/excludeInterfaces`,
  },
  {
    holds: ({ isReturn, owner }) => isReturn && owner !== undefined,
    why: "its user is excluded",
    fix: "remove the user from the arguments of istio-iptables",
  },
  {
    holds: ({ rules }) => rules.settings.outboundCidrs !== "*",
    why: "no rule captures its address",
    fix: `add the address to the annotation ${ANNOTATION}/includeOutboundIPRanges`,
  },
  { holds: () => true, why: "no rule captures the connection", fix: "" },
];

const INBOUND: readonly Case[] = [
  {
    holds: ({ isReturn, port = "" }) => isReturn && OWN_PORTS.includes(port),
    why: "the port belongs to the proxy",
    fix: "",
  },
  {
    holds: ({ isReturn, port }) => isReturn && port !== undefined,
    why: "its port is excluded",
    fix: `remove the port from the annotation ${ANNOTATION}/excludeInboundPorts`,
  },
  {
    holds: ({ isReturn, option }) => isReturn && option("i") !== undefined,
    why: "its interface is excluded",
    fix: `remove the interface from the annotation ${ANNOTATION}/excludeInterfaces`,
  },
  {
    holds: ({ rules }) => rules.settings.inboundPorts !== "*",
    why: "no rule captures its port",
    fix: `add the port to the annotation ${ANNOTATION}/includeInboundPorts`,
  },
  { holds: () => true, why: "no rule captures the connection", fix: "" },
];

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
  const found = cases.find(({ holds }) => holds(passed));
  const textOf = (text: Case["why"] = "") => typeof text === "string" ? text : text(passed);
  const why = textOf(found?.why);
  return {
    reason: passed.isReturn ? `${ruleText(rule)} excludes the connection: ${why}` : why,
    fix: textOf(found?.fix),
  };
}
