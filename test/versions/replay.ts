/** A case of Istio's own test, run with this program. */
import { changeStream, injection, type Injector, isOpenShift, newInjector, proxyIds } from "../../src/inject/mod.ts";
import { loadLibraries } from "../../src/golang/gotemplate/sprig/mod.ts";
import { messageOf } from "../../src/base/errors.ts";
import { withoutAssignedUser } from "../../src/webhook/review/openshift.ts";
import { isList, isMap, mapAt, type Value } from "../../src/base/value.ts";
import { decode } from "../../src/kube/mod.ts";
import { parseDocument, parseYaml, splitText, toYaml } from "../../src/yaml/mod.ts";
import { comparable } from "../support/cases/comparable.ts";
import { workloadType } from "../support/workload_type.ts";
import { asMap, merged } from "./values.ts";
import type { Chart } from "./charts.ts";
import type { GoCase } from "./go_cases.ts";
import { minorOf } from "./releases.ts";

/** The namespace of the test has these users and groups on OpenShift. */
const OPENSHIFT = {
  "openshift.io/sa.scc.uid-range": "1000620000/10000",
  "openshift.io/sa.scc.supplemental-groups": "1000620000/10000",
};

/** The nodes of the test support native sidecars; they are the default from this release on. */
const NATIVE_BY_NODES = 27;

/** The difference between both results of a case; `undefined` if they agree. */
export async function differenceOf(item: GoCase, chart: Chart, release: string): Promise<string | undefined> {
  const injector = await injectorFor(item, chart, release);
  const manifest = await Deno.readTextFile(`${chart.testdata}/${item.input}`);
  const input = item.setup.isOpenShift ? asAdmitted(manifest) : manifest;
  if (item.error !== undefined) return await errorDifference(injector, input, item.error);
  const { text, problem } = await injected(injector, input);
  if (problem !== undefined) return problem;
  const want = await Deno.readTextFile(`${chart.testdata}/${item.want}`);
  const difference = firstDifference(documents(text), documents(want), "");
  if (difference !== undefined) return difference;
  const again = await injected(injector, text);
  // The pod had only the proxy, which injection has made an init container.
  if (again.problem?.includes("has no containers")) return undefined;
  if (again.problem !== undefined) return `a second injection fails: ${again.problem}`;
  const change = firstDifference(documents(again.text).map(withoutNoted), documents(text).map(withoutNoted), "");
  return change === undefined ? undefined : `a second injection changes ${change}`;
}

async function injectorFor(
  { setup, mesh: changes, ...item }: GoCase,
  chart: Chart,
  release: string,
): Promise<Injector> {
  const settings = await chart.settings(item);
  const mesh = merged(asMap(parseYaml(settings.mesh)), changes);
  await loadLibraries(settings.config, settings.values);
  const env = (name: string) => name === "PLATFORM" && setup.isOpenShift ? "openshift" : setup.env?.[name];
  const injector = newInjector({
    config: { text: settings.config, file: "config" },
    values: { text: settings.values, file: "values" },
    mesh: { text: toYaml(mesh), file: "mesh" },
    istioVersion: `1.${minorOf(release)}`,
    nativeSidecars: setup.native ?? minorOf(release) >= NATIVE_BY_NODES,
    byHand: true,
    env,
    now: () => new Date(0),
  });
  return isOpenShift({ env, values: injector.values }) ? { ...injector, ...proxyIds(OPENSHIFT, injector) } : injector;
}

/** The manifest after the webhook's step for OpenShift. */
function asAdmitted(manifest: string): string {
  return splitText(manifest, "").map((doc) => asMap(parseDocument(doc).value)).map((object) => {
    const spec = mapAt(object, "spec");
    return toYaml({ ...object, spec: { ...spec, template: withoutAssignedUser(mapAt(spec, "template")) } });
  }).join("---\n");
}

async function errorDifference(injector: Injector, input: string, error: string): Promise<string | undefined> {
  const { problem } = await injected(injector, input);
  if (problem === undefined) return "an input in error was accepted";
  // Istio's check of ranges leaves out a part of the annotation's name.
  return problem.toLowerCase().replaceAll("outbound", "").includes(error.replace("outbound", ""))
    ? undefined
    : `the error does not name ${error}: ${problem}`;
}

async function injected(injector: Injector, input: string): Promise<{ text: string; problem: string | undefined }> {
  let text = "";
  let problem: string | undefined;
  const sink = {
    write: (part: string) => void (text += part),
    report: (entry: { readonly result: string; readonly message: string }) => {
      if (entry.result === "failed") problem = entry.message;
    },
  };
  const chunks = async function* () {
    yield new TextEncoder().encode(input);
  };
  try {
    await changeStream([{ file: "input", chunks }], injection(injector), { output: "yaml", sink });
  } catch (error) {
    return { text, problem: messageOf(error) };
  }
  return { text, problem };
}

function documents(text: string): unknown[] {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter((value) => value !== null).map(typed);
}

function typed(value: Value): unknown {
  if (!isMap(value)) return value;
  if (value["kind"] === "List") return isList(value["items"]) ? value["items"].map(typed) : [];
  const type = workloadType(String(value["kind"]));
  if (type === undefined) return comparable(value);
  const { status: _, ...rest } = decode(value, type).value;
  return comparable(rest);
}

/**
 * Removes a variable that lists annotations, because re-injection finds more of them. Istio's test ignores it as well.
 */
function withoutNoted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => item?.name !== "ISTIO_METAJSON_ANNOTATIONS").map(withoutNoted);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNoted(item)]));
}

/** The path of the first difference, with both values. */
function firstDifference(ours: unknown, theirs: unknown, path: string): string | undefined {
  if (isObject(ours) && isObject(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      const found = firstDifference(ours[key], theirs[key], `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Object.is(ours, theirs)) return undefined;
  const show = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 300);
  return `${path}: ${show(ours)} instead of ${show(theirs)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
