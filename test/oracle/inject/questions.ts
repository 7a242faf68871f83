/** Generates all questions for Istio and this project. */
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

/** The number of questions of each kind. */
export interface Amount {
  readonly generated: number;
  readonly seed: number;
  /**
   * Asks only every n-th combination of a manifest (from the cases or the shared manifests) and a variation of the
   * settings.
   */
  readonly step: number;
}

/** The source of the manifests and the configuration in questions. */
export type Origin = "own" | "shared";

/** Returns the questions. The same numbers give the same questions in the same order. */
export function questions(amount: Amount, origin: Origin): Question[] {
  const all = variations(origin === "own" ? settingsOf({ templates: TEMPLATES }) : sharedSettings());
  const texts = origin === "own" ? ownInputs() : sharedInputs();
  return [
    ...crossed(texts, all).filter((_, index) => index % amount.step === 0),
    ...eachAnnotation().map(([name, text], index) => question(name, text, at(all, 0), index)),
    ...customTemplates(at(all, 0)[1]),
    ...edges(at(all, 0)[1]),
    ...fc.sample(manifest, { numRuns: amount.generated, seed: amount.seed }).map((text, index) =>
      // Each text ends with a newline, because Istio's reader stops early if the last document is 4096 characters long
      // and has none.
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

/** Returns the manifests in our own cases and in the examples. */
function ownInputs(): (readonly [string, string])[] {
  const examples = yamlFiles(`${CHECKOUT}/examples`);
  return [
    ...OWN_CASES.flatMap(({ name, manifest }) => workloads(name, manifest)),
    ...examples.flatMap((name) => workloads(name, Deno.readTextFileSync(`${CHECKOUT}/examples/${name}`))),
  ];
}

/** Returns the inputs of the shared cases that injection accepts, and the workloads in the shared manifests. */
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

/**
 * Splits a text into one question for each document, because Istio stops at the first failure. Invalid YAML is left
 * out.
 */
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

/**
 * Excludes CronJobs: Istio adds labels and annotations where they do not reach the pod, while this project adds them to
 * the pod template.
 */
function isAsked(kind: string): boolean {
  return kind === "List" || kind !== "CronJob" && workloadType(kind) !== undefined;
}
