import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { realWorld } from "../../platform/deno/world.ts";
import type { World } from "../../platform/world.ts";
import { readSettings } from "../settings/read.ts";
import { bootstrapText, configFile, removeBootstrap, runAgentBootstrap, writeBootstrap } from "./write.ts";

function settingsOf(world: World, words: readonly string[] = []) {
  return readSettings(world, words, { name: "agent" });
}

function pod(env: Record<string, string>, files: Record<string, string> = {}) {
  return fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env }, files });
}

const warn = (text: string) => assert.fail(text);

const IMAGES = "./var/lib/istio/envoy/envoy_bootstrap_tmpl.json";

/** The bootstrap of a pod whose image has a template, and what is said of it. */
async function withImages(text: string, env: Record<string, string> = {}, words: readonly string[] = []) {
  const world = pod({ POD_NAME: "a", ...env }, { [IMAGES]: text, named: '{"named": {}}' });
  const warnings: string[] = [];
  const made = await bootstrapText(world, await settingsOf(world, words), (warning) => void warnings.push(warning));
  return { made, warnings };
}

Deno.test("bootstrapText: the image's template is the default, trailing commas included", async () => {
  const text = '{"node": {"id": "{{ .nodeID }}"},}';
  assert.deepEqual(await withImages(text), {
    made: '{"node": {"id": "sidecar~10.0.0.5~a.~.svc.cluster.local"},}',
    warnings: [],
  });
  assert.equal((await withImages(text, { ISTIO_BOOTSTRAP: "named" })).made, '{"named": {}}');
  const direct = await withImages(text, {}, ["--xds", "direct"]);
  assert.ok("static_resources" in JSON.parse(direct.made));
});

Deno.test("bootstrapText: an invalid template of the image gives a warning and the built-in bootstrap", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{"node": {"id": "{{ .nodeID }}"}}', /YAML|mapping|quote|flow|expected/i],
    ["{{ .nodeID | none }}", /Cannot render .*function "none" not defined/],
    ["text", /does not render a mapping/],
  ];
  for (const [text, warning] of cases) {
    const { made, warnings } = await withImages(text, { POD_NAME: 'a"b' });
    assert.equal(JSON.parse(made).node.id, 'sidecar~10.0.0.5~a"b.~.svc.cluster.local');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? "", warning);
    assert.match(warnings[0] ?? "", /; the built-in bootstrap is used instead$/);
  }
});

Deno.test("bootstrapText: the same data, as JSON for agent and as Istio's text for pilot-agent", async () => {
  const world = pod({ POD_NAME: "a" });
  const textFor = async (name: "agent" | "pilot-agent") =>
    await bootstrapText(world, await readSettings(world, [], { name }), warn);
  const [own, istios] = [await textFor("agent"), await textFor("pilot-agent")];
  assert.equal(own, `${JSON.stringify(JSON.parse(own), null, 2)}\n`);
  assert.notEqual(istios, own);
  assert.deepEqual(JSON.parse(istios), JSON.parse(own));
});

const template = (text: string, name = "t.tmpl") => pod({ ISTIO_BOOTSTRAP: name }, { [name]: text });

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The real world with another environment. */
function podOn(env: Record<string, string>): World {
  return { ...realWorld(), env: { get: (name) => env[name], all: () => env } };
}

Deno.test("writeBootstrap: private folder and file, and LightStep's token", () =>
  inFolder(async (folder) => {
    const tracing = { lightstep: { address: "l:1", accessToken: "secret" } };
    const world = podOn({ PROXY_CONFIG: JSON.stringify({ configPath: `${folder}/a/proxy`, tracing }) });
    const settings = await settingsOf(world);
    const file = await writeBootstrap(world, settings, warn);
    assert.equal(file, `${folder}/a/proxy/envoy-rev.json`);
    assert.ok(JSON.parse(await Deno.readTextFile(file)).node);
    assert.equal(await Deno.readTextFile(`${folder}/a/proxy/lightstep_access_token.txt`), "secret");
    const modes = await Promise.all(
      ["", "/envoy-rev.json", "/lightstep_access_token.txt"].map((name) =>
        world.files.stat(`${folder}/a/proxy${name}`)
      ),
    );
    assert.deepEqual(modes.map((facts) => facts?.mode), [0o700, 0o600, 0o600]);
    await removeBootstrap(world, settings);
    assert.equal(await world.files.stat(file), undefined);
  }));

Deno.test("writeBootstrap: a failing template leaves the old file", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/envoy-rev.json`, "old");
    await Deno.writeTextFile(`${folder}/t`, "{{ .nodeID }}{{ template `none` }}");
    const world = podOn({ ISTIO_BOOTSTRAP: `${folder}/t`, PROXY_CONFIG: `configPath: ${folder}` });
    const settings = await settingsOf(world);
    await assert.rejects(
      writeBootstrap(world, settings, warn),
      /Cannot render the bootstrap template ".*\/t": template:/,
    );
    assert.equal(await Deno.readTextFile(`${folder}/envoy-rev.json`), "old");
  }));

Deno.test("writeBootstrap: a custom configuration file is used as is and never removed", async () => {
  const env = { PROXY_CONFIG: "customConfigFile: mine.yaml" };
  const world = pod(env, { "mine.yaml": "{}" });
  const settings = await settingsOf(world);
  assert.equal(await writeBootstrap(world, settings, warn), "mine.yaml");
  await removeBootstrap(world, settings);
  assert.deepEqual([...world.content.keys()], ["mine.yaml"]);
  const without = pod(env);
  await assert.rejects(writeBootstrap(without, await settingsOf(without), warn), /"mine\.yaml" does not exist/);
});

Deno.test("configFile: the template's extension selects YAML or JSON", async () => {
  const name = async (file: string) => configFile(await settingsOf(template("", file)));
  assert.equal(await name("a.json"), "etc/istio/proxy/envoy-rev.json");
  assert.equal(await name("a.yaml"), "etc/istio/proxy/envoy-rev.yaml");
  assert.equal(await name("a.yaml.tmpl"), "etc/istio/proxy/envoy-rev.yaml");
  assert.equal(await name("yaml"), "etc/istio/proxy/envoy-rev.json");
});

Deno.test("runAgentBootstrap: bootstrap on stdout, warnings on stderr, no file written", async () => {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ENVOY_STATUS_PORT: "x" } });
  assert.equal(await runAgentBootstrap(world, ["router"]), 0);
  assert.match(JSON.parse(world.said.stdout).node.id, /^router~10\.0\.0\.5~/);
  assert.match(world.said.stderr, /^warning: "ENVOY_STATUS_PORT" cannot be "x"/);
  assert.equal(world.content.size, 0);
});

Deno.test("runAgentBootstrap: a custom file is printed as is", async () => {
  const env = { PROXY_CONFIG: "customConfigFile: mine.yaml" };
  const world = fakeWorld({ env, files: { "mine.yaml": "node: {}\n" } });
  await runAgentBootstrap(world, []);
  assert.equal(world.said.stdout, "node: {}\n");
});

Deno.test("runAgentBootstrap: invalid settings print nothing", async () => {
  const world = fakeWorld({ env: { PROXY_CONFIG: "drainDuration: 0s" } });
  await assert.rejects(runAgentBootstrap(world, []), /"drainDuration" must be a whole number of seconds/);
  assert.equal(world.said.stdout, "");
});
