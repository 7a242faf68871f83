/** Who wrote an object last, as the API server records it (Kubernetes, "Server-Side Apply", managed fields). */
import { MeshError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { isMap, mapsAt, textAt } from "../../base/value.ts";

/** Another program writes what this one writes. */
export class ContestedError extends MeshError {}

/** The manager of the latest entry; `undefined` where the server records none. */
export function lastWriter({ metadata }: Pick<KubeObject, "metadata">): string | undefined {
  const entries = mapsAt(metadata, "managedFields").filter(isMap);
  const [latest] = entries.toSorted((a, b) => textAt(a, "time") < textAt(b, "time") ? 1 : -1);
  const manager = latest === undefined ? "" : textAt(latest, "manager");
  return manager === "" ? undefined : manager;
}

/** The end of a sentence about a change. */
export function byWhom(writer: string | undefined): string {
  return writer === undefined ? "" : `: "${writer}" wrote it last`;
}
