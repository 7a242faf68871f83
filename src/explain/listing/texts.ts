/** Texts that several tables share. */
import type { PathMatch } from "../envoy/route_config.ts";

/** The condition on the path: `/api*`, `PathPrefix:/api`, `/exact`, `regex ...`. */
export function pathText(path: PathMatch): string {
  switch (path.kind) {
    case "prefix":
      return `${path.text}*`;
    case "separated-prefix":
      return `PathPrefix:${path.text}`;
    case "exact":
      return path.text;
    case "regex":
      return `regex ${path.text}`;
    default:
      return "";
  }
}

/** `reviews.shop` for the resource `VirtualService shop/reviews`; empty for none. */
export function managedBy(origin: string): string {
  const [, namespace, name] = /^\S+ ([^/]+)\/(.+)$/.exec(origin) ?? [];
  return name === undefined ? "" : `${name}.${namespace}`;
}
