import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { openFilesWarning } from "./open_files.ts";

const ROWS: readonly (readonly [limits: string, says: RegExp | undefined])[] = [
  [
    "Max open files            33                   33                   files     \n",
    /^The limit of open files is 33/,
  ],
  [
    "Max processes 7 7 processes\nMax open files            1024                 4096                 files     \n",
    undefined,
  ],
  ["Max open files            unlimited            unlimited            files     \n", undefined],
  ["", undefined],
];

for (const [limits, says] of ROWS) {
  Deno.test(`a limit of open files: ${limits.match(/files +(\S+)/)?.[1] ?? "not known"}`, async () => {
    const warning = await openFilesWarning(fakeWorld({ files: { "/proc/self/limits": limits } }));
    if (says === undefined) assert.equal(warning, undefined);
    else assert.match(warning ?? "", says);
  });
}
