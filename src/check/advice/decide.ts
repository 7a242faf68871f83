/** Selects and orders the advice to show, and adds the rights that the user lacks. */
import { type InjectorWebhook, isOfInjector } from "../inventory/injector_webhooks.ts";
import { isKnown, type Observed } from "../inventory/mod.ts";
import { isWithoutSidecars } from "../inventory/sidecars.ts";
import { type Advice, type Fix, look, type Need, REACHES, type Risk, RISKS } from "./advice.ts";
import type { ShownAdvice, ShownFix } from "./advice_schema.ts";
import { kubectl } from "./commands.ts";

/** The queries that decide which advice is shown. */
export interface Deciding {
  readonly istioNamespace: string;
  readonly injectors: () => Promise<Observed<readonly InjectorWebhook[]>>;
  readonly may: (need: Need) => Promise<Observed<boolean>>;
}

/**
 * Returns the alternatives to show, in order:
 *
 * | rule                                                                                  | because                        |
 * |---------------------------------------------------------------------------------------|--------------------------------|
 * | advice that gives a proxy to pods of a protected namespace is dropped                  | the injector runs there        |
 * | harmless changes come first, then read-only commands, `loosens`, `enrols`, `takes-out`  | users copy the first           |
 * | a guess comes after read-only commands                                                 | these may rule out the guess   |
 * | within each of these groups, the smallest reach comes first                            | smaller changes are safer      |
 * | a read-only command is put before a first command that enrols or takes out             | the user decides               |
 */
export async function decided(alternatives: readonly Advice[], deciding: Deciding): Promise<readonly ShownAdvice[]> {
  const isAllowed = await Promise.all(alternatives.map((advice) => mayBeShown(advice, deciding)));
  const ordered = distinct(alternatives.filter((_, index) => isAllowed[index])).toSorted((a, b) => rank(a) - rank(b));
  const all = withLook(ordered);
  return await Promise.all(all.map((advice) => shown(advice, deciding)));
}

/** Returns the fixes of a finding. Leaves out a fix if none of its advice may be shown. */
export async function decidedFixes(fixes: readonly Fix[], deciding: Deciding): Promise<readonly ShownFix[]> {
  const found = await Promise.all(fixes.map(async ({ objects, alternatives }) => {
    return { objects, alternatives: await decided(alternatives, deciding) };
  }));
  return found.filter(({ alternatives }) => alternatives.length > 0);
}

async function mayBeShown({ risk, invites, namespace }: Advice, deciding: Deciding): Promise<boolean> {
  const gives = risk === "enrols" || invites === true;
  return !gives || namespace === undefined || !await isProtected(namespace, deciding);
}

function distinct(all: readonly Advice[]): readonly Advice[] {
  const key = ({ change, steps }: Advice) => JSON.stringify([change, steps]);
  return [...new Map(all.toReversed().map((each) => [key(each), each])).values()].toReversed();
}

/** The sort key. Read-only commands come after harmless changes and before risky changes. */
function rank({ risk, reach, isGuess }: Advice): number {
  const group = risk === "none" ? Number(isGuess === true || reach === "nothing") : 1 + RISKS.indexOf(risk);
  return group * REACHES.length + REACHES.indexOf(reach);
}

/** Puts a read-only command before the first command if the first command adds pods to the mesh or removes them. */
function withLook(ordered: readonly Advice[]): readonly Advice[] {
  const index = ordered.findIndex(({ steps }) => steps.length > 0);
  const first = ordered[index];
  return first === undefined || !MOVING.includes(first.risk) ? ordered : ordered.toSpliced(index, 0, lookFirst(first));
}

const MOVING: readonly Risk[] = ["enrols", "takes-out"];

function lookFirst({ namespace }: Advice): Advice {
  const where = namespace === undefined ? ["-A"] : ["-n", namespace];
  const command = kubectl("mesh", "check", "injection", ...where);
  return look("see first which pods are in the mesh", { command, needs: [] });
}

/** Maximum number of rights to check. Each check is a request to the API server. */
const MAX_NEEDS = 10;

async function shown({ change, reach, risk, steps }: Advice, { may }: Deciding): Promise<ShownAdvice> {
  const all = new Map(steps.flatMap((step) => step.needs).map((need) => [needText(need), need]));
  const needs = [...all.values()].slice(0, MAX_NEEDS);
  const answers = await Promise.all(needs.map(may));
  return {
    change,
    scope: reach,
    risk,
    commands: [...new Set(steps.map(({ command }) => command))],
    needs: needs.map(needText),
    forbidden: needs.filter((_, index) => isRefused(answers[index])).map(needText),
  };
}

/** Whether the user lacks a right. False if this is unknown. */
function isRefused(answer: Observed<boolean> | undefined): boolean {
  return answer !== undefined && isKnown(answer) && !answer.value;
}

/** Describes a right: `patch deployments in the namespace "shop"`. */
export function needText({ verb, resource, namespace }: Need): string {
  return namespace === undefined ? `${verb} ${resource}` : `${verb} ${resource} in the namespace "${namespace}"`;
}

/** A namespace is protected if it never gets sidecars, or if it runs the pods of an injection webhook. */
async function isProtected(name: string, { istioNamespace, injectors }: Deciding): Promise<boolean> {
  if (isWithoutSidecars(name, { istioNamespace })) return true;
  const webhooks = await injectors();
  return isKnown(webhooks) && isOfInjector(name, webhooks.value);
}
