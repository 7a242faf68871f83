/**
 * Returns the API path of all objects of a resource, of its objects in a namespace, or of one object. `group` is such as
 * `api/v1`, `resource` such as `pods`. A cluster-scoped object, such as a node, has no namespace.
 */
export function apiPath(group: string, resource: string, namespace?: string, name?: string): string {
  const folder = namespace === undefined ? "" : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/${group}/${folder}${resource}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}
