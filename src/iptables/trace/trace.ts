/** The path of a connection's first packet through the rules, and the rule that decided. */
import type { Table } from "../plan/rule.ts";
import { holds, type Packet } from "./packet.ts";
import type { TracedRule } from "./rules.ts";

export type Fate =
  | { readonly kind: "redirect" | "tproxy"; readonly port: number }
  | { readonly kind: "pass" | "drop" }
  /** Whether a deciding condition holds is unknown. */
  | { readonly kind: "unknown" };

export interface Trace {
  readonly fate: Fate;
  readonly passed: readonly TracedRule[];
  /** The rule that ended the trace, or whose match is unknown; `undefined`: the packet passes all chains. */
  readonly decided: TracedRule | undefined;
}

/** The chains that a packet passes, in the kernel's order. */
const HOOKS: Readonly<Record<"sent" | "received", readonly (readonly [Table, string])[]>> = {
  sent: [["raw", "OUTPUT"], ["mangle", "OUTPUT"], ["nat", "OUTPUT"], ["filter", "OUTPUT"]],
  received: [["raw", "PREROUTING"], ["mangle", "PREROUTING"], ["nat", "PREROUTING"], ["filter", "INPUT"]],
};

/** The kernel refuses rules with deeper jumps. */
const MAX_DEPTH = 16;

/** Follows a packet through the rules. Redirection ends the trace: a new connection begins there. */
export function trace(rules: readonly TracedRule[], packet: Packet): Trace {
  const walk = new Walk(rules.filter(({ family }) => family === undefined || family === packet.family), packet);
  for (const [table, chain] of HOOKS[packet.isSent ? "sent" : "received"]) {
    const fate = walk.chain(table, chain, 0);
    if (typeof fate === "object" && fate.kind !== "pass") return walk.result(fate);
  }
  return walk.result({ kind: "pass" });
}

/** Where the packet goes after a rule. `return`: to the calling chain; `next`: to the next rule. */
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

  /** The outcome of a rule whose match is unknown; a rule that only marks or logs does not change the path. */
  #unknown(rule: TracedRule): Outcome {
    if (HARMLESS.has(targetOf(rule))) return "next";
    this.#decided = rule;
    return { kind: "unknown" };
  }

  #target(rule: TracedRule, depth: number): Outcome {
    const target = targetOf(rule);
    const port = Number(rule.options.get("to-ports") ?? rule.options.get("on-port") ?? NaN);
    if (!HARMLESS.has(target)) this.#decided = rule;
    const end = ENDS[target];
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
    // After a jump the calling chain continues; after a goto, its caller does.
    return rule.options.has("g") ? "return" : "next";
  }
}

function targetOf({ options }: TracedRule): string {
  return options.get("j") ?? options.get("g") ?? "";
}

/** Until 1.24 TPROXY let packets of open connections through: the first packet has no socket. */
const SOCKET = /(^| )-m socket( |$)/;

/** Targets after which the next rule follows. */
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
