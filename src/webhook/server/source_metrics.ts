import { type Collector, meter } from "../../core/metrics/mod.ts";
import type { Clock } from "../../core/world/world.ts";
import { gauge } from "./metrics.ts";

/** What is kept from somewhere: a configuration, or a certificate. */
interface Source {
  problem(): string | undefined;
  onChange(handler: () => void): () => void;
}

/** Whether the newest of a source is in force, since when, and how often it changed. */
export function sourceMetrics(name: string, source: Source, clock: Clock): readonly Collector[] {
  const changes = meter("counter", `mesh_webhook_${name}_changes_total`, `Changes of the ${name}, by result.`);
  let since = seconds(clock.now());
  source.onChange(() => {
    const isAccepted = source.problem() === undefined;
    changes.add({ result: isAccepted ? "accepted" : "refused" });
    if (isAccepted) since = seconds(clock.now());
  });
  const valid = `1 if the newest ${name} is in force, 0 if it was refused and the one before is.`;
  const loaded = `When the ${name} in force was loaded.`;
  return [
    changes.collect,
    () => gauge(`mesh_webhook_${name}_valid`, valid, source.problem() === undefined ? 1 : 0),
    () => gauge(`mesh_webhook_${name}_loaded_timestamp_seconds`, loaded, since),
  ];
}

/** Seconds since 1970. */
export function seconds(date: Date): number {
  return date.getTime() / 1000;
}
