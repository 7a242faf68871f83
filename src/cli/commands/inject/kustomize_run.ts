import { EXIT, MeshError, UsageError } from "../../../base/errors.ts";
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import { parseDocument, splitDocuments, toYaml } from "../../../yaml/mod.ts";
import type { World } from "../../../platform/world.ts";
import type { Change, DocumentOptions, ListedObject, Source } from "../../../inject/mod.ts";
import { readConfiguration } from "../../configuration.ts";
import { say } from "../../failure.ts";
import { type ConfigProblem, type FunctionConfig, readFunctionConfig } from "../../kustomize/function_config.ts";
import {
  objectsIn,
  onlyResults,
  originOf,
  readResourceList,
  type ResourceList,
} from "../../kustomize/resource_list.ts";
import {
  failure,
  type Origin,
  type Result,
  resultLine,
  resultObject,
  resultsOf,
  togetherResult,
} from "../../kustomize/results.ts";
import { type Findings, findingsFor } from "../../manifests/findings.ts";
import { expandInputs } from "../../manifests/inputs.ts";
import { templatePathsOf } from "../../manifests/manifests.ts";

type InjectModule = typeof import("../../../inject/mod.ts");

interface Answer {
  /** The changed items; `undefined` after a failure, which keeps the items of the input. */
  readonly items: readonly Value[] | undefined;
  readonly results: readonly Result[];
}

/** Runs the kustomize function. After a failure, changes no item and returns exit code 1. */
export async function runKustomize(world: World): Promise<number> {
  if (world.stdin.isTerminal) {
    const hint = 'kustomize starts this command: see "kubectl mesh kustomize --help"';
    throw new UsageError("Standard input is a terminal, not a ResourceList", { hint });
  }
  world.permissions.keepOnly(["read", "env"]);
  let list: ResourceList | undefined;
  let answer: Answer;
  try {
    list = await readResourceList(world.stdin.chunks());
    answer = await answerTo(world, list);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    answer = { items: undefined, results: [failure(error)] };
  }
  const { items } = answer;
  for (const each of answer.results) say(world, resultLine(each));
  const results = answer.results.map(resultObject);
  world.stdout.write(list === undefined ? onlyResults(results) : list.written(items, results));
  return items === undefined ? EXIT.failed : EXIT.ok;
}

async function answerTo(world: World, list: ResourceList): Promise<Answer> {
  const config = readFunctionConfig(list.functionConfig);
  if (!("spec" in config)) return refused(config, list.functionConfig);
  const inject = await import("../../../inject/mod.ts");
  const { change, warnings, hidden } = await changeOf(world, config, inject);
  const findings = await findingsFor(world, config.spec, inject);
  const facts = new inject.InputFacts();
  const options = {
    output: "yaml",
    templatePaths: templatePathsOf(config.spec, inject),
    fit: config.spec.fit,
    rulesOff: findings.off,
    seen: (object: Parameters<typeof facts.add>[0]) => facts.add(object),
  } as const;
  const all = [
    ...list.items.map((object) => ({ object, ...originOf(object.value) })),
    ...await generated(world, config),
  ];
  const changed = all.map((item) => changedItem(item, change, options, { inject, findings }));
  const together = findings.together(inject.inputFindings(facts, findings.off));
  findings.warnings(warnings);
  const hasFailed = findings.failure !== undefined || changed.some((item) => item.hasFailed);
  return {
    items: hasFailed ? undefined : changed.flatMap(({ items }) => items),
    results: [
      ...[...warnings, ...hidden].map((message) => ({ severity: "warning", message } as const)),
      ...changed.flatMap(({ results }) => results),
      ...together.filter(({ severity }) => severity !== "note").map((finding) =>
        togetherResult(finding, inject.findingText(finding), findings.fails)
      ),
    ],
  };
}

function refused(problems: readonly ConfigProblem[], config: Value): Answer {
  const about = { ...referenceTo(config), ...originOf(config) };
  return {
    items: undefined,
    results: problems.map(({ field, message }) => ({
      ...{ severity: "error", message: `The functionConfig is wrong: ${message}`, field },
      ...about,
    })),
  };
}

function referenceTo(object: Value) {
  if (!isMap(object)) return {};
  const [apiVersion, kind] = [textAt(object, "apiVersion"), textAt(object, "kind")];
  return { apiVersion, kind, name: textAt(mapAt(object, "metadata"), "name") };
}

interface Item extends Origin {
  readonly object: ListedObject;
  /**
   * Set for objects from generator files. A List in such a file is replaced with its items, because kustomize requires
   * single objects.
   */
  readonly isGenerated?: true;
}

/** Reads the objects from the files in the configuration's `manifests`. */
async function generated(world: World, { spec: { manifests = [] } }: FunctionConfig): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const input of manifests.length === 0 ? [] : await expandInputs(world, manifests, false)) {
    for await (const source of splitDocuments(input.chunks(), { file: input.file })) {
      const object = parseDocument(source);
      items.push({ object, file: input.file, index: source.index - 1, isGenerated: true });
    }
  }
  return items;
}

function changedItem(
  { object, isGenerated, ...origin }: Item,
  change: Change,
  options: DocumentOptions,
  { inject, findings }: { readonly inject: InjectModule; readonly findings: Findings },
) {
  const { next, entries: found } = object.value === null
    ? { next: null, entries: [] }
    : inject.changeObject(object, change, options);
  const entries = found.map((entry) => findings.entry(entry));
  return {
    items: isGenerated ? objectsIn(next) : [next],
    results: entries.flatMap((entry) => resultsOf(entry, origin, findings.fails)),
    hasFailed: entries.some(({ result }) => result === "failed"),
  };
}

/** Returns the injection for the configuration, and warnings about the configuration. */
async function changeOf(world: World, { spec, raw }: FunctionConfig, inject: InjectModule) {
  const path = (key: "injectConfig" | "values" | "meshConfig") => typeof spec[key] === "string" ? spec[key] : undefined;
  const read = await readConfiguration(world, {
    injectConfig: path("injectConfig"),
    values: path("values"),
    meshConfig: path("meshConfig"),
  });
  const files = {
    config: read.config ?? content(raw, "injectConfig"),
    values: read.values ?? content(raw, "values"),
    mesh: read.mesh ?? content(raw, "meshConfig"),
  };
  const { hub, tag, cni, fit, revision, istioVersion, nativeSidecars, templateEnv = [] } = spec;
  const hidden: string[] = [];
  const configuration = inject.configurationOf({ ...files, hub, tag, revision, cni, fit });
  const injector = await inject.loadInjector({
    revision,
    istioVersion,
    ...configuration,
    nativeSidecars,
    byHand: true,
    parseWhenAsked: true,
    env: (name) => world.env.get(name),
    templateEnv: { names: templateEnv, setBy: "spec.templateEnv", note: (text) => void hidden.push(text) },
    now: () => world.clock.now(),
  });
  const warnings = inject.unknownKeys(files, injector, configuration).map(inject.fileWarningText);
  return { change: inject.injection(injector), warnings, hidden };
}

/** Returns a configuration that is embedded in the functionConfig. */
function content(raw: ValueMap, key: string): Source | undefined {
  const value = raw[key];
  return isMap(value) ? { text: toYaml(value), file: `functionConfig (spec.${key})` } : undefined;
}
