/** Manifests in the many ways in which people write them. */
import { fc } from "./properties.ts";

/** A manifest, and whether injection rewrites a part of it rather than adding to it. */
export interface ManifestText {
  readonly text: string;
  readonly isRewritten: boolean;
}

/** A block of a map: `lines` are indented by `indent` spaces. */
function block(indent: number, ...lines: readonly string[]): string {
  return lines.map((line) => `${" ".repeat(indent)}${line}\n`).join("");
}

const maybe = (...texts: readonly string[]) => fc.constantFrom("", ...texts);

const LABELS = fc.constantFrom(
  block(6, "labels:", "  app: web"),
  block(6, "labels: {app: web, version: v1}"),
  block(6, "labels:", '  "app": "web"', "  # the tier", "  tier: front"),
  block(6, "labels:", "  zone: a", "  app.kubernetes.io/name: shop # as Helm names it"),
  "",
);

const ANNOTATIONS = maybe(
  block(6, "annotations:", '  checksum/config: "0123"'),
  block(6, "annotations: {zz: last, aa: first}"),
  block(6, "annotations:", "  # for people", "  note: |", "    two", "    lines"),
  block(6, "annotations:", "  kubectl.kubernetes.io/default-container: web", "  owner: me"),
);

const PROMETHEUS = maybe(
  block(6, "annotations:", '  prometheus.io/scrape: "true"', '  prometheus.io/port: "9102"'),
);

const INITS = maybe(
  block(6, "initContainers:", "- name: migrate", "  image: busybox:1", '  command: ["sh", "-c", "true"]'),
  block(6, "initContainers:", "  - {name: migrate, image: busybox}"),
);

const VOLUMES = maybe(
  block(6, "volumes:", "- name: data", "  emptyDir: {}", "# the end of the volumes"),
  block(6, "volumes: [{name: data, emptyDir: {}}]"),
);

const CONTAINER = fc.constantFrom<string[][]>(
  ["- name: web", "  image: nginx"],
  ["- image: nginx # pinned elsewhere", "  name: web", "  ports:", "  - containerPort: 80"],
  ["- {name: web, image: nginx, args: [a, 'b']}"],
  ["- name: web", "  image: nginx", "- name: side", "  image: |-", "    busybox"],
);

const PROBE = maybe("  readinessProbe:\n          httpGet: {path: /, port: 8080}\n");

const REST = maybe(
  block(6, "serviceAccountName: web", "securityContext:", "  fsGroup: 2000"),
  block(6, "imagePullSecrets: [{name: mine}]", "", "# after a blank line"),
  block(6, "dnsPolicy: ClusterFirst", "nodeSelector: {}"),
);

const FRAMES = fc.record({ eol: fc.constantFrom("\n", "\r\n"), end: fc.boolean(), head: maybe("# a file\n", "---\n") });

/** Deployments with parts in the styles of people and of generators. */
export const MANIFEST_TEXTS: fc.Arbitrary<ManifestText> = fc.record({
  labels: LABELS,
  annotations: fc.oneof(ANNOTATIONS, PROMETHEUS),
  inits: INITS,
  container: CONTAINER,
  probe: PROBE,
  indent: fc.constantFrom(6, 8),
  volumes: VOLUMES,
  rest: REST,
  order: fc.boolean(),
  frame: FRAMES,
}).map(({ labels, annotations, inits, container, probe, indent, volumes, rest, order, frame }) => {
  const isFlow = container.some((line) => line.startsWith("- {"));
  const last = isFlow ? "" : probe.replace(/^/gm, " ".repeat(indent)).replace(/ +$/, "");
  const containers = block(6, "containers:") + block(indent, ...container) + (probe === "" ? "" : last);
  const metadata = labels + annotations === "" ? "" : block(4, "metadata:") + labels + annotations;
  const spec = order ? inits + containers + volumes + rest : rest + volumes + containers + inits;
  const text = `${frame.head}apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
${metadata}    spec:
${spec}`;
  const lines = text.replaceAll("\n", frame.eol);
  return {
    text: frame.end ? lines : lines.trimEnd(),
    isRewritten: (probe !== "" && !isFlow) || annotations.includes("prometheus.io"),
  };
});
