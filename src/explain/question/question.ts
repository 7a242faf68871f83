/** The input of `explain`: the connection or pod in question, and the source of the data. */
import type { Cause } from "../resources/cause.ts";
import type { ConnectOptions } from "../../kube/client/mod.ts";

export interface RequestHeader {
  /** Header name in lower case, as in HTTP/2 and Envoy. */
  readonly name: string;
  readonly value: string;
}

/** The application's protocol; `unsaid` if the question does not name it. */
export type Spoken = "http" | "tls" | "tcp" | "unsaid";

export interface Connection {
  readonly direction: "outbound" | "inbound";
  /** For outbound, a name or an address. For inbound, the address of the client. */
  readonly host: string;
  readonly port: number;
  readonly spoken: Spoken;
  readonly method: string;
  /** Path and query, starting with a slash. */
  readonly path: string;
  readonly headers: readonly RequestHeader[];
  /** TLS server name that the application sends. */
  readonly sni: string | undefined;
  /** For inbound: the client uses plain text even if the port accepts mutual TLS, as a probe does. */
  readonly isPlain?: boolean;
  /** For inbound: the client's side, if known. */
  readonly peer?: Peer;
}

/** The TLS, protocol and identity with which a client's pod connects to a server's pod. */
export interface Peer {
  readonly tls: "mutual" | "simple" | "plain";
  /** Whether the mutual TLS is the TLS of an HBONE tunnel. */
  readonly isTunnel: boolean;
  readonly isHttp: boolean;
  /** TLS server name that the client sends; empty without a server name. */
  readonly sni: string;
  /** Identity in the client's certificate; `undefined` if unknown. */
  readonly identity: string | undefined;
  /** The user's own certificate that the client presents; absent for a certificate of the mesh. */
  readonly certificate?: string;
  /** Accepted identities of the server; empty accepts any identity. */
  readonly expects: readonly string[];
  /** The DestinationRule that sets the client's TLS mode; `undefined` for Istio's automatic mutual TLS. */
  readonly rule?: Cause | undefined;
  /** For a client's pod without a proxy: how to find out why; absent for other clients. */
  readonly proxyFix?: string;
}

export interface PodChoice {
  /** Name such as `web`, `pod/web`, `deployment/web` or `svc/web`; `undefined` with a selector or for all pods. */
  readonly name: string | undefined;
  readonly selector: string | undefined;
  /** Namespace of the pods; `undefined`: the namespace of the kubeconfig context. */
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  /** Name of the proxy's container; `undefined`: `istio-proxy`. */
  readonly container: string | undefined;
}

export type SourceChoice =
  /** Saved snapshots. `pod` selects one pod; `undefined`: all pods. */
  | { readonly kind: "file"; readonly paths: readonly string[]; readonly pod: string | undefined }
  | { readonly kind: "local"; readonly probe?: Connection | undefined }
  | {
    readonly kind: "live";
    readonly pods: PodChoice;
    readonly api: ConnectOptions;
    /** Whether to read the kernel's rules through an ephemeral container. */
    readonly ephemeral: boolean;
    readonly probe?: Connection | undefined;
    /** Image of the ephemeral container that sends the request; `undefined`: the proxy's image. */
    readonly probeImage?: string | undefined;
  };

/** A question to `explain`. If `connection` is `undefined`, the question is about the pod. */
export interface Question {
  readonly source: SourceChoice;
  readonly connection: Connection | undefined;
  readonly output: "table" | "wide" | "short" | "json" | "svg";
  readonly isOneEnd: boolean;
  /** Whether to explain connections from every workload to every Service. */
  readonly isMatrix?: boolean;
  /** Whether to prove the connections of the matrix with requests. */
  readonly isProbed?: boolean;
  /** Whether to trace the first packet of the connection through the kernel, in this network namespace. */
  readonly isTraced?: boolean;
  readonly flags?: readonly string[];
}
