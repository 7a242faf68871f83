/** Runs command lines of the program in this process, from the sources: each line of the input is a `Saying` as JSON. */
import { linesOf } from "../../../../src/base/text/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { sayMesh } from "../../../support/programs/mesh.ts";
import type { Saying } from "./pod.ts";

const { system } = realWorld();
const home = `/proc/${Deno.ppid}/ns/net`;

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) Deno.env.delete(name);
  else Deno.env.set(name, value);
}

for await (const line of linesOf(Deno.stdin.readable)) {
  const { netns, args, env = {} }: Saying = JSON.parse(line);
  system.enterNetworkNamespace(netns);
  // Programs are found on the process's own PATH.
  const before = Deno.env.toObject();
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
  const said = await sayMesh(args);
  for (const name of Object.keys(env)) setVariable(name, before[name]);
  // Leaves the namespace, because a namespace lives as long as a process in it.
  system.enterNetworkNamespace(home);
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(said)}\n`));
}
