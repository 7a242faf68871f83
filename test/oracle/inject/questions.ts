/** All questions for Istio and this project. */
import { fc } from "../../support/properties.ts";
import { workloadType } from "../../support/workload_type.ts";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { isMap } from "../../../src/base/value.ts";
import { SHARED } from "../../support/test_when.ts";
import { edges } from "./edges.ts";
import { eachAnnotation, manifest } from "./pods.ts";
import type { Question, Settings } from "./question.ts";
import { variations } from "./settings.ts";
import { customTemplates } from "./templates.ts";

const CASES = `${SHARED}/cases/inject`;

interface Case {
  readonly name: string;
  readonly input: string;
  readonly config: string;
}

/** Number of questions of each kind. */
export interface Amount {
  readonly generated: number;
  readonly seed: number;
  /** Every how many of the inputs of the cases and the shared manifests under all variations are asked. */
  readonly step: number;
}

/** The questions. The same numbers give the same order. */
export function questions(amount: Amount): Question[] {
  const all = variations();
  return [
    ...crossed(inputs(), all).filter((_, index) => index % amount.step === 0),
    ...eachAnnotation().map(([name, text], index) => question(name, text, at(all, 0), index)),
    ...customTemplates(at(all, 0)[1]),
    ...edges(at(all, 0)[1]),
    ...fc.sample(manifest, { numRuns: amount.generated, seed: amount.seed }).map((text, index) =>
      // Istio's reader of documents ends early where the last of a length of 4096 characters has no line end.
      question(`generated ${index}`, `${text}\n`, at(all, index), Math.floor(index / all.length))
    ),
  ];
}

type Variation = readonly [string, Settings];

function at(all: readonly Variation[], index: number): Variation {
  const found = all[index % all.length];
  if (found === undefined) throw new RangeError("No variations");
  return found;
}

function crossed(texts: readonly (readonly [string, string])[], all: readonly Variation[]): Question[] {
  return texts.flatMap(([name, text], row) => all.map((one, index) => question(name, text, one, row + index)));
}

function question(name: string, text: string, [variation, settings]: Variation, index: number): Question {
  const native = index % 2 === 0;
  const revision = index % 5 === 3 ? "canary" : "default";
  return {
    name: `${name} [${variation}${native ? ", native" : ""}, ${revision}]`,
    settings,
    manifest: text,
    native,
    revision,
  };
}

/** Inputs of the cases that injection does not end in an error for, and the workloads of the shared manifests. */
function inputs(): (readonly [string, string])[] {
  const cases: Case[] = JSON.parse(Deno.readTextFileSync(`${CASES}/cases.json`));
  const files = [...Deno.readDirSync(`${SHARED}/cases/manifests`)].map(({ name }) => name).filter((name) =>
    name.endsWith(".yaml")
  ).sort();
  return [
    ...cases.flatMap(({ name, input }) => workloads(name, `${CASES}/${input}`)),
    ...files.flatMap((name) => workloads(name, `${SHARED}/cases/manifests/${name}`)),
  ];
}

/** One question per document: Istio stops at the first failure. Invalid YAML is left out. */
function workloads(name: string, file: string): (readonly [string, string])[] {
  try {
    return splitText(Deno.readTextFileSync(file), "").flatMap((doc, index) => {
      const { value } = parseDocument(doc);
      const kind = isMap(value) ? String(value["kind"]) : "";
      return isAsked(kind) ? [[`${name}#${index}`, doc.text] as const] : [];
    });
  } catch {
    return [];
  }
}

/** Not CronJob: Istio puts labels and annotations where they do not reach the pod, this project on the pod template. */
function isAsked(kind: string): boolean {
  return kind === "List" || kind !== "CronJob" && workloadType(kind) !== undefined;
}
