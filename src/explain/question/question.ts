/** What `explain` is asked. */
import type { ConnectOptions } from "../../kube/client/mod.ts";

/** A header of the request. */
export interface RequestHeader {
  /** In lower case, as HTTP/2 and Envoy have it. */
  readonly name: string;
  readonly value: string;
}

/** What the application speaks, as far as the question tells. */
export type Spoken = "http" | "tls" | "tcp" | "unsaid";

/** The connection that is asked about. */
export interface Connection {
  readonly direction: "outbound" | "inbound";
  /** Outbound: a name or an address. Inbound: the address of the client. */
  readonly host: string;
  /** The destination port. */
  readonly port: number;
  readonly spoken: Spoken;
  readonly method: string;
  /** With the query; starts with a slash. */
  readonly path: string;
  readonly headers: readonly RequestHeader[];
  /** Server name that the application itself sends in TLS. */
  readonly sni: string | undefined;
  /** Inbound: the client speaks plain text although the port takes mutual TLS, as a probe does. */
  readonly isPlain?: boolean;
}

/** Which pods of a cluster. */
export interface PodChoice {
  /** `web`, `pod/web`, `deployment/web`, `svc/web`; `undefined` with a selector or for all pods. */
  readonly name: string | undefined;
  readonly selector: string | undefined;
  /** `undefined`: that of the context. */
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  /** The proxy's container; `undefined`: `istio-proxy`. */
  readonly container: string | undefined;
}

/** Where snapshots come from. */
export type SourceChoice =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "local"; readonly probe?: Connection | undefined }
  | {
    readonly kind: "live";
    readonly pods: PodChoice;
    readonly api: ConnectOptions;
    /** Read the rules of the kernel through an ephemeral container. */
    readonly ephemeral: boolean;
    /** Send a request of this connection. */
    readonly probe?: Connection | undefined;
    /** Of the ephemeral container that sends it; `undefined`: that of the proxy. */
    readonly probeImage?: string | undefined;
  };

/** The whole question; without a connection it is about the pod. */
export interface Question {
  readonly source: SourceChoice;
  readonly connection: Connection | undefined;
  readonly output: "table" | "short" | "json" | "svg";
}
