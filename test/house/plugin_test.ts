/** `plugin/kubectl-mesh` gets the packages that the program uses, in the versions of the checkout, and none of tests. */
import assert from "node:assert/strict";
import { filesBelow, read } from "./source.ts";

interface Config {
  readonly imports: Readonly<Record<string, string>>;
  readonly unstable: readonly string[];
}

interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, { readonly integrity: string; readonly dependencies?: readonly string[] }>>;
  readonly workspace: { readonly dependencies: readonly string[] };
}

const LOCK = "plugin/deno.lock";
const config = (path: string): Config => JSON.parse(read(path));
const lock = (path: string): Lock => JSON.parse(read(path));

/** The packages that the sources name, without their tests. */
function usedPackages(): Set<string> {
  const sources = filesBelow("src").filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"));
  const names = Object.keys(config("deno.json").imports);
  const texts = sources.map((file) => read(file));
  const isUsed = (name: string) =>
    texts.some((text) => text.includes(`from "${name}"`) || text.includes(`import("${name}")`));
  return new Set(names.filter(isUsed));
}

/** The part of a lock file that these packages need. */
function lockOf(all: Lock, wanted: ReadonlySet<string>): Lock {
  const specifiers = Object.fromEntries(Object.entries(all.specifiers).filter(([name]) => wanted.has(name)));
  const npm: Record<string, Lock["npm"][string]> = {};
  const add = (key: string) => {
    const found = all.npm[key];
    if (found === undefined || key in npm) return;
    npm[key] = found;
    for (const name of found.dependencies ?? []) {
      add(name.lastIndexOf("@") > 0 ? name : Object.keys(all.npm).find((each) => each.startsWith(`${name}@`)) ?? "");
    }
  };
  for (const [name, version] of Object.entries(specifiers)) add(`${name.replace(/^npm:|@[^@]*$/g, "")}@${version}`);
  const sorted = Object.fromEntries(
    Object.keys(all.npm).flatMap((key) => npm[key] === undefined ? [] : [[key, npm[key]]]),
  );
  const dependencies = all.workspace.dependencies.filter((name) => wanted.has(name));
  return { version: all.version, specifiers, npm: sorted, workspace: { dependencies } };
}

Deno.test("the plugin's packages are those that the program uses, as deno.json names them", () => {
  const [all, own] = [config("deno.json"), config("plugin/deno.json")];
  assert.deepEqual(new Set(Object.keys(own.imports)), usedPackages());
  for (const [name, version] of Object.entries(own.imports)) assert.equal(version, all.imports[name]);
  assert.deepEqual(own.unstable, all.unstable);
});

Deno.test("the plugin's lock file is the part of deno.lock that it needs; UPDATE=1 writes it", async () => {
  const wanted = new Set(
    Object.values(config("plugin/deno.json").imports).map((name) => /^npm:@?[^@]+@[^/]+/.exec(name)?.[0] ?? name),
  );
  const text = `${JSON.stringify(lockOf(lock("deno.lock"), wanted), null, 2)}\n`;
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(new URL(`../../${LOCK}`, import.meta.url), text);
  assert.equal(read(LOCK), text);
});
