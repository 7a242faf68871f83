/**
 * Formats the name of an object as kubectl does: `deployment.apps/web`, or `pod/web` for the core group (`v1`). A
 * missing kind gives the name alone.
 */
export function resourceName(apiVersion: string, kind: string, name: string): string {
  if (kind === "") return name;
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : `.${apiVersion.slice(0, slash)}`;
  return `${kind.toLowerCase()}${group}/${name}`;
}
