/** Explains why a manifest is not injected if its kind is not a workload kind. */
import { closest } from "../../base/text/mod.ts";
import { isList, isMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { BUILT_IN_KINDS, groupOf, ROOT } from "./kinds.ts";

/** The reason why a manifest is not injected, with warnings. */
export interface NotInjected {
  readonly reason: "no-kind" | "not-a-workload" | "kind-misspelled" | "kind-refused" | "template-unknown-kind";
  readonly message: string;
  readonly warnings: readonly string[];
}

/** Returns why a manifest is not injected. Call only for kinds without a row in KINDS. */
export function notInjected(value: Value): NotInjected {
  const manifest = isMap(value) ? value : {};
  const kind = textAt(manifest, "kind");
  if (kind === "") return plain("no-kind", "the document has no kind");
  const refused = REFUSED.find((row) => row.group === groupOf(manifest) && row.kinds.includes(kind));
  if (refused !== undefined) return plain("kind-refused", `a ${kind} is not injected: ${refused.why}`);
  if (kind === SNAPSHOT.kind && groupOf(manifest) === SNAPSHOT.group) {
    return { ...plain("not-a-workload", SNAPSHOT.message), warnings: [SNAPSHOT.warning] };
  }
  const meant = meantKind(kind, manifest);
  if (meant !== undefined) {
    return plain("kind-misspelled", `the kind "${kind}" is unknown: did you mean "${meant}"?`);
  }
  const paths = templatesIn(manifest);
  if (paths.length === 0) return plain("not-a-workload", `a ${kind} has no pod`);
  return {
    reason: "template-unknown-kind",
    message: `the kind "${kind}" is unknown, but it has a pod template`,
    warnings: paths.map((path) => hint(kind, path)),
  };
}

function plain(reason: NotInjected["reason"], message: string): NotInjected {
  return { reason, message, warnings: [] };
}

/** The file of `config snapshot`. A functionConfig, which kustomize passes to the function as an item, gets no warning. */
const SNAPSHOT = {
  group: "kubectl-mesh",
  kind: "InjectionSnapshot",
  message: 'it is a snapshot of "config snapshot"',
  warning: "No cluster knows this kind, so the output cannot be applied: keep the snapshot outside of the manifests",
};

interface Refused {
  readonly group: string;
  readonly kinds: readonly string[];
  readonly why: string;
}

const REFUSED: readonly Refused[] = [
  {
    group: "tekton.dev",
    kinds: ["Task", "TaskRun", "ClusterTask", "Pipeline", "PipelineRun"],
    why: "Tekton creates its pods from steps, so only the webhook can inject these pods; " +
      'set the label "sidecar.istio.io/inject" and use native sidecars',
  },
];

/** API groups of Kubernetes' own workload kinds. */
const BUILT_IN_GROUPS = ["", "apps", "batch"];

/** Returns the kind that was probably meant: it differs in case, is in the plural, or has a typo. */
function meantKind(kind: string, manifest: ValueMap): string | undefined {
  const group = groupOf(manifest);
  if (!BUILT_IN_GROUPS.includes(group)) return undefined;
  const same = SPELLINGS.get(kind.toLowerCase());
  if (same !== undefined || group === "") return same;
  return closest(kind, BUILT_IN_KINDS);
}

/** Kubernetes' own kinds, by their lower-case singular and plural. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  BUILT_IN_KINDS.flatMap((kind) => [kind, `${kind}s`].map((word) => [word.toLowerCase(), kind])),
);

type Path = readonly (string | number)[];

function hint(kind: string, path: Path): string {
  if (path.some((key) => typeof key === "number" || /[.=]/.test(key))) {
    return `It has a pod template at "${pathText(path)}", which is not injected`;
  }
  return `It has a pod template at "${pathText(path)}", which is not injected; ` +
    `--template-path ${kind}=${pathText(path)} injects it`;
}

function pathText(path: Path): string {
  if (path.length === 0) return ROOT;
  return path.map((key, index) => typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`).join("");
}

/** Maximum nesting depth at which pod templates are searched. */
const MAX_DEPTH = 12;

/**
 * Finds the paths of all pod templates, which are objects whose `spec` has containers with images. Does not search
 * inside a pod template.
 */
function templatesIn(value: Value, path: Path = []): readonly Path[] {
  if (path.length > MAX_DEPTH) return [];
  if (typeof value !== "object" || value === null) return [];
  if (isMap(value) && isTemplate(value)) return [path];
  const found: Path[] = [];
  for (const [key, item] of isList(value) ? value.entries() : Object.entries(value)) {
    if (typeof item === "object") found.push(...templatesIn(item, [...path, key]));
  }
  return found;
}

function isTemplate({ spec }: ValueMap): boolean {
  const containers = spec !== undefined && isMap(spec) ? spec["containers"] : undefined;
  return isList(containers) && containers.some((item) => isMap(item) && typeof item["image"] === "string");
}
