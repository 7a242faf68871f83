import type { WasmOptions, WasmSettings } from "../wasm/options.ts";
import type { Logger } from "../../platform/log.ts";
import type { Identity } from "../identity/mod.ts";
import type { HealthReports } from "../health/options.ts";
import type { XdsMetrics } from "../metrics/control_plane_metrics.ts";

/** Root certificates that istiod's certificate must chain to. */
export type XdsRoots =
  | { readonly from: "system" }
  /** A file, which must exist. */
  | { readonly from: "file"; readonly file: string }
  /** The files that exist, plus the roots of the identity. */
  | { readonly from: "mesh"; readonly files: readonly string[] };

export interface XdsSettings {
  /** Path of the Unix socket that the bootstrap names. */
  readonly path: string;
  /** `host:port` of the control plane. */
  readonly address: string;
  /** `undefined` means plain text. */
  readonly tls: { readonly serverName: string; readonly roots: XdsRoots } | undefined;
  /** Headers that are added to each call (`XDS_HEADER_*`), with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bootstrap file of proxyless gRPC; `""` if unset. */
  readonly grpcBootstrap: string;
  /** `undefined` means that Envoy fetches Wasm modules itself. */
  readonly wasm: WasmSettings | undefined;
}

export interface XdsOptions extends Omit<XdsSettings, "grpcBootstrap" | "wasm"> {
  /** `undefined` if another program serves the workload's certificate to Envoy only. Not used for plain text. */
  readonly identity: Identity | undefined;
  /** Path of the token file; `""` if no token is used. The file is read for each call, if there is no certificate. */
  readonly tokenFile?: string;
  /** Health reports to send; `undefined` without health checks. */
  readonly reports?: HealthReports | undefined;
  readonly log: Logger;
  /** `undefined` means that Envoy fetches Wasm modules itself. */
  readonly wasm?: WasmOptions | undefined;
  /** Called when the control plane has accepted a connection. */
  readonly connected?: () => void;
  readonly metrics?: XdsMetrics | undefined;
  /** Maximum wait of Envoy's connection for the first certificate, in milliseconds; default: a minute. */
  readonly certificateTimeout?: number;
}
