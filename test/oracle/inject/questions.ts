/** All questions for Istio and this project. */
import { fc } from "../../support/properties.ts";
import { workloadType } from "../../support/workload_type.ts";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { isMap } from "../../../src/base/value.ts";
import { SHARED } from "../../support/test_when.ts";
import { CHECKOUT } from "../../support/programs/cache.ts";
import { edges } from "./edges.ts";
import { eachAnnotation, manifest } from "./pods.ts";
import { OWN_CASES, settingsOf } from "./own/cases.ts";
import { TEMPLATES } from "./own/templates.ts";
import type { Question, Settings } from "./question.ts";
import { sharedSettings, variations } from "./settings.ts";
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

/** Where manifests and the configuration of questions come from. */
export type Origin = "own" | "shared";

/** The questions. The same numbers give the same order. */
export function questions(amount: Amount, origin: Origin): Question[] {
  const all = variations(origin === "own" ? settingsOf({ templates: TEMPLATES }) : sharedSettings());
  const texts = origin === "own" ? ownInputs() : sharedInputs();
  return [
    ...crossed(texts, all).filter((_, index) => index % amount.step === 0),
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

/** The manifests of our own cases and of the examples. */
function ownInputs(): (readonly [string, string])[] {
  const examples = yamlFiles(`${CHECKOUT}/examples`);
  return [
    ...OWN_CASES.flatMap(({ name, manifest }) => workloads(name, manifest)),
    ...examples.flatMap((name) => workloads(name, Deno.readTextFileSync(`${CHECKOUT}/examples/${name}`))),
  ];
}

/** Inputs of the cases that injection does not end in an error for, and the workloads of the shared manifests. */
function sharedInputs(): (readonly [string, string])[] {
  const cases: Case[] = JSON.parse(Deno.readTextFileSync(`${CASES}/cases.json`));
  const folder = `${SHARED}/cases/manifests`;
  return [
    ...cases.flatMap(({ name, input }) => workloads(name, Deno.readTextFileSync(`${CASES}/${input}`))),
    ...yamlFiles(folder).flatMap((name) => workloads(name, Deno.readTextFileSync(`${folder}/${name}`))),
  ];
}

function yamlFiles(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".yaml")).sort();
}

/** One question per document: Istio stops at the first failure. Invalid YAML is left out. */
function workloads(name: string, text: string): (readonly [string, string])[] {
  try {
    return splitText(text, "").flatMap((doc, index) => {
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
