export interface EnvoyOptions {
  readonly binary: string;
  /** Writes the bootstrap of an epoch and returns Envoy's arguments. */
  readonly prepare: (epoch: number) => Promise<readonly string[]>;
  /** Called after the epoch has exited, or if it is not started. */
  readonly discard?: ((epoch: number) => Promise<void>) | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly adminUrl: string;
  /** Drain inbound listeners only: for sidecars, not for gateways. */
  readonly inboundOnly: boolean;
  /** Health and metrics: their connections do not delay a drain. */
  readonly ownPorts: readonly number[];
  /** Without it Envoy inherits this process's stderr. */
  readonly errorLine?: ((line: string) => void) | undefined;
}
