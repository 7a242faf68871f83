/** The messages between the webhook and its workers: configuration, cluster and answers as JSON in frames. */
import { isList, isMap, mapAt, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import type { Injector, NativeNodes, Source } from "../../inject/mod.ts";
import type { ProxyConfigs } from "../review/proxy_configs.ts";
import type { Answered, ReviewResult } from "../review/answered.ts";
import { type InjectorTexts, textsOf } from "../sources/injector_of.ts";
import { encodeFrame, type Frame } from "./frames.ts";

/** Annotations by namespace, with the users and groups that OpenShift gave to its pods. */
export type NamespaceUsers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What reviews depend on besides the review. Each value is the same object until it changes. */
export interface ReviewInputs {
  readonly injector: Injector;
  readonly proxyConfigs: ProxyConfigs | undefined;
  readonly namespaces: NamespaceUsers;
  readonly nodes: NativeNodes | undefined;
}

/** The messages that bring a worker up to date. */
export type Updates = Readonly<Record<"configuration" | "cluster", Uint8Array<ArrayBuffer>>>;

/** Makes the messages for inputs: the same objects until the inputs change. */
export function updatesMaker(): (inputs: ReviewInputs) => Updates {
  const configuration = cached(
    "configuration",
    ({ injector }) => [injector],
    ({ injector }) => textsOf(injector),
  );
  const cluster = cached(
    "cluster",
    ({ proxyConfigs, namespaces, nodes }) => [proxyConfigs, namespaces, nodes],
    ({ proxyConfigs, namespaces, nodes }) => ({ proxyConfigs: proxyConfigs?.resources ?? [], namespaces, nodes }),
  );
  return (inputs) => ({ configuration: configuration(inputs), cluster: cluster(inputs) });
}

function cached(
  kind: Frame["kind"],
  partsOf: (inputs: ReviewInputs) => readonly unknown[],
  contentOf: (inputs: ReviewInputs) => object,
) {
  let known: { readonly parts: readonly unknown[]; readonly message: Uint8Array<ArrayBuffer> } | undefined;
  return (inputs: ReviewInputs) => {
    const parts = partsOf(inputs);
    if (known === undefined || parts.some((part, index) => part !== known?.parts[index])) {
      known = { parts, message: encodeFrame({ kind, head: JSON.stringify(contentOf(inputs)) }) };
    }
    return known.message;
  };
}

/** The texts of the message `configuration`. */
export function readConfiguration(head: string): InjectorTexts {
  const message = mapOf(head);
  const config = sourceAt(message, "config");
  if (config === undefined) throw new TypeError("the message has no configuration");
  return {
    config,
    values: sourceAt(message, "values"),
    mesh: sourceAt(message, "mesh"),
    revision: textAt(message, "revision"),
    templateEnv: textsAt(message, "templateEnv"),
  };
}

/** The content of the message `cluster`. */
export interface ClusterContent {
  readonly proxyConfigs: readonly ValueMap[];
  /** Annotations of a namespace; empty for an unknown one. */
  readonly annotationsOf: (namespace: string) => Readonly<Record<string, Value>>;
  readonly nodes: NativeNodes | undefined;
}

/** Reads the message `cluster`. Errors: a `TypeError`, as in the other readers: both ends are the same program. */
export function readCluster(head: string): ClusterContent {
  const message = mapOf(head);
  const resources = message["proxyConfigs"] ?? null;
  const namespaces = new Map(Object.entries(mapAt(message, "namespaces")));
  const nodes = message["nodes"] ?? null;
  return {
    nodes: isMap(nodes) ? { byName: mapAt(nodes, "byName"), all: nodes["all"] === true } : undefined,
    proxyConfigs: isList(resources) ? resources.filter(isMap) : [],
    annotationsOf(name) {
      const annotations = namespaces.get(name) ?? null;
      return isMap(annotations) ? annotations : {};
    },
  };
}

function sourceAt(message: ValueMap, key: string): Source | undefined {
  const source = message[key] ?? null;
  return isMap(source) ? { text: textAt(source, "text"), file: textAt(source, "file") } : undefined;
}

function mapOf(text: string): ValueMap {
  const value: unknown = JSON.parse(text);
  if (!isMap(value)) throw new TypeError("the message is not a mapping");
  return value;
}

const RESULTS: readonly ReviewResult[] = ["injected", "skipped", "unchanged", "failed"];

/** The answer of the message `reviewed`. */
export function readReviewed({ head, body }: Pick<Frame, "head" | "body">): Answered {
  const answer = mapOf(head);
  const result = RESULTS.find((each) => each === answer["result"]);
  if (result === undefined) throw new TypeError("the message has no result");
  const text = (key: string) => textAt(answer, key);
  const warnings = answer["warnings"] ?? null;
  return {
    body: new Uint8Array(body),
    result,
    reason: text("reason"),
    message: text("message"),
    warnings: isList(warnings) ? warnings.filter((each) => typeof each === "string") : [],
    uid: text("uid"),
    namespace: text("namespace"),
    name: text("name"),
    dryRun: answer["dryRun"] === true,
    ...answer["defect"] === undefined ? {} : { defect: text("defect") },
  };
}
