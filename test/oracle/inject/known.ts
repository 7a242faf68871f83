/** Intended differences from Istio, each with the reason. */
import type { Question } from "./question.ts";

/** An intended difference. */
export interface Known {
  readonly reason: string;
  /** Whether a question may show this difference. */
  readonly shows: (question: Question) => boolean;
  /** Matches the differences, by path. */
  readonly difference: RegExp;
}

/** The beginning of a difference if only one side returns an error. */
export const OUR_ERROR = "only this project answers with an error";
export const ISTIO_ERROR = "only Istio answers with an error";

const named = (...names: readonly string[]) => ({ name }: Question) =>
  names.some((known) => name === `template ${known}` || name === `template ${known}, native`);

export const KNOWN: readonly Known[] = [
  {
    reason: "templates that render nothing are reported as a mistake, where Istio injects nothing and says that it did",
    shows: named("empty", "comment"),
    difference: new RegExp(`^${OUR_ERROR}: The rendered templates are empty`),
  },
  {
    reason: "a second document in what a template renders is reported, where Istio drops it",
    shows: named("two documents"),
    difference: new RegExp(`^${OUR_ERROR}: .*has more than one document`),
  },
  {
    reason: "an order of containers for a template that has none itself: Istio fails to merge it into its empty pod",
    shows: named("element order"),
    difference: new RegExp(`^${ISTIO_ERROR}: .*expected a \\[\\]interface`),
  },
  {
    reason: "a pod whose spec a template deletes has no containers, however that is written",
    shows: named("null spec"),
    difference: /\/spec\/containers: want \[\], got null$/,
  },
  {
    reason: "a probe has one handler: of two that a merge left, Istio keeps one that the API server refuses",
    shows: named("probe action switched"),
    difference: /readinessProbe\/tcpSocket: want .*, got undefined$/,
  },
  {
    reason:
      "field names in another case count where users write them, not in templates, where they would merge with nothing",
    shows: named("casing"),
    difference: /\/tty: want true, got undefined$/,
  },
  {
    reason: "a port with spaces around it is that port, where Istio accepts it and then probes port 0",
    shows: ({ manifest }) => manifest.includes('" 15020 "'),
    difference: /\/httpGet\/port: want 0, got 15020$/,
  },
  {
    reason: "what users wrote about injected containers survives another injection, which Istio loses",
    shows: ({ manifest }) =>
      manifest.includes('"sidecar.istio.io/status"') && /"name":"istio-(?:proxy|init|validation)"/.test(manifest),
    difference: /./,
  },
  {
    reason: "a workload of a system namespace is not injected, where Istio reads the namespace of its template alone",
    shows: ({ manifest }) => manifest.includes("namespace: kube-system") && !manifest.includes("kind: Pod\n"),
    difference: /: want .*, got /,
  },
  {
    reason: "nothing of a pod that is not injected is looked at",
    shows: ({ manifest }) => /"?proxy.istio.io\/config"?: bad, sidecar.istio.io\/inject: 'false'/.test(manifest),
    difference: new RegExp(`^${ISTIO_ERROR}: could not parse proxy config`),
  },
  {
    reason: "a native proxy of an earlier injection that is to be none moves, where Istio leaves it in both lists",
    shows: ({ name, native }) => /^(?:extra\/reinject-idempotent|injected twice)#/.test(name) && !native,
    difference: /./,
  },
];

/** Returns the differences that are not intended. */
export function unknown(question: Question, differences: readonly string[]): readonly string[] {
  const known = KNOWN.filter(({ shows }) => shows(question));
  return differences.filter((text) => !known.some(({ difference }) => difference.test(text)));
}
