/** Advice on how to fix a finding, as data. `decide.ts` selects and orders it; the printers print it. */

import type { AccessRequest } from "../inventory/mod.ts";

/** A right that a command needs. */
export type Need = AccessRequest;

export interface Step {
  readonly command: string;
  readonly needs: readonly Need[];
}

/** How far a change reaches, from smallest to largest. `nothing` means that the commands only read. */
export const REACHES = ["nothing", "workload", "namespace", "webhook", "mesh", "cluster"] as const;

export type Reach = typeof REACHES[number];

/** Risks of a change, from the most harmless to the worst. `advice_schema.ts` describes each. */
export const RISKS = ["none", "loosens", "enrols", "takes-out"] as const;

export type Risk = typeof RISKS[number];

/** A fix of a finding. */
export interface Advice {
  /** The change, as an imperative clause: `remove the label istio-injection`. */
  readonly change: string;
  readonly reach: Reach;
  readonly steps: readonly Step[];
  readonly risk: Risk;
  readonly namespace?: string;
  /** The fix assumes a cause that the user must confirm with a read-only command first. */
  readonly isGuess?: true;
  /** The change gives a proxy to pods of the namespace. The risk `enrols` implies this. */
  readonly invites?: true;
}

/** Alternative fixes for a group of objects. */
export interface Fix {
  readonly objects: readonly string[];
  readonly alternatives: readonly Advice[];
}

/** Advice without a command. The user makes the change by hand. */
export function byHand(change: string, reach: Reach = "cluster"): Advice {
  return { change, reach, steps: [], risk: "none" };
}

/** Advice to run a read-only command. */
export function look(change: string, step: Step): Advice {
  return { change, reach: "nothing", steps: [step], risk: "none" };
}

/** Advice that makes a policy admit more. */
export function loosening(change: string, reach: Reach, ...steps: readonly Step[]): Advice {
  return { change, reach, steps, risk: "loosens" };
}

/** Advice with the risk `none`. */
export function harmless(change: string, reach: Reach, ...steps: readonly Step[]): Advice {
  return { change, reach, steps, risk: "none" };
}
