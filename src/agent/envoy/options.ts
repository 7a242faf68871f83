export interface EnvoyOptions {
  readonly binary: string;
  /** Writes the bootstrap of an epoch and returns Envoy's arguments. */
  readonly prepare: (epoch: number) => Promise<readonly string[]>;
  /** Called after the epoch has exited, or if the epoch does not start. */
  readonly discard?: ((epoch: number) => Promise<void>) | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly adminUrl: string;
  /** Drain inbound listeners only: for sidecars, not for gateways. */
  readonly inboundOnly: boolean;
  /** Ports for health and metrics, whose connections do not delay a drain. */
  readonly ownPorts: readonly number[];
  /** Receives each line of Envoy's stderr. By default, Envoy inherits this process's stderr. */
  readonly errorLine?: ((line: string) => void) | undefined;
}
