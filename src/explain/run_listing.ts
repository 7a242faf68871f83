/** Runs `explain --of`: prints a part of a proxy's configuration as a table, JSON or YAML. */
import { EXIT, MeshError } from "../base/errors.ts";
import { columnsWithin, visible } from "../base/text/mod.ts";
import { withProgress } from "../platform/progress.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import { toYaml } from "../yaml/mod.ts";
import { readEnvoy } from "./envoy/config.ts";
import { bootstrap } from "./listing/bootstrap.ts";
import { clusters } from "./listing/clusters.ts";
import { endpoints } from "./listing/endpoints.ts";
import { listeners } from "./listing/listeners.ts";
import type { Listed, Listing, ListingFilter, ListingSource } from "./listing/listing.ts";
import { routes } from "./listing/routes.ts";
import { secrets } from "./listing/secrets.ts";
import type { SourceChoice } from "./question/question.ts";
import { onlyOne } from "./several.ts";
import { valueWithoutSecrets } from "./snapshot/redact.ts";
import { PODS_READ, snapshotsOf } from "./sources/sources.ts";

const LISTINGS: Readonly<Record<Listed, (source: ListingSource) => Listing>> = {
  listeners,
  routes,
  clusters,
  endpoints,
  secrets,
  bootstrap,
};

interface ListingQuestion {
  readonly source: SourceChoice;
  readonly output: "table" | "short" | "json" | "yaml";
  readonly of: Listed;
  readonly filter: ListingFilter;
}

/** Prints the entries that match. Throws a MeshError if the configuration is unreadable, a UsageError for several pods. */
export async function explainListing(world: World, { source, output, of, filter }: ListingQuestion): Promise<number> {
  const snapshot = await withProgress(world, PODS_READ, async (progress) => {
    const reading = { progress, depth: "configuration" } as const;
    const pods = await Array.fromAsync(snapshotsOf(world, source, reading));
    progress.end();
    return onlyOne(pods, "A listing").snapshot;
  });
  const { config, absent } = readEnvoy(snapshot);
  if (config === undefined) {
    throw new MeshError(`The configuration of ${snapshot.origin} cannot be read: ${absent.message}`);
  }
  const { rows, messages } = LISTINGS[of]({ config, snapshot, filter, now: snapshot.time ?? world.clock.now() });
  if (output === "json") world.stdout.write(`${JSON.stringify(valueWithoutSecrets(messages), undefined, 2)}\n`);
  else if (output === "yaml") world.stdout.write(toYaml(valueWithoutSecrets(messages)));
  else world.stdout.write(columnsWithin(rows.map((row) => row.map(visible)), tableWidthOf(world)));
  if (rows.length < 2 && of !== "bootstrap") world.stderr.write(`note: No ${of} match\n`);
  return EXIT.ok;
}
