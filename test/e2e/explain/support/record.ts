/** Writes a snapshot and its requests for the tests without Envoy: `test/golden/explain`. */
import type { Snapshot } from "../../../../src/explain/snapshot/snapshot.ts";
import type { Recorded } from "../../../support/explain_requests.ts";

const FOLDER = decodeURIComponent(new URL("../../../golden/explain/", import.meta.url).pathname);

/** Writes the parts that decide where requests go, without fields that are irrelevant or differ between runs. */
export async function record({ parts }: Snapshot, recorded: readonly Recorded[]): Promise<void> {
  await Deno.mkdir(`${FOLDER}snapshot`, { recursive: true });
  for (const name of ["config_dump.json", "clusters.json", "rules.iptables", "pod.json"] as const) {
    const text = parts[name].text ?? "";
    await Deno.writeTextFile(`${FOLDER}snapshot/${name}`, name.endsWith(".json") ? shortened(text) : text);
  }
  const lines = recorded.map((each) => JSON.stringify(each));
  await Deno.writeTextFile(`${FOLDER}requests.json`, `[\n${lines.join(",\n")}\n]\n`);
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  "access_log",
  "last_updated",
  "stats",
  "command_line_options",
  "extensions",
]);

function shortened(text: string): string {
  return `${JSON.stringify(JSON.parse(text, (key, value) => LEFT_OUT.has(key) ? undefined : value))}\n`;
}
