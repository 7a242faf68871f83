/** Envoy's arguments, exactly as in Istio's `envoy.args`, because tools search command lines for them. */
import type { AgentSettings } from "../settings/read.ts";

/**
 * Returns Envoy's arguments. With hot restarts, the flags of Istio 1.0 to 1.9 are used in place of
 * `--disable-hot-restart`. `epoch` is the value of `--restart-epoch`: 0 for the first start.
 */
export function envoyArgs(settings: AgentSettings, configFile: string, epoch: number): string[] {
  const { envoy, drain, ipMode } = settings;
  return [
    ...["-c", configFile],
    ...["--drain-time-s", String(drain.drainSeconds)],
    ...["--drain-strategy", "immediate"],
    ...["--local-address-ip-version", ipMode === "ipv6" ? "v6" : "v4"],
    ...["--file-flush-interval-msec", String(envoy.fileFlushMilliseconds)],
    ...restartArgs(settings, epoch),
    "--allow-unknown-static-fields",
    ...option("--file-flush-min-size-kb", envoy.fileFlushMinKilobytes),
    ...option("-l", envoy.logLevel),
    ...option("--component-log-level", envoy.componentLogLevel),
    ...(envoy.skipDeprecatedLogs ? ["--skip-deprecated-logs"] : []),
    ...(envoy.coreDump ? ["--enable-core-dump"] : []),
    ...option("--config-yaml", envoy.bootstrapOverride),
    ...option("--concurrency", envoy.concurrency),
  ];
}

function restartArgs({ envoy, drain }: AgentSettings, epoch: number): string[] {
  if (!envoy.hotRestart) return ["--disable-hot-restart"];
  const restart = ["--restart-epoch", String(epoch), "--parent-shutdown-time-s", String(drain.parentShutdownSeconds)];
  return [...restart, ...option("--base-id", envoy.baseId)];
}

function option(name: string, value: string | number): string[] {
  return value === "" || value === 0 ? [] : [name, String(value)];
}
