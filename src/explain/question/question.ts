/** What `explain` is asked. */
import type { Cause } from "../resources/cause.ts";
import type { ConnectOptions } from "../../kube/client/mod.ts";

export interface RequestHeader {
  /** In lower case, as in HTTP/2 and Envoy. */
  readonly name: string;
  readonly value: string;
}

/** What the application speaks, if the question says it. */
export type Spoken = "http" | "tls" | "tcp" | "unsaid";

export interface Connection {
  readonly direction: "outbound" | "inbound";
  /** Outbound: a name or an address. Inbound: the address of the client. */
  readonly host: string;
  readonly port: number;
  readonly spoken: Spoken;
  readonly method: string;
  /** Path and query; starts with a slash. */
  readonly path: string;
  readonly headers: readonly RequestHeader[];
  /** Server name that the application itself sends in TLS. */
  readonly sni: string | undefined;
  /** Inbound: the client speaks plain text although the port takes mutual TLS, as a probe does. */
  readonly isPlain?: boolean;
  /** Inbound: the client's side, if known. */
  readonly peer?: Peer;
}

/** How the client's proxy, or the client itself, connects to a pod. */
export interface Peer {
  readonly tls: "mutual" | "simple" | "plain";
  /** Its mutual TLS is a tunnel's (HBONE). */
  readonly isTunnel: boolean;
  readonly isHttp: boolean;
  /** Server name of its TLS; empty without one. */
  readonly sni: string;
  /** The identity in its certificate; `undefined`: unknown. */
  readonly identity: string | undefined;
  /** The server must have one of these identities; empty: any. */
  readonly expects: readonly string[];
  /** The DestinationRule that sets the client's TLS; `undefined`: Istio chose it. */
  readonly rule?: Cause | undefined;
}

export interface PodChoice {
  /** `web`, `pod/web`, `deployment/web`, `svc/web`; `undefined` with a selector or for all pods. */
  readonly name: string | undefined;
  readonly selector: string | undefined;
  /** `undefined`: the namespace of the context. */
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  /** The proxy's container; `undefined`: `istio-proxy`. */
  readonly container: string | undefined;
}

export type SourceChoice =
  /** The pod to read from the snapshots; `undefined`: all pods. */
  | { readonly kind: "file"; readonly paths: readonly string[]; readonly pod: string | undefined }
  | { readonly kind: "local"; readonly probe?: Connection | undefined }
  | {
    readonly kind: "live";
    readonly pods: PodChoice;
    readonly api: ConnectOptions;
    /** Read the kernel's rules through an ephemeral container. */
    readonly ephemeral: boolean;
    /** Send a request of this connection. */
    readonly probe?: Connection | undefined;
    /** Image of the ephemeral container that sends the request; `undefined`: the proxy's image. */
    readonly probeImage?: string | undefined;
  };

/** The question; without a connection it is about the pod. */
export interface Question {
  readonly source: SourceChoice;
  readonly connection: Connection | undefined;
  readonly output: "table" | "wide" | "short" | "json" | "svg";
  /** Explain only the client's side. */
  readonly isOneEnd: boolean;
  /** Explain every workload to every Service, not one connection. */
  readonly isMatrix?: boolean;
  /** Prove the connections of the matrix by requests. */
  readonly isProbed?: boolean;
  /** Trace a first packet of the connection through the kernel of this network namespace. */
  readonly isTraced?: boolean;
  /** Envoy's response flags to explain. */
  readonly flags?: readonly string[];
}
