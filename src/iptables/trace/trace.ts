/** Follows the first packet of a connection through the rules, to the rule that decides its fate. */
import type { Table } from "../plan/rule.ts";
import { holds, type Packet } from "./packet.ts";
import type { TracedRule } from "./rules.ts";

export type Fate =
  | { readonly kind: "redirect" | "tproxy"; readonly port: number }
  | { readonly kind: "pass" | "drop" }
  /** The fate is unknown, because it depends on an unknown condition. */
  | { readonly kind: "unknown" };

export interface Trace {
  readonly fate: Fate;
  readonly passed: readonly TracedRule[];
  /** The rule that ended the trace, or whose match is unknown; `undefined` if the packet passes all chains. */
  readonly decided: TracedRule | undefined;
}

/** The chains that a sent or received packet passes, in the kernel's order. */
const HOOKS: Readonly<Record<"sent" | "received", readonly (readonly [Table, string])[]>> = {
  sent: [["raw", "OUTPUT"], ["mangle", "OUTPUT"], ["nat", "OUTPUT"], ["filter", "OUTPUT"]],
  received: [["raw", "PREROUTING"], ["mangle", "PREROUTING"], ["nat", "PREROUTING"], ["filter", "INPUT"]],
};

/** Maximum depth of jumps; the kernel refuses rules with deeper jumps. */
const MAX_DEPTH = 16;

/** Follows a packet through the rules. A redirection ends the trace. */
export function trace(rules: readonly TracedRule[], packet: Packet): Trace {
  const walk = new Walk(rules.filter(({ family }) => family === undefined || family === packet.family), packet);
  for (const [table, chain] of HOOKS[packet.isSent ? "sent" : "received"]) {
    const fate = walk.chain(table, chain, 0);
    if (typeof fate === "object" && fate.kind !== "pass") return walk.result(fate);
  }
  return walk.result({ kind: "pass" });
}

/** The outcome of a rule. `return`: continue in the calling chain; `next`: continue with the next rule. */
type Outcome = Fate | "return" | "next";

const ENDS: Readonly<Record<string, ((port: number) => Outcome) | undefined>> = {
  RETURN: () => "return",
  ACCEPT: () => ({ kind: "pass" }),
  DROP: () => ({ kind: "drop" }),
  REJECT: () => ({ kind: "drop" }),
  REDIRECT: (port) => ({ kind: "redirect", port }),
  TPROXY: (port) => ({ kind: "tproxy", port }),
};

class Walk {
  readonly #passed: TracedRule[] = [];
  readonly #chains = new Map<string, TracedRule[]>();
  #packet: Packet;
  #decided: TracedRule | undefined;

  constructor(rules: readonly TracedRule[], packet: Packet) {
    this.#packet = packet;
    for (const rule of rules) {
      const key = `${rule.table} ${rule.chain}`;
      const chain = this.#chains.get(key) ?? [];
      chain.push(rule);
      this.#chains.set(key, chain);
    }
  }

  result(fate: Fate): Trace {
    return { fate, passed: this.#passed, decided: this.#decided };
  }

  chain(table: Table, name: string, depth: number): Outcome {
    for (const rule of this.#chains.get(`${table} ${name}`) ?? []) {
      const outcome = this.#rule(rule, depth);
      if (outcome !== "next") return outcome;
    }
    return "return";
  }

  #rule(rule: TracedRule, depth: number): Outcome {
    const held = SOCKET.test(rule.text) ? false : holds(rule.options, this.#packet);
    if (held === false) return "next";
    if (held === undefined) return this.#unknown(rule);
    this.#passed.push(rule);
    return this.#target(rule, depth);
  }

  /** Returns the outcome of a rule whose match is unknown. A rule that only marks or logs does not change the path. */
  #unknown(rule: TracedRule): Outcome {
    if (HARMLESS.has(targetOf(rule))) return "next";
    this.#decided = rule;
    return { kind: "unknown" };
  }

  #target(rule: TracedRule, depth: number): Outcome {
    const target = targetOf(rule);
    const port = Number(rule.options.get("to-ports") ?? rule.options.get("on-port") ?? NaN);
    if (!HARMLESS.has(target)) this.#decided = rule;
    const end = Object.hasOwn(ENDS, target) ? ENDS[target] : undefined;
    if (end !== undefined) return end(port);
    if (target === "MARK") this.#mark(rule.options.get("set-xmark") ?? "");
    return HARMLESS.has(target) ? "next" : this.#jump(rule, target, depth);
  }

  #mark(value: string): void {
    const mark = Number(value.split("/")[0]);
    if (!Number.isNaN(mark)) this.#packet = { ...this.#packet, mark };
  }

  #jump(rule: TracedRule, target: string, depth: number): Outcome {
    if (depth >= MAX_DEPTH) return { kind: "unknown" };
    const outcome = this.chain(rule.table, target, depth + 1);
    if (outcome !== "return") return outcome;
    // A return after a jump continues in the calling chain; after a goto, in the caller of that chain.
    return rule.options.has("g") ? "return" : "next";
  }
}

function targetOf({ options }: TracedRule): string {
  return options.get("j") ?? options.get("g") ?? "";
}

/**
 * Until Istio 1.24, TPROXY rules accepted packets of open connections with `-m socket`. A first packet never matches.
 */
const SOCKET = /(^| )-m socket( |$)/;

/** Targets after which the packet continues with the next rule. */
const HARMLESS: ReadonlySet<string> = new Set([
  "",
  "MARK",
  "CONNMARK",
  "CT",
  "NFLOG",
  "LOG",
  "TRACE",
  "META",
  "CONTINUE",
]);
