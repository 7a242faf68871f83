import type { Logger } from "../../platform/log.ts";
import type { WasmMetrics } from "./metrics.ts";

export interface WasmSettings {
  /** Where the modules are kept: below the first folder that exists. Envoy reads them too. */
  readonly folders: readonly string[];
  /**
   * Milliseconds after the last use until a module is removed, and milliseconds between two searches for such modules.
   */
  readonly expiry: number;
  readonly purgeInterval: number;
  /** Milliseconds for a request for a file. */
  readonly requestTimeout: number;
  /** Requests for a file before it is given up. */
  readonly attempts: number;
  /** Hosts whose certificates are not verified and that may speak plain text; `*`: all. */
  readonly insecureHosts: readonly string[];
  /** Files with credentials of registries, for plugins without a pull secret: the first that exists is used. */
  readonly keychains: readonly string[];
}

export interface WasmOptions extends WasmSettings {
  readonly log: Logger;
  readonly metrics: WasmMetrics;
}

export type PullPolicy = "IfNotPresent" | "Always" | "";

/** A module as a WasmPlugin describes it. */
export interface ModuleSource {
  /** `https://`, `http://` or `oci://`. */
  readonly url: string;
  /** Of the file, or of the image's manifest, in hex; `""`: any. */
  readonly sha256: string;
  /** The resource that needs it, and its version. */
  readonly resource: string;
  readonly version: string;
  readonly policy: PullPolicy;
  /** Content of a `.dockerconfigjson`; `undefined`: none is needed. */
  readonly pullSecret: string | undefined;
  readonly timeout: number;
}
