/** Where the injector's configuration comes from: files that are watched, or the cluster's ConfigMaps. */
import type { Injector } from "../../inject/mod.ts";

/** A configuration that may be replaced while it is in use. */
export interface InjectorSource {
  /** The injector of the last good configuration, made once for each configuration. */
  current(): Injector;
  /** Why a newer configuration is not in force; `undefined` if the current one is the newest. */
  problem(): string | undefined;
  /** Calls back after each change of `current` or `problem`, until the returned function is called. */
  onChange(handler: () => void): () => void;
  /** Watches no longer. */
  close(): void;
}
