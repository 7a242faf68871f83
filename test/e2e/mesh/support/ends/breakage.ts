/** The type of a breakage, and helpers of most breakages. */
import { NAMESPACE } from "../objects.ts";
import type { EndsMesh, PodName } from "./ends_mesh.ts";
import { type Resource, service } from "./resources.ts";

/** The addresses of the pods. */
export type Addresses = Readonly<Record<PodName, string>>;

export interface Breakage {
  /** The client; by default pod `a`. */
  readonly from?: PodName | "plain";
  /** The server's port to which a client without a proxy connects. */
  readonly port?: number;
  /** Flags in place of `--to http://NAME.mesh:8080/`. */
  readonly asked?: readonly string[];
  /** What is created. */
  readonly make: (at: Addresses, name: string) => readonly Resource[];
  /** Runs when all pods have the created resources. */
  readonly breaks?: (at: EndsMesh) => Promise<void>;
  readonly verdict: "refused" | "unknown" | "reaches";
  readonly says: RegExp;
  /** The resource that decides, if the API server is read: kind, name and field; `undefined`: none. */
  readonly decided: readonly [kind: string, name: string, field: string] | undefined;
  /** The same from Envoy's configuration alone, if it differs. What Envoy does not know is empty. */
  readonly alone?: readonly [kind: string, name: string, field: string];
  /** What the printed fix must say. */
  readonly fix: RegExp;
  /** Does what the fix says, if the fix is not a command. */
  readonly heal?: (at: EndsMesh) => Promise<void>;
  /** Undoes changes of the test that are not part of the fix. */
  readonly restore?: (at: EndsMesh) => Promise<void>;
  /** The flags that the fix asks for. */
  readonly healed?: readonly string[];
  /** The status of a request during the breakage; by default any but 200. */
  readonly status?: number;
}

/** The full name of a Service. */
export const host = (name: string) => `${name}.${NAMESPACE}.svc.cluster.local`;
/** A Service of the server, at its usual port. */
export const plain = (name: string) => (at: Addresses) => service(name, { address: at.b });
