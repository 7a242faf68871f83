import assert from "node:assert/strict";
import { fakeWorld } from "../../../core/world/mod.ts";
import { preparedConfigurations } from "./prepared_configurations.ts";

type Env = Record<string, string>;
type Builds = { readonly commit?: string; readonly second?: string };

const CONFIGURATION = { config: { text: "templates: {}", file: "c" }, values: undefined, mesh: undefined };
const FILE = "/cache/kubectl-mesh/prepared-configurations";

/** What a second run finds of what the first one kept. */
function kept(env: Env, { commit = "c0ffee", second = commit }: Builds = {}): string | undefined {
  const world = fakeWorld({ env });
  const first = preparedConfigurations(world, commit)(CONFIGURATION);
  assert.equal(first.text, undefined);
  first.keep(() => "{}");
  return preparedConfigurations(world, second)(CONFIGURATION).text;
}

Deno.test("preparedConfigurations: a second run finds what the first one kept, in the user's folder for caches", () => {
  for (const env of [{ HOME: "/home/ada" }, { XDG_CACHE_HOME: "/cache" }, { HOME: "/h", XDG_CACHE_HOME: "cache" }]) {
    assert.equal(kept(env), "{}");
  }
});

Deno.test("preparedConfigurations: nothing is kept without a folder, if it is switched off, or in a build of changed files", () => {
  for (const env of [{}, { HOME: "relative" }, { HOME: "/home/ada", MESH_CACHE_DISABLED: "1" }]) {
    assert.equal(kept(env), undefined);
  }
  assert.equal(kept({ HOME: "/home/ada", MESH_CACHE_DISABLED: "0" }), "{}");
  assert.equal(kept({ HOME: "/home/ada" }, { commit: "c0ffee-dirty" }), undefined);
});

Deno.test("preparedConfigurations: another build, other texts, and texts that are cut elsewhere find nothing", () => {
  assert.equal(kept({ HOME: "/home/ada" }, { second: "decaf" }), undefined);
  const world = fakeWorld({ env: { XDG_CACHE_HOME: "/cache" } });
  const of = (config: string, values?: string, mesh?: string) =>
    preparedConfigurations(world, "c0ffee")({
      config: { text: config, file: "c" },
      values: values === undefined ? undefined : { text: values, file: "v" },
      mesh: mesh === undefined ? undefined : { text: mesh, file: "m" },
    });
  of("ab", "c").keep(() => "{}");
  assert.equal(of("ab", "c").text, "{}");
  for (const other of [of("ab"), of("a", "bc"), of("ab", undefined, "c"), of("ab", "c", ""), of("ab ", "c")]) {
    assert.equal(other.text, undefined);
  }
});

Deno.test("preparedConfigurations: what was damaged is not read, and is kept again", async () => {
  const world = fakeWorld({ env: { XDG_CACHE_HOME: "/cache" } });
  const run = () => preparedConfigurations(world, "c0ffee")(CONFIGURATION);
  run().keep(() => '{"a":1}');
  const text = await world.files.readText(FILE);
  for (const damaged of [text.replace('"a"', '"b"'), text.slice(0, -4), text.replace("{}", "[]"), ""]) {
    world.files.writeText(FILE, damaged);
    assert.equal(run().text, undefined);
    run().keep(() => '{"a":1}');
    assert.equal(run().text, '{"a":1}');
  }
});

Deno.test("preparedConfigurations: a configuration that cannot be kept is not", () => {
  const world = fakeWorld({ env: { XDG_CACHE_HOME: "/cache" } });
  preparedConfigurations(world, "c0ffee")(CONFIGURATION).keep(() => undefined);
  assert.equal(preparedConfigurations(world, "c0ffee")(CONFIGURATION).text, undefined);
});
