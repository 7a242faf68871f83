/** A real Envoy validates the agent's bootstraps: of our own cases and of Istio's. */
import assert from "node:assert/strict";
import { type AgentCase, runAgentCase } from "../../support/cases/agent.ts";
import { envoysOfRun } from "../../support/programs/envoys.ts";
import type { RealEnvoy } from "../../support/programs/envoy.ts";
import { BOOTSTRAPS, namedBootstraps } from "../../oracle/pilot_agent/own/bootstraps.ts";
import { testShared, testWhen } from "../../support/test_when.ts";

const OWN = decodeURIComponent(new URL("../../golden/agent", import.meta.url).pathname);

/** Why a bootstrap is refused, and by which minor versions of Envoy 1: all of them by default. */
interface Refusal {
  readonly why: string;
  readonly by?: (minor: number) => boolean;
}

/** Older Envoys do not look at extensions of the bootstrap when they only validate it. */
const DISCOVERY: Refusal = {
  why: "metadata discovery is an extension of Istio's own Envoy",
  by: (minor) => minor >= 38,
};

/** Bootstraps that Envoy rejects. */
const REFUSED: Readonly<Record<string, Refusal>> = {
  "waypoint": DISCOVERY,
  "ambient": DISCOVERY,
  "x_metadata_discovery_on": DISCOVERY,
  "router-lightstep": { why: "Envoy has no LightStep any more" },
  "template": { why: "it is no bootstrap" },
  "a bootstrap of the user": { why: "it is no bootstrap" },
  "HBONE": DISCOVERY,
  "discovery of peers' metadata": DISCOVERY,
  "services": { why: "it has no --file-flush-min-size-kb yet", by: (minor) => minor < 37 },
};

for (const envoy of await envoysOfRun()) {
  testWhen(envoy.missing, `Envoy ${envoy.version} accepts the bootstraps of our own cases`, async (t) => {
    for (const [name, input] of [...await casesIn(OWN), ...named()]) {
      await t.step(name, () => check(envoy, name, input));
    }
  });
  if (envoy.missing !== undefined) continue;
  testShared("cases/bootstrap", `Envoy ${envoy.version} accepts the bootstraps of Istio's cases`, async (folder, t) => {
    for (const [name, input] of await casesIn(folder)) await t.step(name, () => check(envoy, name, input));
  });
}

async function check(envoy: RealEnvoy, name: string, input: AgentCase): Promise<void> {
  const { code, said } = await validate(envoy, input);
  const { why, by = () => true } = REFUSED[name] ?? { by: () => false };
  if (!by(Number(envoy.version.split(".")[1]))) assert.equal(code, 0, said);
  else assert.notEqual(code, 0, `Envoy ${envoy.version} accepts it, although ${why}`);
}

type Named = readonly [string, AgentCase];

/** The named cases in which Envoy is started. */
function named(): Named[] {
  const inputs = namedBootstraps();
  return BOOTSTRAPS.flatMap(({ name, fails }, index): Named[] => {
    const input = inputs[index];
    return fails === true || input === undefined ? [] : [[name, input]];
  });
}

/** The cases of a folder in which Envoy is started. */
async function casesIn(folder: string): Promise<Named[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
  return names.filter((name) => isFile(`${folder}/${name}/args.txt`)).map((
    name,
  ) => [name, JSON.parse(Deno.readTextFileSync(`${folder}/${name}/input.json`))]);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function validate(envoy: RealEnvoy, input: AgentCase): Promise<{ code: number; said: string }> {
  const { args, bootstrap } = await runAgentCase(input);
  const cwd = await Deno.makeTempDir();
  try {
    // The arguments of the case, with an existing file.
    const file = `${cwd}/envoy-rev${/\.[a-z]+$/.exec(args[1] ?? "")?.[0] ?? ""}`;
    await Deno.writeTextFile(file, bootstrap);
    const argv = [...args.with(1, file), "--mode", "validate"];
    const { code, stdout, stderr } = await new Deno.Command(envoy.path, { args: argv, cwd }).output();
    return { code, said: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
