import type { Application } from "./application.ts";

/** Returns the matching counters of the Envoy in the application's pod. */
export async function envoyStats(application: Application, filter: string): Promise<ReadonlyMap<string, number>> {
  const { text } = await application.ask(`http://127.0.0.1:15000/stats?filter=${encodeURIComponent(filter)}`);
  return new Map(text.matchAll(/^(\S+): (\d+)$/gm).map(([, name = "", count]) => [name, Number(count)]));
}
