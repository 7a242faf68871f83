import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { readSettings } from "../settings/read.ts";
import { envoyArgs } from "./envoy_args.ts";

async function args(words: string, env: Record<string, string> = {}, epoch = 0): Promise<string> {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env }, files: { "o.json": '{"key": "value"}' } });
  const settings = await readSettings(world, words.split(" ").filter((word) => word !== ""), { name: "agent" });
  return envoyArgs(settings, "test.json", epoch).join(" ");
}

const HEAD = "-c test.json --drain-time-s 45 --drain-strategy immediate --local-address-ip-version v4 " +
  "--file-flush-interval-msec 1000";

Deno.test("envoyArgs: Istio's arguments in Istio's order", async () => {
  assert.equal(
    await args(""),
    `${HEAD} --disable-hot-restart --allow-unknown-static-fields -l warning --skip-deprecated-logs`,
  );
  const env = {
    ISTIO_ENVOY_ENABLE_CORE_DUMP: "true",
    ISTIO_BOOTSTRAP_OVERRIDE: "o.json",
    PROXY_CONFIG: "fileFlushMinSizeKb: 8",
  };
  assert.equal(
    await args("--proxyLogLevel trace,misc:error --concurrency 8", env),
    `${HEAD} --disable-hot-restart --allow-unknown-static-fields --file-flush-min-size-kb 8 -l trace ` +
      '--component-log-level misc:error --skip-deprecated-logs --enable-core-dump --config-yaml {"key":"value"} --concurrency 8',
  );
});

Deno.test("envoyArgs: with hot restart each Envoy has its epoch", async () => {
  const restart = (epoch: number) => `${HEAD} --restart-epoch ${epoch} --parent-shutdown-time-s 60`;
  assert.ok((await args("--watch", {}, 0)).startsWith(`${restart(0)} --allow-unknown-static-fields`));
  assert.ok((await args("--watch --base-id 7", {}, 3)).startsWith(`${restart(3)} --base-id 7 --allow`));
});
