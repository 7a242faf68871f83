/** Our own cases for releases with `templates`: the same manifests and settings as for the latest release. */
import { isMap, newMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/default/mod.ts";
import { parseYaml } from "../../../src/yaml/mod.ts";
import { ANNOTATIONS } from "../inject/own/annotations.ts";
import { APP, type Data, type OwnCase, type Parts, pod } from "../inject/own/case.ts";
import { SETTINGS } from "../inject/own/settings.ts";
import { WORKLOADS } from "../inject/own/workloads.ts";
import type { Question } from "../inject/question.ts";
import { laterConfig, type MoreConfig } from "./later_configs.ts";

/** The releases that answer the questions. */
export type Later = "1.12" | "1.16" | "1.22" | "1.26";

export const LATER: readonly Later[] = ["1.12", "1.16", "1.22", "1.26"];

/** A question to a release. */
export interface LaterCase extends Question {
  readonly release: Later;
  /** Whether the manifest is a pod as JSON, for the webhook. */
  readonly review: boolean;
}

/** The first of these releases that supports native sidecars. */
const NATIVE = "1.22";

/** The cases for the latest release, except those with their own templates. */
const BOTH = [...WORKLOADS, ...ANNOTATIONS, ...SETTINGS].filter(({ templates, config, values }) =>
  templates === undefined && config === undefined && typeof values !== "string"
);

/** A pod that is sent to the webhook. */
type Review = Pick<OwnCase, "name" | "values" | "mesh"> & { readonly pod: Data; readonly more?: MoreConfig };

function review(name: string, parts: Parts, given: Partial<Review> & { readonly metadata?: Data } = {}): Review {
  const { metadata = {}, ...more } = given;
  return { name: `a review, ${name}`, pod: pod(parts, { namespace: "trade", ...metadata }), ...more };
}

function controlled(name: string, controller: Data, labels: Data = {}): Review {
  const ownerReferences = [{ uid: "u", controller: true, ...controller }];
  const metadata = { name: "", generateName: "shop-", ownerReferences };
  return review(name, {}, { metadata: { ...metadata, labels: { app: "shop", ...labels } } });
}

const STATUS = '{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["istio-envoy"]}';
const REPLICAS = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "shop-59fd8c4b7" };
const SECOND =
  "metadata:\n  labels: {second: yes-it-is}\nspec:\n  containers:\n  - {name: second, image: example.com/second:1}\n";

const REVIEWS: readonly Review[] = [
  review("a pod alone", {}),
  controlled("a Deployment's pod", REPLICAS, { "pod-template-hash": "59fd8c4b7" }),
  controlled("a Rollout's pod", REPLICAS, { "rollouts-pod-template-hash": "59fd8c4b7" }),
  controlled("a CronJob's pod", { apiVersion: "batch/v1", kind: "Job", name: "nightly-1606300000" }),
  controlled("a Job's pod", { apiVersion: "batch/v1", kind: "Job", name: "nightly" }),
  review("without labels", { labels: {} }),
  review("a pod that is injected already", {
    annotations: { "sidecar.istio.io/status": STATUS, "prometheus.io/port": "15020", "prometheus.io/scrape": "true" },
    containers: [APP, { name: "istio-proxy", image: "old" }],
    spec: {
      initContainers: [{ name: "istio-init", image: "old" }],
      volumes: [{ name: "istio-envoy", emptyDir: {} }, { name: "data", emptyDir: {} }],
    },
  }),
  review("the user's proxy", {
    containers: [{
      name: "istio-proxy",
      image: "auto",
      resources: { requests: { cpu: "3m" } },
      env: [{ name: "MINE", value: "1" }],
      securityContext: { runAsUser: 2001 },
    }, APP],
  }),
  review("probes and metrics", {
    annotations: { "prometheus.io/port": "9000", "prometheus.io/path": "/m" },
    containers: [{
      ...APP,
      readinessProbe: { httpGet: { path: "/", port: "web" } },
      livenessProbe: { tcpSocket: { port: 7 } },
    }],
  }),
  review("a proxy's settings", { annotations: { "proxy.istio.io/config": "{statusPort: 15999, concurrency: 3}" } }),
  review("a network", { labels: { app: "shop", "topology.istio.io/network": "east" } }),
  review("hold", {}, { values: { global: { proxy: { holdApplicationUntilProxyStarts: true } } } }),
  review("two templates", {}, { more: { defaultTemplates: ["sidecar", "second"], templates: { second: SECOND } } }),
  review("a template by annotation", { annotations: { "inject.istio.io/templates": "second" } }, {
    more: { templates: { second: SECOND } },
  }),
  review("a template that is not there", { annotations: { "inject.istio.io/templates": "third" } }),
  review("annotations of the injector", {}, { more: { injectedAnnotations: { "example.com/injected": "yes" } } }),
];

/**
 * Returns the cases for a release. Cases with native sidecars from an earlier injection are only for releases that
 * support these.
 */
function askedOf(release: Later): readonly OwnCase[] {
  return release >= NATIVE ? BOTH : BOTH.filter(({ name }) => name !== "injected twice");
}

export const LATER_CASES: readonly LaterCase[] = LATER.flatMap((release) => [
  ...askedOf(release).map((one) => asked(one, release)),
  ...REVIEWS.map(({ pod, more, ...one }) => ({
    ...asked({ ...one, like: [], native: false, manifest: JSON.stringify(pod) }, release, more),
    review: true,
  })),
]);

function asked(
  { name, manifest, values, mesh = "", native = true }: OwnCase,
  release: Later,
  more: MoreConfig = {},
): LaterCase {
  const config = laterConfig(release, more);
  // The tag identifies the release.
  const global = { hub: "example.com", tag: `${release}.1` };
  const base = overlaid(parseYaml(BUILT_IN.values), typeof values === "string" ? {} : values ?? {});
  return {
    name: `${name}, ${release}`,
    release,
    settings: { config, values: JSON.stringify(overlaid(base, { global })), mesh },
    manifest,
    native: native && release >= NATIVE,
    review: false,
    revision: "default",
  };
}

function overlaid(below: Value, above: Value): Value {
  if (!isMap(below) || !isMap(above)) return above;
  const result: ValueMap = Object.assign(newMap(), below);
  for (const [key, value] of Object.entries(above)) result[key] = overlaid(below[key] ?? null, value);
  return result;
}
