/** A flow: a way that traffic takes, and the port that the rules should lead it to. */
import type { Endpoint } from "../../core/world/mod.ts";
import type { Family } from "../plan/rule.ts";

export type FlowKind = "outbound" | "inbound" | "proxy to itself" | "DNS over TCP" | "DNS over UDP";

/** The user and the group of a socket; `undefined`: those of this process. */
export interface Owner {
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** A flow that is to be proved. */
export interface Flow {
  readonly kind: FlowKind;
  readonly family: Family;
  /** Where it goes, or what it might: the first that can be reached is used. */
  readonly targets: readonly Endpoint[];
  /** Where it should arrive. */
  readonly port: number;
  /** Who sends it; in words why nobody here can. */
  readonly owner: Owner | string;
}

/** What came of a flow. */
export interface FlowResult {
  readonly flow: Flow;
  /** Where it was sent. */
  readonly target: Endpoint | undefined;
  readonly outcome: "proved" | "escaped" | "not provable";
  /** How it was proved, where it went, or why nothing can be said. */
  readonly reason: string;
}
