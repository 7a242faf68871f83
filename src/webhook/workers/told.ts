/** What a worker was told, read again. Both ends are of one program: what does not fit is a defect. */
import { isList, isMap, mapAt, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { type NativeNodes, type Source } from "../../inject/mod.ts";
import type { InjectorTexts } from "../sources/injector_of.ts";
import type { Answered, ReviewResult } from "../review/mod.ts";
import type { Frame } from "./frames.ts";

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
  };
}

/** What the message `cluster` knows. */
export interface ClusterTold {
  readonly proxyConfigs: readonly ValueMap[];
  /** Annotations of a namespace; empty for one of which nothing is known. */
  readonly annotationsOf: (namespace: string) => Readonly<Record<string, Value>>;
  readonly nodes: NativeNodes | undefined;
}

/** The facts of the message `cluster`. */
export function readCluster(head: string): ClusterTold {
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
  if (!isMap(value)) throw new TypeError("the message is no mapping");
  return value;
}

const RESULTS: readonly ReviewResult[] = ["injected", "skipped", "unchanged", "failed"];

/** The answer of the message `reviewed`. */
export function readReviewed({ head, body }: Pick<Frame, "head" | "body">): Answered {
  const told = mapOf(head);
  const result = RESULTS.find((each) => each === told["result"]);
  if (result === undefined) throw new TypeError("the message has no result");
  const text = (key: string) => textAt(told, key);
  const warnings = told["warnings"] ?? null;
  return {
    body: new Uint8Array(body),
    result,
    reason: text("reason"),
    message: text("message"),
    warnings: isList(warnings) ? warnings.filter((each) => typeof each === "string") : [],
    uid: text("uid"),
    namespace: text("namespace"),
    name: text("name"),
    dryRun: told["dryRun"] === true,
    ...told["defect"] === undefined ? {} : { defect: text("defect") },
  };
}
