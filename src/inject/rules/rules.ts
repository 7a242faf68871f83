/** The table of all rules, and functions that run the rules. `inject`, `check injection` and the webhook use it. */
import { closest } from "../../base/text/mod.ts";
import { annotationsOf } from "../pod/pod.ts";
import { CONTAINER_RULES } from "./container_rules.ts";
import { type Described, INPUT_RULES, type InputFacts, selectedIn } from "./input_rules.ts";
import { METADATA_RULES } from "./metadata_rules.ts";
import { POD_RULES } from "./pod_rules.ts";
import { type Finding, podField, type PodRule, type Problem, type RuleHead, type Subject } from "./rule.ts";

const ALL_POD_RULES: readonly PodRule[] = [...METADATA_RULES, ...POD_RULES, ...CONTAINER_RULES];

const RULES_OF_ALL = ALL_POD_RULES.filter(({ on }) => on === "any");

const SWITCH: RuleHead = {
  id: "rule-switch",
  severity: "warning",
  title: "An annotation turns a rule off without a reason, or names a rule that does not exist",
};

/** All rules, in the order of docs/inject.md. */
export const RULES: readonly RuleHead[] = [...ALL_POD_RULES, ...INPUT_RULES, SWITCH];

/** Prefix of annotations that turn a rule off: `off.kubectl-mesh/RULE: REASON`. */
const OFF = "off.kubectl-mesh/";

export type RulesOff = ReadonlySet<string>;

/** Runs the pod rules on a workload. */
export function findingsOf(subject: Subject, off: RulesOff = new Set()): readonly Finding[] {
  const findings: Finding[] = [];
  const switched = switches(subject);
  for (const rule of subject.injected === undefined ? RULES_OF_ALL : ALL_POD_RULES) {
    if (off.has(rule.id) || switched.off.has(rule.id)) continue;
    for (const problem of rule.problems(subject)) findings.push(found(rule, problem));
  }
  if (!off.has(SWITCH.id)) { for (const problem of switched.problems) findings.push(found(SWITCH, problem)); }
  return findings;
}

/** A finding of an input rule, with the object that it is about. */
export type InputFinding = Finding & { readonly described: Described };

/** Runs the input rules on all objects of an input. */
export function inputFindings(facts: InputFacts, off: RulesOff): readonly InputFinding[] {
  const selected = selectedIn(facts);
  return INPUT_RULES.filter(({ id }) => !off.has(id)).flatMap((rule) =>
    rule.problems(selected, facts).filter(({ about }) => !about.off.has(rule.id)).map((
      { about, line, ...problem },
    ) => ({
      ...found(rule, problem),
      ...line === undefined ? {} : { line },
      described: about.described,
    }))
  );
}

/** Returns the rules that an object's annotations turn off. */
export function rulesOffBy(object: Parameters<typeof annotationsOf>[0]): RulesOff {
  const entries = Object.entries(annotationsOf(object)).filter(([key, reason]) =>
    key.startsWith(OFF) && typeof reason === "string" && reason.trim() !== ""
  );
  return new Set(entries.map(([key]) => key.slice(OFF.length)));
}

function found({ id, severity }: RuleHead, problem: Problem): Finding {
  return { rule: id, severity, ...problem };
}

/** Returns the rules that annotations on the pod or its controller turn off, and problems with these annotations. */
function switches(subject: Subject): { readonly off: RulesOff; readonly problems: readonly Problem[] } {
  const { manifest, pod, path } = subject;
  const places = [
    { object: pod, at: (field: string) => podField(subject, field) },
    ...path.length === 0 ? [] : [{ object: manifest, at: (field: string) => field }],
  ];
  const problems = places.flatMap(({ object, at }) =>
    Object.keys(annotationsOf(object)).filter((key) => key.startsWith(OFF)).flatMap((key) => {
      const id = key.slice(OFF.length);
      const field = at(`metadata.annotations["${key}"]`);
      if (!RULES.some((rule) => rule.id === id)) {
        return [{ field, message: `The rule "${id}" does not exist`, fix: unknownRule(id) }];
      }
      if (rulesOffBy(object).has(id)) return [];
      return [{
        field,
        message: `The rule "${id}" is turned off without a reason`,
        fix: "add the reason as the annotation's value",
      }];
    })
  );
  return { off: new Set(places.flatMap(({ object }) => [...rulesOffBy(object)])), problems };
}

export function unknownRule(id: string): string {
  const meant = closest(id, RULES.map((rule) => rule.id));
  return meant === undefined ? "docs/inject.md lists all rules" : `did you mean "${meant}"?`;
}
