import assert from "node:assert/strict";
import { basename, dirname } from "node:path/posix";
import { COMMAND, CONTAINER } from "./build.ts";

Deno.test("the container's binary is no plugin of kubectl, also with dist on PATH", () => {
  assert.equal(COMMAND.path, "kubectl-mesh");
  assert.notEqual(dirname(CONTAINER.path), dirname(COMMAND.path));
  assert.doesNotMatch(basename(CONTAINER.path), /^kubectl[-_]/);
});
