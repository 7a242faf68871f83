/** The images of the proxy and of the init container: `hub/name:tag[-type]`. */
import { sprint } from "../../golang/gotemplate/mod.ts";
import { mapAt, textAt, valueAt, type ValueMap } from "../../base/value.ts";

/** The inputs of images. */
export interface ImageSettings {
  readonly values: ValueMap;
  /** The data of the effective ProxyConfig. */
  readonly proxyConfig: ValueMap;
  /** The annotation `sidecar.istio.io/proxyImageType`. */
  readonly annotatedType: string | undefined;
}

/** `.ProxyImage`. Its type comes from the annotation, else ProxyConfig.image, else `values.global.variant`. */
export function proxyImage(settings: ImageSettings): string {
  return imageReference(settings, "proxy", textAt(mapAt(settings.proxyConfig, "image"), "imageType"));
}

/** `.ProxyInitImage`: ProxyConfig.image does not apply to it. */
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

/** A tag may be a number. */
function tagOf(values: ValueMap): string {
  const tag = valueAt(values, "global", "tag");
  return tag === undefined ? "" : sprint(tag);
}

/** A type replaces the one in the tag; `default` removes it. */
function typedTag(tag: string, type: string): string {
  if (type === "") return tag;
  const bare = tag.replace(/-(distroless|debug)$/, "");
  return type === "default" ? bare : `${bare}-${type}`;
}
