/** Modules of WasmPlugins: the agent fetches them, and Envoy gets files. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Program } from "../agent/support/program.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { askingResources, wasmExtension } from "./support/resources.ts";
import { wasmModule } from "./support/wasm_module.ts";

const MAIN = decodeURIComponent(new URL("support/registry_main.ts", import.meta.url).pathname);
const SERVER = "other.istio-system.svc:5000";
const USER = "user:secret-of-the-registry";
const SECRET = JSON.stringify({ auths: { [SERVER]: { auth: btoa(USER) } } });

testWhen(
  missing,
  "Wasm: Envoy runs modules that the agent fetched, and fails as the plugin says without them",
  async (t) => {
    await using mesh = await Mesh.create();
    const { a, plane, network } = mesh;
    const module = `${a.folder}/served.wasm`;
    await Deno.writeFile(module, wasmModule());
    const argv = [Deno.execPath(), "run", "--quiet", "--no-check", "--allow-all", MAIN, module, USER];
    await using registry = new Program(argv, { cwd: a.folder, env: {}, netns: network.plane.path, seconds: 120 });
    await until(() => registry.text.includes("started"), () => `No registry: ${registry.text}`);
    const sha256 = createHash("sha256").update(wasmModule()).digest("hex");
    const { a: agent } = await mesh.startBoth({ env: { WASM_INSECURE_REGISTRIES: SERVER, HOME: a.folder } });

    /** Gives a plugin to `a`, and waits until requests to `b` get this answer. */
    async function answers(extension: object, expected: { readonly status: number; readonly header?: string }) {
      await plane.give("a.test", [...askingResources({ extension: "test.wasm" }), extension]);
      let last = "";
      await until(async () => {
        const { status, headers } = await mesh.ask();
        last = `${status} ${headers["x-wasm"]}`;
        return status === expected.status && headers["x-wasm"] === expected.header;
      }, () => `The answer is ${last}:\n${agent.text}`);
    }

    await t.step("a file of a web server, with its checksum", async () => {
      await answers(wasmExtension({ uri: `http://${SERVER}/module.wasm`, sha256 }), { status: 200, header: "yes" });
      const { ino } = await Deno.stat(`${a.folder}/etc/istio/proxy/wasm/${sha256}.wasm`);
      assert.notEqual(ino, null);
    });
    await t.step("a wrong checksum: requests are refused", async () => {
      await answers(wasmExtension({ uri: `http://${SERVER}/module.wasm`, sha256: "0".repeat(64) }), { status: 403 });
      assert.match(agent.text, /module\.wasm" of test\.wasm, so requests are rejected: The SHA-256 of the module is /);
    });
    await t.step("no module, but FAIL_OPEN: requests pass", async () => {
      const extension = wasmExtension({ uri: `http://${SERVER}/text.wasm`, isFailOpen: true });
      await answers(extension, { status: 200 });
      assert.match(agent.text, /requests pass without the module: The file is not a Wasm module/);
    });
    await t.step("an image of a registry with a pull secret, which nobody else sees", async () => {
      const uri = `oci://${SERVER}/team/module:latest`;
      await answers(wasmExtension({ uri }), { status: 403 });
      assert.match(agent.text, /wants a password: the WasmPlugin has no pull secret/);
      await answers(wasmExtension({ uri, secret: SECRET, version: "2" }), { status: 200, header: "yes" });
      const { text } = await (await a.application()).ask("http://127.0.0.1:15000/config_dump?include_eds");
      assert.match(text, /local.*wasm/s);
      assert.doesNotMatch(text + agent.text, /secret-of-the-registry|ISTIO_META_WASM/);
    });
    await t.step("a TypedStruct, and a password of Docker's file", async () => {
      const plugin = { uri: `oci://${SERVER}/team/module:latest`, isStruct: true };
      await answers(wasmExtension({ ...plugin, version: "3" }), { status: 403 });
      await Deno.mkdir(`${a.folder}/.docker`);
      await Deno.writeTextFile(`${a.folder}/.docker/config.json`, SECRET);
      await answers(wasmExtension({ ...plugin, version: "4" }), { status: 200, header: "yes" });
    });
    await t.step("metrics", async () => {
      const { text } = await (await a.application()).ask("http://127.0.0.1:15020/metrics");
      assert.match(text, /istio_agent_wasm_remote_fetch_count\{result="success"\} 3/);
      assert.match(text, /istio_agent_wasm_remote_fetch_count\{result="checksum_mismatched"\} 1/);
    });
  },
);
