/** A real Envoy validates the agent's bootstraps: of our own cases and of Istio's. */
import assert from "node:assert/strict";
import { type AgentCase, runAgentCase } from "../../support/cases/agent.ts";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { needsShared, SHARED, testWhen } from "../../support/test_when.ts";

const OWN = decodeURIComponent(new URL("../../golden/agent", import.meta.url).pathname);
const ISTIO = `${SHARED}/cases/bootstrap`;

/** Bootstraps that Envoy rejects, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "waypoint": "metadata discovery is an extension of Istio's own Envoy",
  "ambient": "metadata discovery is an extension of Istio's own Envoy",
  "x_metadata_discovery_on": "metadata discovery is an extension of Istio's own Envoy",
  "router-lightstep": "Envoy has no LightStep any more",
  "template": "it is no bootstrap",
};

const envoy = await realEnvoy();

testWhen(envoy.missing, "Envoy accepts the bootstraps of our own cases", (t) => validateAll(t, OWN));

testWhen(
  envoy.missing ?? needsShared("cases/bootstrap"),
  "Envoy accepts the bootstraps of Istio's cases",
  (t) => validateAll(t, ISTIO),
);

async function validateAll(t: Deno.TestContext, folder: string): Promise<void> {
  for (const name of await namesOf(folder)) {
    await t.step(name, async () => {
      const { code, said } = await validate(`${folder}/${name}`);
      if (REFUSED[name] === undefined) assert.equal(code, 0, said);
      else assert.notEqual(code, 0, `Envoy accepts it now, although ${REFUSED[name]}`);
    });
  }
}

/** The cases in which Envoy is started. */
async function namesOf(folder: string): Promise<string[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
  return names.filter((name) => isFile(`${folder}/${name}/args.txt`));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function validate(folder: string): Promise<{ code: number; said: string }> {
  const input: AgentCase = JSON.parse(await Deno.readTextFile(`${folder}/input.json`));
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
