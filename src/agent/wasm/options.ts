import type { Logger } from "../../platform/log.ts";
import type { WasmMetrics } from "./metrics.ts";

export interface WasmSettings {
  /** Folders for the modules; the first folder that exists is used. Envoy reads the modules there. */
  readonly folders: readonly string[];
  /** A module is removed once it has not been used for this many milliseconds. */
  readonly expiry: number;
  /** Milliseconds between two searches for modules to remove. */
  readonly purgeInterval: number;
  /** Timeout of a request for a file, in milliseconds. */
  readonly requestTimeout: number;
  /** Maximum number of requests for a file. */
  readonly attempts: number;
  /** Hosts whose certificates are not verified, and which may use plain text; `*` means all hosts. */
  readonly insecureHosts: readonly string[];
  /** Files with credentials for registries, for plugins without a pull secret. The first file that exists is used. */
  readonly keychains: readonly string[];
}

export interface WasmOptions extends WasmSettings {
  readonly log: Logger;
  readonly metrics: WasmMetrics;
}

export type PullPolicy = "IfNotPresent" | "Always" | "";

/** The source of a module, as a WasmPlugin describes it. */
export interface ModuleSource {
  /** `https://`, `http://` or `oci://`. */
  readonly url: string;
  /** SHA-256 of the file, or of the image's manifest, in hex; `""` accepts any content. */
  readonly sha256: string;
  /** The resource that needs the module, and its version. */
  readonly resource: string;
  readonly version: string;
  readonly policy: PullPolicy;
  /** Content of a `.dockerconfigjson`; `undefined` if the module needs no pull secret. */
  readonly pullSecret: string | undefined;
  readonly timeout: number;
}
