/**
 * Returns the API path of a resource such as `api/v1` and `pods`: of its objects in the whole cluster, of those in a
 * namespace, or of one object. An object of the cluster, such as a node, has no namespace.
 */
export function apiPath(group: string, resource: string, namespace?: string, name?: string): string {
  const folder = namespace === undefined ? "" : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/${group}/${folder}${resource}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}
