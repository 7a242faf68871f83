/** `--patch` and the real kustomize: the patch of a manifest gives what `inject` and `uninject` give. */
import assert from "node:assert/strict";
import { goJson } from "../../../src/golang/go_json.ts";
import { sameValue } from "../../../src/base/values/mod.ts";
import { mapAt, newMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { toYaml } from "../../../src/yaml/mod.ts";
import {
  type Change,
  configurationOf,
  injection,
  type Injector,
  newInjector,
  uninjection,
  workloadKind,
} from "../../../src/inject/mod.ts";
import { injectCases, injectorOf } from "../../support/cases/inject.ts";
import { manifestFiles } from "../../support/cases/manifests.ts";
import { changedText } from "../../support/changed_text.ts";
import { objectsOf } from "../../support/objects_of.ts";
import { kustomizeProgram } from "../../support/programs/gitops.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const needsGo = needsProgram("go");

/** A manifest, its patch, and what the change makes of it. */
interface Patched {
  readonly from: string;
  readonly manifest: ValueMap;
  readonly patch: ValueMap;
  readonly expected: ValueMap;
}

/** The edit in and the edit back of each workload of a text. Workloads that do not change give nothing. */
async function patchedOf(from: string, text: string, change: Change): Promise<readonly Patched[]> {
  const all: Patched[] = [];
  for (const workload of objectsOf(text).filter((value) => workloadKind(value) !== undefined)) {
    let manifest = named(workload, "same");
    for (const edit of [change, uninjection]) {
      const [expected] = objectsOf((await changedText(toYaml(manifest), edit)).text);
      const [patch] = objectsOf((await changedText(toYaml(manifest), edit, { patch: true })).text);
      if (expected === undefined || patch === undefined) break;
      all.push({ from, manifest, patch, expected });
      manifest = expected;
    }
  }
  return all;
}

function named(value: ValueMap, name: string): ValueMap {
  const metadata = Object.assign(newMap(), mapAt(value, "metadata"), { name });
  return Object.assign(newMap(), value, { metadata });
}

/** What a program builds of the manifests with their patches, in one run: a start takes longer than a manifest. */
async function built(
  [command = "", ...args]: readonly string[],
  all: readonly Patched[],
): Promise<readonly ValueMap[]> {
  await using folder = await temporaryFolder();
  const write = (name: string, value: Value) => Deno.writeTextFile(`${folder.path}/${name}`, goJson(value));
  for (const [index, { manifest, patch }] of all.entries()) {
    await write(`${index}.yaml`, named(manifest, `w${index}`));
    await write(`${index}-patch.yaml`, named(patch, `w${index}`));
  }
  await write("kustomization.yaml", {
    resources: all.map((_, index) => `${index}.yaml`),
    patches: all.map((_, index) => ({ path: `${index}-patch.yaml` })),
  });
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args, folder.path] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const objects = objectsOf(new TextDecoder().decode(stdout));
  const byName = new Map(objects.map((value) => [mapAt(value, "metadata")["name"], named(value, "same")]));
  return all.map((_, index) => byName.get(`w${index}`) ?? newMap());
}

function builtIn(nativeSidecars: boolean): Injector {
  const options = { nativeSidecars, byHand: true, env: () => undefined, now: () => new Date(0) };
  return newInjector({ ...configurationOf({}), ...options });
}

async function manifests(): Promise<Patched[]> {
  const all: Patched[] = [];
  for (const path of manifestFiles()) {
    const native = path.length % 2 === 0;
    all.push(...await patchedOf(path, await Deno.readTextFile(path), injection(builtIn(native))));
  }
  return all;
}

/** Kinds whose merge keys kustomize does not know, and a port whose quotes it would keep. */
const OTHERS = ["argoproj.io/v1alpha1 Rollout", "extensions/v1beta1 Deployment", "batch/v1 Job"].map((names) => {
  const [apiVersion, kind] = names.split(" ");
  return `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: a, namespace: b}
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx
        ports: [{containerPort: 80, name: http}]
        readinessProbe:
          httpGet: {path: /, port: "http"}
      - name: other
        image: busybox
`;
});

/** As Kubernetes, kustomize takes a port without a protocol for one of TCP; it drops nulls and new maps that are empty. */
function asBuilt(value: Value): Value {
  return JSON.parse(goJson(value), (key, item) => {
    if (key === "protocol" && item === "TCP" || item === null) return undefined;
    return (key === "resources" || key === "strategy") && Object.keys(item).length === 0 ? undefined : item;
  });
}

function check(all: readonly Patched[], results: readonly ValueMap[]): void {
  const wrong = all.flatMap(({ from, expected }, index) =>
    sameValue(asBuilt(results[index] ?? null), asBuilt(expected)) ? [] : [from]
  );
  assert.deepEqual(wrong, []);
  assert.ok(all.length > 0);
}

testWhen(needsGo, "kustomize makes of a manifest and its patch what inject and uninject make of it", async () => {
  const injector = builtIn(true);
  const all = await manifests();
  for (const text of OTHERS) all.push(...await patchedOf("others", text, injection(injector)));
  for (const item of await injectCases()) {
    // kustomize itself cannot write back a key that YAML 1.1 reads as a boolean.
    if (item.fails || ["extra/yaml-emitter", "texts that YAML quotes"].includes(item.name)) continue;
    all.push(...await patchedOf(item.name, item.input, injection(injectorOf(item, true))));
  }
  check(all, await built([await kustomizeProgram(), "build"], all));
});

testWhen(needsProgram("kubectl"), "kubectl kustomize makes the same of them", async () => {
  const texts = [...OTHERS, await Deno.readTextFile(`${ROOT}examples/bookinfo.yaml`)];
  const all = (await Promise.all(texts.map((text) => patchedOf("", text, injection(builtIn(false)))))).flat();
  check(all, await built(["kubectl", "kustomize"], all));
});
