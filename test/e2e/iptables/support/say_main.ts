/** Runs command lines of the program in this process, from the sources: each line of the input is a JSON list of arguments. */
import { sayMesh } from "../../../support/programs/mesh.ts";

const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let rest = "";
for await (const text of lines) {
  const all = (rest + text).split("\n");
  rest = all.pop() ?? "";
  for (const line of all) {
    const said = await sayMesh(JSON.parse(line), { env: { KUBECONFIG: "/nonexistent" } });
    await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(said)}\n`));
  }
}
