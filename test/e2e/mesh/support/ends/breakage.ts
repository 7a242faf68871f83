/** What a breakage is, and what most of them have. */
import { NAMESPACE } from "../objects.ts";
import type { EndsMesh, PodName } from "./ends_mesh.ts";
import { type Resource, service } from "./resources.ts";

/** The addresses of the pods. */
export type Addresses = Readonly<Record<PodName, string>>;

export interface Breakage {
  /** Who asks; by default pod `a`. */
  readonly from?: PodName | "plain";
  /** The port of the server that a client without a proxy asks. */
  readonly port?: number;
  /** Flags in place of `--to http://NAME.mesh:8080/`. */
  readonly asked?: readonly string[];
  /** What is created. */
  readonly make: (at: Addresses, name: string) => readonly Resource[];
  /** What is done after all pods have what was created. */
  readonly breaks?: (at: EndsMesh) => Promise<void>;
  readonly verdict: "refused" | "unknown" | "reaches";
  readonly says: RegExp;
  /** The resource, with the API: kind, name and field; `undefined`: none decides. */
  readonly decided: readonly [kind: string, name: string, field: string] | undefined;
  /** The same from Envoy's configuration alone, where it knows less: what it does not know is empty. */
  readonly alone?: readonly [kind: string, name: string, field: string];
  /** What the printed fix must say. */
  readonly fix: RegExp;
  /** Does what the fix says, if it is no command. */
  readonly heal?: (at: EndsMesh) => Promise<void>;
  /** What takes the obstacle of the test away, besides the fix. */
  readonly restore?: (at: EndsMesh) => Promise<void>;
  /** The flags that the fix asks for. */
  readonly healed?: readonly string[];
  /** The status that a request gets while it is broken; by default any but 200. */
  readonly status?: number;
}

/** The full name of a Service. */
export const host = (name: string) => `${name}.${NAMESPACE}.svc.cluster.local`;
/** A Service of the server, at its usual port. */
export const plain = (name: string) => (at: Addresses) => service(name, { address: at.b });
