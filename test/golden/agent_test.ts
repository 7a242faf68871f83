/**
 * The agent's bootstrap and Envoy's arguments: the cases of `agent`, whose expected files UPDATE=1 rewrites, and the
 * cases of `../shared` if it exists. Istio's answers to our own cases are in test/oracle/pilot_agent.
 */
import assert from "node:assert/strict";
import { type AgentCase, runAgentCase } from "../support/cases/agent.ts";
import { testShared } from "../support/test_when.ts";

const OWN = decodeURIComponent(new URL("./agent/", import.meta.url).pathname);

testShared("cases/bootstrap", "the bootstrap is what Istio gives to Envoy", async (cases, t) => {
  for (const name of await folders(cases)) await t.step(name, () => replay(`${cases}/${name}`));
});

Deno.test("the bootstrap of our own cases", async (t) => {
  for (const name of await folders(OWN)) await t.step(name, () => compare(`${OWN}${name}`));
});

async function folders(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

async function inputOf(folder: string): Promise<AgentCase> {
  const input: AgentCase = JSON.parse(await Deno.readTextFile(`${folder}/input.json`));
  return input;
}

async function replay(folder: string): Promise<void> {
  const input = await inputOf(folder);
  const code = Number(await Deno.readTextFile(`${folder}/rc`));
  if (code !== 0) return void await assert.rejects(runAgentCase(input), { name: /^(Mesh|Usage)Error$/ });
  const { args, bootstrap } = await runAgentCase(input);
  const wantedArgs = (await Deno.readTextFile(`${folder}/args.txt`)).split("\n").slice(0, -1);
  assert.deepEqual(args, wantedArgs);
  assert.equal(bootstrap, await Deno.readTextFile(`${folder}/bootstrap.json`));
}

async function compare(folder: string): Promise<void> {
  const { args, bootstrap, warnings } = await runAgentCase(await inputOf(folder));
  const actual = { "args.txt": `${args.join("\n")}\n`, "bootstrap.json": bootstrap, "warnings.txt": lines(warnings) };
  for (const [name, text] of Object.entries(actual)) {
    if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(`${folder}/${name}`, text);
    assert.equal(text, await Deno.readTextFile(`${folder}/${name}`), name);
  }
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}
