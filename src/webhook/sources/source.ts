/** A source: a configuration or a certificate that may change while the webhook runs. */
import type { KeyPair } from "../../platform/mod.ts";
import type { Injector } from "../../inject/mod.ts";

/** A value in force, which newer ones replace. */
export interface Source<T> {
  /** The newest valid value: the same object until it changes. */
  current(): T;
  /** Why a newer value is not in force; `undefined` if the current one is the newest. */
  problem(): string | undefined;
  /** Calls back after each change of `current` or `problem`. */
  onChange(handler: () => void): void;
  /** Stops watching. */
  close(): void;
}

export type InjectorSource = Source<Injector>;

/** The serving certificate with its chain, and its private key. `current` throws before `ready`. */
export interface CertificateSource extends Source<KeyPair> {
  /** Resolves when there is a certificate. Rejects with a `MeshError` if there will be none. */
  readonly ready: Promise<void>;
}
