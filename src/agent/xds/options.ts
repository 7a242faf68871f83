import type { Logger } from "../../core/log.ts";
import type { HealthReports } from "../health/options.ts";

/** What the connection to the control plane is secured with; both texts of material are PEM. */
export interface XdsIdentity {
  /** The workload's certificate, with those that it was signed by, and its key; `undefined` before the first. */
  workload(): { readonly certificate: string; readonly key: string } | undefined;
  /** The roots that came with it. */
  roots(): string | undefined;
  /** Calls back when one of them is another, until the returned function is called. */
  subscribe(changed: (what: "workload" | "roots") => void): () => void;
}

/** Which roots the control plane's certificate must come from. */
export type XdsRoots =
  /** Those of the system. */
  | { readonly from: "system" }
  /** Those of a file, which must be there. */
  | { readonly from: "file"; readonly file: string }
  /** Those of files that may be mounted, of each that is there, and those of the identity. */
  | { readonly from: "mesh"; readonly files: readonly string[] };

/** Which control plane, and how it is spoken with. */
export interface XdsSettings {
  /** The Unix socket that Envoy asks; the path is that of the bootstrap. */
  readonly path: string;
  /** `host:port` of the control plane. */
  readonly address: string;
  /** `undefined`: plain text. */
  readonly tls: { readonly serverName: string; readonly roots: XdsRoots } | undefined;
  /** Sent with each call (`XDS_HEADER_*`), names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a proxy of xDS is started with. */
export interface XdsOptions extends XdsSettings {
  /** Not used for plain text; `undefined` if another program serves the workload's certificates, to Envoy alone. */
  readonly identity: XdsIdentity | undefined;
  /** The file whose token proves who the workload is where there is no identity, read anew for each call; `""` for none. */
  readonly tokenFile?: string;
  /** What the control plane is told of the health of the workload; `undefined` for nothing. */
  readonly reports?: HealthReports | undefined;
  readonly log: Logger;
  /** How long a connection of Envoy's waits for the first certificate, in milliseconds; a minute unless told. */
  readonly certificatePatience?: number;
}

/** A proxy that runs. */
export interface XdsProxy {
  /** Why Envoy has no control plane, in one line; `undefined` when it has one, or has not asked. */
  problem(): string | undefined;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}
