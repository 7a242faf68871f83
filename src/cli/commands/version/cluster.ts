import { apiPath } from "../../../kube/api_path.ts";
import { counted, visible } from "../../../base/text/mod.ts";
import { errorText, MeshError } from "../../../base/errors.ts";
import { connect, type ConnectOptions, isPod, type KubeApi, type Pod } from "../../../kube/client/mod.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { isMap, textAt } from "../../../base/value.ts";
import type { World } from "../../../platform/world.ts";
import type { ClusterVersions, Component } from "./version_schema.ts";

/** Label selectors of the pods: Istio's label, and the label from `webhook manifests`. */
const SELECTORS = { istiod: "app=istiod", webhook: "app.kubernetes.io/part-of=kubectl-mesh" } as const;

const UNKNOWN = { kubernetes: null, istiod: null, webhook: null } as const;

/**
 * Queries the versions in a cluster, by default of all namespaces. An unknown version is null, with the reason in
 * `problems`.
 */
export async function clusterVersions(
  world: World,
  { istioNamespace, ...connection }: ConnectOptions & { readonly istioNamespace?: string | undefined },
): Promise<ClusterVersions> {
  const problems: string[] = [];
  /** Returns the result of a query; `null` after a MeshError, which becomes a problem. */
  const attempt = async <T>(what: string, ask: () => Promise<T>): Promise<T | null> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      problems.push(`Cannot get ${what}: ${errorText(error)}`);
      return null;
    }
  };
  const api = await attempt("the versions in the cluster", () => connect(world, connection));
  if (api === null) return { server: null, ...UNKNOWN, problems };
  world.permissions.keepOnly(api.permissions);
  try {
    const kubernetes = await attempt("the versions in the cluster", async () => {
      const { value } = await api.raw("/version");
      return isMap(value) ? textAt(value, "gitVersion") : "";
    });
    // Reports only once that a server does not answer.
    if (kubernetes === null) return { server: api.server, ...UNKNOWN, problems };
    const [istiod, webhook] = await Promise.all([
      attempt("the version of istiod", () => components(api, SELECTORS.istiod, istioNamespace)),
      attempt("the version of the webhook", () => components(api, SELECTORS.webhook, istioNamespace)),
    ]);
    return { server: api.server, kubernetes, istiod, webhook, problems };
  } finally {
    api.close();
  }
}

async function components(api: KubeApi, labelSelector: string, namespace: string | undefined): Promise<Component[]> {
  const { items } = await api.list(apiPath("api/v1", "pods", namespace), { labelSelector });
  return componentsOf(items.filter(isPod));
}

/** Returns the versions of pods, sorted by namespace, revision and image. Ignores finished pods. */
export function componentsOf(pods: readonly Pod[]): Component[] {
  const found = new Map<string, Component>();
  for (const { metadata, spec, status } of pods) {
    if (status?.phase === "Succeeded" || status?.phase === "Failed") continue;
    const image = spec?.containers?.[0]?.image ?? "";
    const { namespace = "", labels = {} } = metadata;
    const revision = labels[LABEL.revision] || "default";
    const key = [namespace, revision, image].join(" ");
    const pods = (found.get(key)?.pods ?? 0) + 1;
    found.set(key, { namespace, revision, version: tagOf(image), image, pods });
  }
  return [...found].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, component]) => component);
}

/** Returns the tag of an image without Istio's variants, such as `1.31.0` for `istio/pilot:1.31.0-distroless`. */
function tagOf(image: string): string | null {
  const tag = /:([\w.-]+)$/.exec(image.replace(/@.*/, ""))?.[1];
  return tag?.replace(/-(distroless|debug)$/, "") ?? null;
}

/** Formats the versions in a cluster as lines. */
export function clusterText({ server, kubernetes, istiod, webhook }: ClusterVersions): string {
  if (server === null) return "";
  if (kubernetes === null) return `cluster ${visible(server)}: unknown\n`;
  const lines = [
    `cluster ${server}: Kubernetes ${kubernetes}`,
    ...linesOf("istiod", istiod),
    ...linesOf("webhook", webhook),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

function linesOf(name: string, components: readonly Component[] | null): string[] {
  if (components === null) return [`${name}: unknown`];
  if (components.length === 0) return [`${name}: no pods`];
  return components.map(({ version, image, namespace, revision, pods }) =>
    `${name} ${version ?? `of the image "${image}"`}: revision "${revision}", namespace ${namespace}, ` +
    counted(pods, "pod")
  );
}
