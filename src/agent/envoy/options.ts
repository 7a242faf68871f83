/** How to start and control Envoy. */
export interface EnvoyOptions {
  readonly binary: string;
  /**
   * Writes what an epoch needs (its bootstrap) and returns Envoy's arguments. For hot restarts they hold
   * `--restart-epoch`, `--base-id`, `--drain-time-s` and `--parent-shutdown-time-s`, and no `--disable-hot-restart`.
   */
  readonly prepare: (epoch: number) => Promise<readonly string[]>;
  /** Removes the files of `prepare` after the epoch has exited, or if it is not started. */
  readonly discard?: ((epoch: number) => Promise<void>) | undefined;
  /** Added to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The admin interface, such as `http://127.0.0.1:15000`. */
  readonly adminUrl: string;
  /** Drain inbound listeners only: for sidecars, not for gateways. */
  readonly inboundOnly: boolean;
  /** Ports of the health and metrics listeners: their connections do not delay a drain. */
  readonly ownPorts: readonly number[];
  /** Receives each line of Envoy's stderr; without it Envoy inherits this process's stderr. */
  readonly errorLine?: ((line: string) => void) | undefined;
}
