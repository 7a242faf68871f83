/** What to do about a finding, as data: `decide.ts` orders it, the printers write it. */

import type { AccessRequest } from "../inventory/mod.ts";

/** A right that a command needs. */
export type Need = AccessRequest;

/** A command, and the rights that it needs. */
export interface Step {
  readonly command: string;
  readonly needs: readonly Need[];
}

/** What an advice changes, the smallest first; `nothing`: it only shows more. */
export const REACHES = ["nothing", "workload", "namespace", "webhook", "mesh", "cluster"] as const;

export type Reach = typeof REACHES[number];

/** What else happens, the most harmless first; the schema of advice says what each means. */
export const RISKS = ["none", "loosens", "enrols", "takes-out"] as const;

export type Risk = typeof RISKS[number];

/** A fix of a finding. */
export interface Advice {
  /** An imperative clause: `remove the label istio-injection`. */
  readonly change: string;
  readonly reach: Reach;
  readonly steps: readonly Step[];
  readonly risk: Risk;
  readonly namespace?: string;
  /** It helps only if its assumption holds; a look shows that. */
  readonly isGuess?: true;
  /** Pods of the namespace get a proxy. Advice with the risk `enrols` always implies this. */
  readonly invites?: true;
}

/** The alternative fixes of some objects. */
export interface Fix {
  readonly objects: readonly string[];
  readonly alternatives: readonly Advice[];
}

/** Advice without a command. */
export function byHand(change: string, reach: Reach = "cluster"): Advice {
  return { change, reach, steps: [], risk: "none" };
}

/** A command that changes nothing. */
export function look(change: string, step: Step): Advice {
  return { change, reach: "nothing", steps: [step], risk: "none" };
}

/** A change after which a policy admits more. */
export function loosening(change: string, reach: Reach, ...steps: readonly Step[]): Advice {
  return { change, reach, steps, risk: "loosens" };
}

/** A harmless change. */
export function harmless(change: string, reach: Reach, ...steps: readonly Step[]): Advice {
  return { change, reach, steps, risk: "none" };
}
