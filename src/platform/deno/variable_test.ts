import assert from "node:assert/strict";
import { needsProgram, testWhen } from "../../../test/support/test_when.ts";

const MODULE = new URL("./variable.ts", import.meta.url).href;
const CODE = `import { variable } from ${JSON.stringify(MODULE)};
try { console.log(variable("MESH_GIVEN"), variable("MESH_NOT_GIVEN"), variable("MESH_BROKEN")); }
catch (error) { console.log(error.name, error.message); }`;

testWhen(needsProgram("sh"), "variable() names a variable that is not UTF-8", async () => {
  const run = async (value: string) => {
    const script = `export MESH_BROKEN="$(printf '${value}')"; exec "$0" eval "$1"`;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", script, Deno.execPath(), CODE],
      env: { MESH_GIVEN: "given", NO_COLOR: "1" },
    }).output();
    return new TextDecoder().decode(stdout);
  };
  assert.equal(await run("whole"), "given undefined whole\n");
  assert.equal(await run("\\377"), 'MeshError The value of the environment variable "MESH_BROKEN" is not UTF-8\n');
});
