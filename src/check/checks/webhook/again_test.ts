import assert from "node:assert/strict";
import { meshObjects } from "../../../../test/support/kube/mesh_webhooks.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import { clusterInventory, object } from "../../../../test/support/kube/cluster.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import type { Scope } from "../../inventory/mod.ts";

const FLAGS = ["--image=example.com/mesh:1", "--namespace-selector=team in (a,b)"];
const PRINT = "kubectl mesh webhook manifests --image=example.com/mesh:1 '--namespace-selector=team in (a,b)'";

function parts(flags: readonly string[], ...kinds: readonly string[]): readonly KubeObject[] {
  return meshObjects({ flags }).filter(({ kind }) => kinds.includes(kind));
}

function istiod(annotations: Record<string, string>, name = "istiod"): KubeObject {
  return object("apps/v1", "Deployment", `istio-system/${name}`, {
    metadata: { labels: { "istio.io/rev": "default" }, annotations },
  });
}

const HELM = { "meta.helm.sh/release-name": "istiod", "meta.helm.sh/release-namespace": "istio-system" };

async function shown(
  id: string,
  objects: readonly KubeObject[],
  scope: Partial<Scope> = {},
): Promise<readonly string[]> {
  const text = await shownText(await findingFor(id, clusterInventory({ objects }, scope)));
  return text.split("\n").filter((line) =>
    /^kubectl mesh webhook manifests --image|^helm|^(fix|or): (install|recreate|restore) .*/.test(line)
  );
}

type Row = readonly [what: string, id: string, objects: readonly KubeObject[], shown: readonly string[]];

const INSTALL = (word = "fix") => `${word}: install the control plane again`;
const BY_FLAGS = "fix: recreate the object with the flags of its installation:";

const ROWS: readonly Row[] = [
  ["the webhook, by the Deployment", "webhook-exists", parts(FLAGS, "Deployment"), [
    BY_FLAGS,
    `${PRINT} --only MutatingWebhookConfiguration | kubectl apply -f -`,
    INSTALL("or"),
  ]],
  ["the Service, by the webhook", "webhook-service", parts(FLAGS, "MutatingWebhookConfiguration"), [
    BY_FLAGS,
    `${PRINT} --only Service | kubectl apply -f -`,
    INSTALL("or"),
  ]],
  ["the ConfigMap, by the webhook", "injector-config-present", parts(FLAGS, "MutatingWebhookConfiguration"), [
    BY_FLAGS,
    `${PRINT} --only ConfigMap | kubectl apply -f -`,
    INSTALL("or"),
  ]],
  ["the ConfigMap, where values come from a file", "injector-config-present", [
    ...parts(["--image=example.com/mesh:1", "--values=prod.yaml"], "Deployment", "MutatingWebhookConfiguration"),
  ], [
    "fix: recreate the object with the flags of its installation, in the folder of prod.yaml:",
    "kubectl mesh webhook manifests --image=example.com/mesh:1 --values=prod.yaml --only ConfigMap | kubectl apply -f -",
    INSTALL("or"),
  ]],
  [
    "no ConfigMap of a webhook that reads Istio's",
    "injector-config-present",
    parts(["--from-cluster"], "MutatingWebhookConfiguration"),
    [INSTALL()],
  ],
  ["Istio's ConfigMap, by its release", "injector-config-present", [
    ...parts(["--from-cluster"], "MutatingWebhookConfiguration"),
    istiod(HELM),
  ], [
    'fix: recreate the object from the Helm release "istiod", which undoes manual changes of its objects:',
    "helm get manifest istiod -n istio-system | kubectl apply -f -",
    INSTALL("or"),
  ]],
  ["the webhook of a release", "webhook-exists", [istiod(HELM)], [
    'fix: recreate the object from the Helm release "istiod":',
    "helm get manifest istiod -n istio-system | kubectl apply -l app=sidecar-injector -f -",
    INSTALL("or"),
  ]],
  ["flags that nobody wrote", "webhook-exists", parts(["apply", "-f"], "Deployment"), [INSTALL()]],
  ["what istioctl installs", "webhook-exists", [istiod({})], [INSTALL()]],
  ["another Deployment of a release", "webhook-exists", [istiod(HELM, "gateway")], [INSTALL()]],
];

for (const [what, id, objects, lines] of ROWS) {
  Deno.test(`restored objects: ${what}`, async () => assert.deepEqual(await shown(id, objects), lines));
}

Deno.test("restored objects: the flags of another revision are not used", async () => {
  assert.deepEqual(await shown("webhook-exists", parts(FLAGS, "Deployment"), { revision: "canary" }), [INSTALL()]);
});

const NOBODY = { matchLabels: { nobody: "yes" } };

/** Returns the configuration with another namespaceSelector in its webhooks. */
function selecting(namespaceSelector: object): readonly KubeObject[] {
  return parts(FLAGS, "MutatingWebhookConfiguration").map((each) => ({
    ...each,
    webhooks: Object(each["webhooks"]).map((webhook: object) => ({ ...webhook, namespaceSelector })),
  }));
}

const SHOP = object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled", team: "a" } } });

const POD = object("v1", "Pod", "shop/cart", { spec: { containers: [{ name: "istio-proxy" }] } });

Deno.test("restored objects: selectors that match no namespace are replaced by server-side apply", async () => {
  const given = [...selecting(NOBODY), SHOP, POD];
  assert.deepEqual(await shown("namespace-revision-served", given), [
    "fix: restore the selectors of the webhooks with the flags of its installation:",
    `${PRINT} --only MutatingWebhookConfiguration | kubectl apply --server-side --force-conflicts -f -`,
    "or: install the control plane again, so that its webhooks select the namespace",
  ]);
});

Deno.test("restored objects: replacing selectors that match another namespace is a risk", async () => {
  const given = [
    ...selecting({ matchLabels: { team: "a" } }),
    SHOP,
    object("v1", "Namespace", "cart", {
      metadata: { labels: { "istio-injection": "enabled" } },
    }),
  ];
  const { fixes = [] } = await findingFor("namespace-revision-served", clusterInventory({ objects: given }));
  const again = fixes.flatMap(({ alternatives }) => alternatives).filter(({ change }) =>
    change.startsWith("restore the selectors of the webhooks")
  );
  assert.deepEqual([...new Set(again.map(({ risk }) => risk))], ["takes-out"]);
});
