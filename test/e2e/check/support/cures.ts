/** Runs the printed advice, and checks its effects on the rest of the mesh. */
import assert from "node:assert/strict";
import type { ShownAdvice } from "../../../../src/check/advice/advice_schema.ts";
import { explainInjection, type Explanation } from "../../../../src/check/mod.ts";
import type { CheckResult } from "../../../../src/check/result_schema.ts";
import type { KubeConnection } from "../../../../src/kube/client/mod.ts";
import { isMap, type ValueMap } from "../../../../src/base/value.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { containersOf } from "../../../../src/inject/mod.ts";
import { got, merged, reported } from "../../support/cluster/requests.ts";
import { runCommand, type Writer } from "./editor.ts";
import type { MeshCluster } from "./mesh_cluster.ts";
import type { Results } from "./results.ts";

/** Explains all workloads. */
export async function explainAll({ api }: MeshCluster): Promise<readonly Explanation[]> {
  return await asked(api, { all: { namespace: undefined } });
}

/** Explains one workload. */
export async function explainOne({ api }: MeshCluster, workload: string, namespace: string): Promise<Explanation> {
  const [explanation] = await asked(api, { workload, namespace });
  assert(explanation !== undefined);
  return explanation;
}

function asked(
  api: KubeConnection,
  question: Pick<Parameters<typeof explainInjection>[2], "all" | "workload"> & { readonly namespace?: string },
): Promise<readonly Explanation[]> {
  return explainInjection(realWorld(), api, { namespace: "default", choice: {}, configuration: {}, ...question });
}

/**
 * Returns the first alternative with a command for each fix. If that command only shows a workload or the checks of a
 * category, its own advice is used instead.
 */
export async function firstCommands(mesh: MeshCluster, fixes: CheckResult["fixes"]): Promise<readonly ShownAdvice[]> {
  const found = fixes.flatMap(({ alternatives }) => alternatives.find(({ commands }) => commands.length > 0) ?? []);
  const led = await Promise.all(found.map(async (advice) => {
    const there = await shownBy(mesh, advice.commands[0] ?? "");
    return there === undefined ? [advice] : await firstCommands(mesh, there);
  }));
  return [...new Map(led.flat().map((advice) => [advice.commands.join("\n"), advice])).values()];
}

/** Returns the fixes that a command shows; `undefined` if it is not one that only shows something. */
async function shownBy(mesh: MeshCluster, command: string): Promise<CheckResult["fixes"] | undefined> {
  const [, workload, namespace] = LOOK.exec(command) ?? [];
  if (workload !== undefined && namespace !== undefined) return (await explainOne(mesh, workload, namespace)).fixes;
  const [, category] = LOOK_AT_ALL.exec(command) ?? [];
  if (category === undefined) return undefined;
  const results = [...(await mesh.results()).values()].filter((each) => each.category === category);
  return results.filter(({ result }) => BAD.includes(result)).flatMap(({ fixes }) => fixes);
}

/**
 * Returns the alternative of each fix whose text matches, for which the user has to decide. It must not be the first
 * alternative.
 */
export function picked(fixes: CheckResult["fixes"], words: RegExp): readonly ShownAdvice[] {
  return fixes.flatMap(({ alternatives }) => {
    const found = alternatives.findIndex(({ change }) => words.test(change));
    assert.ok(found > 0, `Nobody has to decide on ${words}: ${JSON.stringify(alternatives)}`);
    return alternatives.slice(found, found + 1);
  });
}

const LOOK = /^kubectl mesh check injection (\S+\/\S+) -n (\S+)$/;
const LOOK_AT_ALL = /^kubectl mesh check (webhook|namespaces)$/;

/** Results that must come with advice. */
export const BAD: readonly string[] = ["error", "warning"];

/** Runs the commands in the advice, and simulates the kubelet for new pods. */
export async function follow(
  mesh: MeshCluster,
  advice: ShownAdvice,
  { message = "", writer, isDecided = false }: {
    readonly message?: string;
    readonly writer?: Writer | undefined;
    /** Whether a user has decided to leave a mesh. */
    readonly isDecided?: boolean;
  } = {},
): Promise<void> {
  assert(
    isDecided || ["none", "loosens"].includes(advice.risk),
    `The first command is risky: ${JSON.stringify(advice)}`,
  );
  const report = `${message}\n${advice.change}`;
  for (const command of advice.commands) await runCommand(mesh.cluster, command, { writer, report });
  await startPods(mesh);
}

/** Makes pods without a status ready. */
async function startPods(mesh: MeshCluster): Promise<void> {
  const { items } = await got(mesh.cluster, "/api/v1/pods");
  for (const pod of Array.isArray(items) ? items.filter(isMap) : []) {
    if (!isMap(pod["status"]) || pod["status"]["containerStatuses"] !== undefined) continue;
    const containerStatuses = containersOf(pod, "containers").map((container): ValueMap => ({
      name: container["name"] ?? "",
      image: container["image"] ?? "",
      imageID: "",
      ready: true,
      restartCount: 0,
      state: { running: {} },
    }));
    await reported(mesh.cluster, { ...pod, apiVersion: "v1", kind: "Pod" }, { phase: "Running", containerStatuses });
  }
}

const SEVERITIES = ["skipped", "ok", "unknown", "warning", "error"];

/** Returns a sentence for each check that is worse than before. */
export function worse(before: Results, after: Results): readonly string[] {
  const rank = (result: string | undefined) => SEVERITIES.indexOf(result ?? "ok");
  return [...after.values()].flatMap(({ id, result, message }) => {
    const was = before.get(id)?.result;
    const isWorse = rank(result) > Math.max(rank(was), rank("ok"));
    return isWorse ? [`${id} was ${was} and is ${result}: ${message}`] : [];
  });
}

/** Returns the workloads that will be injected when they are created again. */
export function injectedIn(explanations: readonly Explanation[]): readonly string[] {
  return explanations.filter(({ verdict }) => verdict === "injected")
    .map(({ namespace, workload }) => `${namespace}/${workload}`);
}

/** Saves the labels of all namespaces. Returns a function that restores them. */
export async function namespaceLabels({ cluster }: MeshCluster): Promise<() => Promise<void>> {
  const read = async () => {
    const { items } = await got(cluster, "/api/v1/namespaces");
    const all: readonly unknown[] = Array.isArray(items) ? items : [];
    return new Map(
      all.filter(isMap).map(({ metadata }) => {
        const { name, labels } = isMap(metadata) ? metadata : {};
        return [String(name), isMap(labels) ? labels : {}] as const;
      }),
    );
  };
  const before = await read();
  return async () => {
    for (const [name, labels] of await read()) {
      const own = before.get(name) ?? {};
      const keys = Object.keys({ ...labels, ...own }).filter((key) => labels[key] !== own[key]);
      if (keys.length === 0) continue;
      const change = Object.fromEntries(keys.map((key) => [key, own[key] ?? null]));
      await merged(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, {
        metadata: { labels: change },
      });
    }
  };
}
