/** The webhook and `inject` make the same pods, for the examples and all available manifests and cases. */
import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { decode } from "../../kube/mod.ts";
import type { Value, ValueMap } from "../../base/value.ts";
import { changeStream, injection, type Injector } from "../../inject/mod.ts";
import { comparable } from "../../../test/support/cases/comparable.ts";
import {
  admitted,
  asTemplate,
  type MadePod,
  patchOf,
  podsOf,
  reviewBytes,
  webhookInjector,
} from "../../../test/support/kube/review.ts";
import { type InjectCase, injectCases, injectorOf } from "../../../test/support/cases/inject.ts";
import { manifestFiles, OWN_MANIFESTS } from "../../../test/support/cases/manifests.ts";
import { CHECKOUT } from "../../../test/support/programs/cache.ts";
import { testShared } from "../../../test/support/test_when.ts";
import { type Reviewed, reviewPod } from "./review_pod.ts";

const EXAMPLES = `${CHECKOUT}/examples`;

/** The pod as Kubernetes stores it. */
function held(pod: Value): unknown {
  const { status: _, apiVersion: _version, kind: _kind, ...typed } = decode(asTemplate(pod), "Pod").value;
  return comparable(typed);
}

function review({ pod, namespace }: MadePod, injector: Injector): Reviewed {
  return reviewPod(reviewBytes(pod, { namespace }), { injector, path: "/inject" });
}

async function injectText(text: string, injector: Injector): Promise<string> {
  let output = "";
  const sink = { write: (part: string) => void (output += part), report: () => {} };
  const chunks = async function* () {
    yield new TextEncoder().encode(text);
  };
  await changeStream([{ file: "", chunks }], injection(injector), { output: "yaml", sink });
  return output;
}

const MODERN = [false, true].map((nativeSidecars): Injector => ({ ...webhookInjector(), nativeSidecars }));

/** A configuration of Istio 1.1. */
const LEGACY = `policy: enabled
template: |
  initContainers:
  - name: istio-init
    image: init
    args: ["-d", [[ excludeInboundPort 15020 "" ]]]
  containers:
  - name: istio-proxy
    image: proxy
    args: [proxy, --serviceCluster, [[ .DeploymentMeta.Name ]]]
  volumes:
  - name: istio-envoy
    emptyDir: {}
`;

/** Compares all pods of a file; returns how many were injected. */
async function checkFile(path: string, injectors = MODERN): Promise<number> {
  const text = await Deno.readTextFile(path);
  let injected = 0;
  for (const injector of injectors) {
    const output = await injectText(text, { ...injector, byHand: true });
    // A failed document is not in the output, so positions do not match.
    const before = podsOf(text);
    const after = podsOf(output);
    if (before.length === after.length) before.forEach((made, at) => checkPod(made, after[at]?.pod, injector));
    else assert.ok(before.some((made) => review(made, injector).result === "failed"));
    injected += before.filter((made) => review(made, injector).result === "injected").length;
  }
  return injected;
}

function checkPod(made: MadePod, expected: ValueMap | undefined, injector: Injector): void {
  const answer = review(made, injector);
  // Like istioctl, `inject` reads the namespace of the template, not of the manifest.
  if (answer.reason === "namespace-ignored") return assert.equal(made.namespace, "kube-system");
  const pod = admitted(made.pod, answer);
  assert.deepEqual(held(pod), held(expected ?? null));
  const again = reviewPod(reviewBytes(pod, { namespace: made.namespace }), { injector, path: "/inject" });
  assert.deepEqual(patchOf(again), [], "a second review changes the pod");
}

Deno.test("the webhook's pods of the examples and of our own manifests equal the pods of inject", async (t) => {
  for (const path of manifestFiles([EXAMPLES, OWN_MANIFESTS])) {
    await t.step(path, async () => assert.ok(await checkFile(path) > 0));
  }
});

Deno.test("the webhook's pods of the examples equal the pods of inject, with an old configuration too", async (t) => {
  for (const path of manifestFiles([EXAMPLES])) {
    await t.step(path, async () => assert.ok(await checkFile(path, [webhookInjector(LEGACY)]) > 0));
  }
});

testShared("cases/manifests", "the webhook's pods of public manifests equal the pods of inject", async (folder, t) => {
  for (const path of manifestFiles([folder])) await t.step(path, async () => void await checkFile(path));
});

Deno.test("the webhook makes the pods that Istio makes", async (t) => {
  const cases = await injectCases();
  for (const item of cases) await t.step(item.name, () => checkCase(item));
});

function checkCase(item: InjectCase): void {
  if (item.fails) return assert.ok(fails(item), "an input in error was accepted");
  const { made, answers } = reviewsOf(item);
  const expected = podsOf(item.expected);
  assert.equal(made.length, expected.length);
  for (const [at, answer] of answers.entries()) {
    assert.deepEqual(held(admitted(made[at]?.pod ?? null, answer)), held(expected[at]?.pod ?? null), answer.message);
  }
}

/** Whether the configuration or the manifest is unreadable, or a pod is denied. */
function fails(item: InjectCase): boolean {
  try {
    return reviewsOf(item).answers.some(({ result }) => result === "failed");
  } catch (error) {
    return error instanceof MeshError;
  }
}

function reviewsOf(item: InjectCase) {
  const injector = injectorOf(item, false);
  const made = podsOf(item.input);
  return { made, answers: made.map((each) => review(each, injector)) };
}
