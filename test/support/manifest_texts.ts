/** Generates manifests in the styles of people and of generators, for every kind that contains a pod. */
import { KINDS, type WorkloadKind } from "../../src/inject/pod/kinds.ts";
import { fc } from "./properties.ts";

/** A manifest, and whether injection rewrites a part of it or only adds to it. */
export interface ManifestText {
  readonly kind: string;
  readonly text: string;
  readonly isRewritten: boolean;
}

/** Lines of a map, indented by `indent` spaces. */
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

const PROBE = maybe(
  "  readinessProbe:\n          httpGet: {path: /, port: 8080}\n",
  "  livenessProbe:\n          tcpSocket: # the port of the application\n            port: 8080\n          periodSeconds: 3\n",
  "  startupProbe:\n          initialDelaySeconds: 1\n          grpc: {port: 9000}\n",
);

/** Fields that generators and careless people write. */
const ODD = maybe(
  block(6, "creationTimestamp: null # by kubectl create --dry-run"),
  block(6, "finalizers: []"),
);

const SPEC_FIELD = maybe(block(2, "paused: false"), block(2, "minReadySeconds: 0 # at once", "unknownField: {}"));

const REST = maybe(
  block(6, "serviceAccountName: web", "securityContext:", "  fsGroup: 2000"),
  block(6, "imagePullSecrets: [{name: mine}]", "", "# after a blank line"),
  block(6, "dnsPolicy: ClusterFirst", "nodeSelector: {}"),
  block(6, "restartPolicy: Always", "securityContext: {}"),
);

const FRAMES = fc.record({ eol: fc.constantFrom("\n", "\r\n"), end: fc.boolean(), head: maybe("# a file\n", "---\n") });

/** The API version of a kind, in the project's documentation. */
function apiVersionOf({ kind, group }: WorkloadKind): string {
  if (group !== undefined) return `${group}/v1alpha1`;
  const byKind: Readonly<Record<string, string>> = {
    Pod: "v1",
    PodTemplate: "v1",
    ReplicationController: "v1",
    DeploymentConfig: "apps.openshift.io/v1",
    Job: "batch/v1",
    CronJob: "batch/v1",
  };
  return byKind[kind] ?? "apps/v1";
}

interface Parts {
  readonly field: string;
  /** Text below `metadata`, indented for a pod in `spec.template`. */
  readonly metadata: string;
  readonly spec: string;
}

/** Returns the manifest of a kind with the parts of its pod. */
function manifestOf(row: WorkloadKind, { field, metadata, spec }: Parts): string {
  const { path } = row;
  const inPlace = (lines: string) => lines.replace(/^ {4}/gm, "  ".repeat(path.length));
  const head = `apiVersion: ${apiVersionOf(row)}\nkind: ${row.kind}\nmetadata:\n  name: web\n`;
  if (path.length === 0) return `${head}${inPlace(metadata)}spec:\n${inPlace(spec)}`;
  const [outer = "", ...inner] = path.map((key, depth) => `${"  ".repeat(depth)}${key}:\n`);
  const own = inner.length === 0 ? "" : field;
  const podMetadata = metadata === "" ? "" : block(4, "metadata:") + metadata;
  return `${head}${outer}${own}${inner.join("")}${inPlace(`${podMetadata}    spec:\n${spec}`)}`;
}

/** Manifests of every kind, with parts in the styles of people and of generators. */
export const MANIFEST_TEXTS: fc.Arbitrary<ManifestText> = fc.record({
  row: fc.constantFrom(...KINDS),
  field: SPEC_FIELD,
  labels: LABELS,
  annotations: fc.oneof(ANNOTATIONS, PROMETHEUS),
  odd: ODD,
  inits: INITS,
  container: CONTAINER,
  probe: PROBE,
  indent: fc.constantFrom(6, 8),
  volumes: VOLUMES,
  rest: REST,
  order: fc.boolean(),
  frame: FRAMES,
}).map(({ row, field, labels, annotations, odd, inits, container, probe, indent, volumes, rest, order, frame }) => {
  const isFlow = container.some((line) => line.startsWith("- {"));
  const last = isFlow ? "" : probe.replace(/^/gm, " ".repeat(indent)).replace(/ +$/, "");
  const containers = block(6, "containers:") + block(indent, ...container) + (probe === "" ? "" : last);
  const metadata = labels + annotations + (labels === "" ? "" : odd);
  const spec = order ? inits + containers + volumes + rest : rest + volumes + containers + inits;
  const text = frame.head + manifestOf(row, { field, metadata, spec });
  const lines = text.replaceAll("\n", frame.eol);
  return {
    kind: row.kind,
    text: frame.end ? lines : lines.trimEnd(),
    isRewritten: annotations.includes("prometheus.io"),
  };
});
