/** The template function that computes a workload's OpenTelemetry resource attributes. */
import { type FuncMap, GoStruct, type GoValue, isGoMap, isList, pure } from "../../../golang/gotemplate/mod.ts";

export const otelFunctions: FuncMap = {
  otelResourceAttributes: pure(new Array(5).fill("interface {}"), otelResourceAttributes),
};

/**
 * Returns `service.namespace=...,service.version=...,service.instance.id=...` if a provider in the mesh configuration enables
 * enrichment; otherwise `""`. The arguments are mesh, annotations, labels, namespace and containers, as in Istio.
 */
function otelResourceAttributes(...args: GoValue[]): string {
  const [mesh = null, annotations = null, labels = null, namespace = null, containers = null] = args;
  if (!wantsEnrichment(mesh)) return "";
  const apps = isList(containers) ? containers.filter((item) => item instanceof GoStruct) : [];
  const attributes = [
    ["service.namespace", chosen(annotations, "service.namespace") || text(namespace)],
    ["service.version", chosen(annotations, "service.version") || version(labels, apps)],
    ["service.instance.id", chosen(annotations, "service.instance.id") || instance(namespace, apps)],
  ];
  return attributes.filter(([, value]) => value !== "").map(([key, value]) => `${key}=${value}`).join(",");
}

function wantsEnrichment(mesh: GoValue): boolean {
  const providers = mesh instanceof GoStruct ? mesh.get("ExtensionProviders") : undefined;
  if (!isList(providers)) return false;
  return providers.some((provider) => enrichmentOf(provider) === "OTEL_SEMANTIC_CONVENTIONS");
}

function enrichmentOf(provider: GoValue): string {
  const otel = provider instanceof GoStruct ? provider.get("GetOpentelemetry") : undefined;
  if (!(otel instanceof GoStruct) || otel.isNil) return "";
  const enrichment = otel.get("GetServiceAttributeEnrichment");
  return enrichment instanceof GoStruct ? enrichment.text() ?? "" : text(enrichment ?? null);
}

function text(value: GoValue): string {
  return typeof value === "string" ? value : "";
}

/** The value of the user's annotation `resource.opentelemetry.io/ATTRIBUTE`. */
function chosen(annotations: GoValue, attribute: string): string {
  return isGoMap(annotations) ? text(annotations[`resource.opentelemetry.io/${attribute}`] ?? null) : "";
}

function version(labels: GoValue, apps: readonly GoStruct[]): string {
  const label = isGoMap(labels) ? text(labels["app.kubernetes.io/version"] ?? null) : "";
  const [only, ...others] = apps;
  if (label !== "" || only === undefined || others.length > 0) return label;
  return imageVersion(text(only.get("Image") ?? null));
}

/** Extracts `tag`, `digest` or `tag@digest` from an image reference. */
function imageVersion(image: string): string {
  const [name = "", digest] = image.split("@", 2);
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? "";
  return [tag, digest ?? ""].filter((part) => part !== "").join("@");
}

function instance(namespace: GoValue, apps: readonly GoStruct[]): string {
  const first = apps[0];
  if (first === undefined) return "";
  return `${text(namespace)}.$(POD_NAME).${text(first.get("Name") ?? null)}`;
}
