import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { openFilesWarning, startLines } from "./startup_log.ts";
import { readSettings } from "./settings/read.ts";

Deno.test("startLines: node and configuration, without tokens", async () => {
  const env = {
    INSTANCE_IP: "10.0.0.5",
    POD_NAME: "a",
    POD_NAMESPACE: "b",
    PROXY_CONFIG: "drainDuration: 7s\ntracing: {lightstep: {address: 'l:1', accessToken: secret-token}}",
  };
  const text = startLines(await readSettings(fakeWorld({ env }), ["router"], { name: "agent" })).join("\n");
  assert.match(text, /type=router id=router~10\.0\.0\.5~a\.b~b\.svc\.cluster\.local cluster=istio-proxy\.b/);
  assert.match(text, /^drainDuration: 7s$/m);
  assert.doesNotMatch(text, /secret-token/);
});

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
