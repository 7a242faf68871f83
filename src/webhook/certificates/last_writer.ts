/** Finds the last writer of an object in its managed fields (Kubernetes, "Server-Side Apply"). */
import { MeshError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { isMap, mapsAt, textAt } from "../../base/value.ts";

/** Thrown when another program keeps overwriting this program's changes. */
export class ContestedError extends MeshError {}

/** Returns the manager of the latest managed-fields entry; `undefined` if no entry exists. */
export function lastWriter({ metadata }: Pick<KubeObject, "metadata">): string | undefined {
  const entries = mapsAt(metadata, "managedFields").filter(isMap);
  const [latest] = entries.toSorted((a, b) => textAt(a, "time") < textAt(b, "time") ? 1 : -1);
  const manager = latest === undefined ? "" : textAt(latest, "manager");
  return manager === "" ? undefined : manager;
}

/** Returns the end of a message about a change: the last writer, if known. */
export function byWhom(writer: string | undefined): string {
  return writer === undefined ? "" : `; the last writer was "${writer}"`;
}
