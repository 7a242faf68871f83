/** A real Envoy validates the agent's bootstraps: of our own cases and of Istio's. */
import assert from "node:assert/strict";
import { type AgentCase, runAgentCase } from "../../support/cases/agent.ts";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { BOOTSTRAPS, namedBootstraps } from "../../oracle/pilot_agent/own/bootstraps.ts";
import { testShared, testWhen } from "../../support/test_when.ts";

const OWN = decodeURIComponent(new URL("../../golden/agent", import.meta.url).pathname);

/** Bootstraps that Envoy rejects, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "waypoint": "metadata discovery is an extension of Istio's own Envoy",
  "ambient": "metadata discovery is an extension of Istio's own Envoy",
  "x_metadata_discovery_on": "metadata discovery is an extension of Istio's own Envoy",
  "router-lightstep": "Envoy has no LightStep any more",
  "template": "it is no bootstrap",
  "a bootstrap of the user": "it is no bootstrap",
  "HBONE": "metadata discovery is an extension of Istio's own Envoy",
  "discovery of peers' metadata": "metadata discovery is an extension of Istio's own Envoy",
};

const envoy = await realEnvoy();

testWhen(envoy.missing, "Envoy accepts the bootstraps of our own cases", async (t) => {
  for (const [name, input] of [...await casesIn(OWN), ...named()]) await t.step(name, () => check(name, input));
});

if (envoy.missing === undefined) {
  testShared("cases/bootstrap", "Envoy accepts the bootstraps of Istio's cases", async (folder, t) => {
    for (const [name, input] of await casesIn(folder)) await t.step(name, () => check(name, input));
  });
}

async function check(name: string, input: AgentCase): Promise<void> {
  const { code, said } = await validate(input);
  if (REFUSED[name] === undefined) assert.equal(code, 0, said);
  else assert.notEqual(code, 0, `Envoy accepts it now, although ${REFUSED[name]}`);
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

async function validate(input: AgentCase): Promise<{ code: number; said: string }> {
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
