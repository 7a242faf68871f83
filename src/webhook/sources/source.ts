/** Sources: values, such as configuration or certificate, that may change while the webhook runs. */
import { errorText } from "../../base/errors.ts";
import type { Injector } from "../../inject/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { KeyPair } from "../../platform/mod.ts";

/** A value that may be replaced by newer values. */
export interface Source<T> {
  /** Returns the newest valid value. Returns the same object until the value changes. */
  current(): T;
  /** Returns why a newer value is not in force; `undefined` if the current value is the newest. */
  problem(): string | undefined;
  /** Registers a handler that is called after a newer value is accepted or refused. */
  onChange(handler: () => void): void;
  close(): void;
}

export type InjectorSource = Source<Injector>;

/** The source of the serving certificate chain and its private key. `current` throws until `ready` resolves. */
export interface CertificateSource extends Source<KeyPair> {
  /** Resolves when a certificate is available. Rejects with a `MeshError` if the source is closed before that. */
  readonly ready: Promise<void>;
}

export interface Recipe<T> {
  /** Name of the value in the log, such as `configuration`. */
  readonly name: string;
  /** Returns the value. Rejects with a `MeshError` if the value is unusable. */
  readonly make: () => Promise<T>;
}

/** A source whose value `renew` replaces. */
export interface Renewable<T> extends Omit<Source<T>, "close"> {
  renew(): Promise<void>;
}

/**
 * Makes a value. If a renewed value is unusable, logs this, reports it in `problem`, and keeps the previous value.
 * Rejects with a `MeshError` if the first value is unusable.
 */
export async function renewable<T>(log: Logger, { name, make }: Recipe<T>): Promise<Renewable<T>> {
  const handlers: (() => void)[] = [];
  let current = await make();
  let problem: string | undefined;
  return {
    current: () => current,
    problem: () => problem,
    onChange: (handler) => void handlers.push(handler),
    async renew() {
      try {
        current = await make();
        problem = undefined;
        log.info(`The new ${name} is in force`);
      } catch (error) {
        problem = errorText(error);
        log.error(logText(`Cannot use the new ${name}, keeping the previous one: ${problem}`));
      }
      handlers.forEach((handler) => handler());
    },
  };
}
