/** Types of sources: values, such as configuration or certificate, that may change while the webhook runs. */
import type { KeyPair } from "../../platform/mod.ts";
import type { Injector } from "../../inject/mod.ts";

/** A value that may be replaced by newer values. */
export interface Source<T> {
  /** Returns the newest valid value. Returns the same object until the value changes. */
  current(): T;
  /** Returns why a newer value is not in force; `undefined` if the current value is the newest. */
  problem(): string | undefined;
  /** Registers a handler that is called after each change of `current` or `problem`. */
  onChange(handler: () => void): void;
  /** Stops watching. */
  close(): void;
}

export type InjectorSource = Source<Injector>;

/** The source of the serving certificate chain and its private key. `current` throws until `ready` resolves. */
export interface CertificateSource extends Source<KeyPair> {
  /** Resolves when a certificate is available. Rejects with a `MeshError` if the source is closed before that. */
  readonly ready: Promise<void>;
}
