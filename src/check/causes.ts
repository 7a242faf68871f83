/** Finds failures that are caused by other failures. */
import { namedIn } from "./checks/findings.ts";
import type { CheckResult } from "./result_schema.ts";

/** Maps the id of a check to the ids of checks that fail because this check fails. */
const EXPLAINS: Readonly<Record<string, readonly string[]>> = {
  "api-mutating-admission": ["webhook-reachable", "workload-proxy-missing"],
  "api-aggregator-routing": ["webhook-reachable"],
  "injector-config-present": ["webhook-endpoints", "webhook-reachable"],
  "injector-config-valid": ["webhook-endpoints", "webhook-reachable"],
  "injector-templates-compile": ["webhook-endpoints", "webhook-reachable"],
  "mesh-config-valid": ["webhook-endpoints", "webhook-reachable"],
  "injector-policy-enabled": ["workload-proxy-unexpected"],
  "webhook-exists": [
    "injector-config-present",
    "namespace-revision-served",
    "namespace-labelled",
    "workload-proxy-unexpected",
  ],
  "clock-skew": ["webhook-certificate", "webhook-reachable"],
  "webhook-service": ["webhook-reachable", "webhook-validation", "workload-proxy-missing", "workload-pods-created"],
  "webhook-endpoints": ["webhook-reachable", "webhook-validation", "workload-proxy-missing", "workload-pods-created"],
  "webhook-ca-bundle": ["webhook-certificate", "webhook-reachable", "workload-pods-created"],
  "webhook-certificate": ["webhook-reachable", "workload-pods-created"],
  "webhook-reachable": ["workload-proxy-missing", "workload-pods-created"],
  "namespace-label-values": ["namespace-labelled", "namespace-revision-served", "workload-proxy-unexpected"],
  "namespace-revision-served": ["namespace-labelled", "workload-proxy-unexpected"],
  "namespace-labelled": ["workload-proxy-unexpected"],
  "namespace-discovered": ["namespace-root-cert"],
  "namespace-root-cert": ["proxy-ready"],
  "namespace-pull-secrets": ["proxy-image"],
  "pod-security": ["pod-admission", "workload-pods-created"],
  "resource-quota": ["pod-admission", "workload-pods-created"],
  "limit-range": ["pod-admission", "workload-pods-created"],
  "scc-ranges": ["pod-admission", "workload-pods-created"],
  "native-sidecars": ["proxy-ready"],
  "proxy-scheduled": ["proxy-ready"],
  "proxy-image": ["proxy-ready"],
  "proxy-init": ["proxy-ready"],
  "proxy-memory": ["proxy-restarts", "proxy-ready"],
  "cni-plugin": ["proxy-init"],
  "proxy-synchronised": ["proxy-ready"],
};

/**
 * Adds to each failure the failure that causes it. Within each category, root failures come first: failures that cause
 * others, and errors without a known cause. Categories with a root failure come before other categories. Otherwise
 * keeps the order.
 */
export function causesFirst(results: readonly CheckResult[]): readonly CheckResult[] {
  const failing = results.filter(({ result }) => result === "error" || result === "warning");
  const all = results.map((each) => {
    const cause = failing.includes(each) ? failing.find((other) => explains(other, each)) : undefined;
    return cause === undefined ? each : { ...each, becauseOf: cause.id };
  });
  const causes = new Set(all.map(({ becauseOf }) => becauseOf));
  const isFirst = ({ id, result, becauseOf }: CheckResult) =>
    becauseOf === "" && (causes.has(id) || result === "error");
  const first = new Set(all.filter(isFirst).map(({ category }) => category));
  const rank = (each: CheckResult) => (first.has(each.category) ? 0 : 2) + (isFirst(each) ? 0 : 1);
  const categories = [...first, ...new Set(all.map(({ category }) => category))];
  const place = ({ category }: CheckResult) => categories.indexOf(category);
  return all.toSorted((a, b) => place(a) - place(b) || rank(a) - rank(b));
}

function explains(cause: CheckResult, other: CheckResult): boolean {
  if (EXPLAINS[cause.id]?.includes(other.id) !== true) return false;
  const covers = COVERS[cause.category];
  return covers === undefined || other.objects.every((each) => cause.objects.some((own) => covers(own, each)));
}

/** Whether a failure of one object can explain a failure of another, by the category of the cause. */
const COVERS: Readonly<Record<string, (cause: string, object: string) => boolean>> = {
  "namespaces": (cause, object) => namespaceOf(cause) === namespaceOf(object),
  "security": (cause, object) => namedIn(cause).kind === "node" || namespaceOf(cause) === namespaceOf(object),
  "data-plane": (cause, object) => cause === object,
};

function namespaceOf(object: string): string {
  const { kind, namespace, name } = namedIn(object);
  return kind === "namespace" ? name : namespace;
}
