/** Builds the image names of the proxy and of istio-init: `hub/name:tag[-type]`. */
import { sprint } from "../../golang/gotemplate/mod.ts";
import { mapAt, textAt, valueAt, type ValueMap } from "../../base/value.ts";

export interface ImageSettings {
  readonly values: ValueMap;
  readonly proxyConfig: ValueMap;
  readonly annotatedType: string | undefined;
}

/** Returns `.ProxyImage`. The image type is from the annotation, ProxyConfig.image or `values.global.variant`, in this order. */
export function proxyImage(settings: ImageSettings): string {
  return imageReference(settings, "proxy", textAt(mapAt(settings.proxyConfig, "image"), "imageType"));
}

/** Returns `.ProxyInitImage`, which ignores ProxyConfig.image. */
export function proxyInitImage(settings: ImageSettings): string {
  return imageReference(settings, "proxy_init", "");
}

function imageReference(settings: ImageSettings, section: string, configuredType: string): string {
  const { values, annotatedType } = settings;
  const global = mapAt(values, "global");
  const type = annotatedType ?? (configuredType || textAt(global, "variant"));
  const name = textAt(mapAt(global, section), "image") || "proxyv2";
  return `${textAt(global, "hub")}/${name}:${typedTag(tagOf(values), type)}`;
}

/** The tag in the values, which YAML may parse as a number. */
function tagOf(values: ValueMap): string {
  const tag = valueAt(values, "global", "tag");
  return tag === undefined ? "" : sprint(tag);
}

/** Replaces the image type at the end of a tag. The type `default` removes it. */
function typedTag(tag: string, type: string): string {
  if (type === "") return tag;
  const bare = tag.replace(/-(distroless|debug)$/, "");
  return type === "default" ? bare : `${bare}-${type}`;
}
