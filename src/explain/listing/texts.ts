/** Formats values that several tables show. */
import type { PathMatch } from "../envoy/route_config.ts";

/** Returns a condition on the path as text: `/api*`, `PathPrefix:/api`, `/exact`, `regex ...`. */
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

/** Returns `NAME.NAMESPACE`, such as `reviews.shop` for `VirtualService shop/reviews`; empty for an empty text. */
export function managedBy(origin: string): string {
  const [, namespace, name] = /^\S+ ([^/]+)\/(.+)$/.exec(origin) ?? [];
  return name === undefined ? "" : `${name}.${namespace}`;
}
