import assert from "node:assert/strict";
import { bundle } from "../compile/build.ts";
import { RUNTIME_VERSION } from "../compile/platforms.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { testWhen } from "../../test/support/test_when.ts";
import { headingOf, THIRD_PARTY, thirdPartyLicenses } from "./licenses.ts";
import { npmPackages } from "./npm_packages.ts";
import { document } from "./release.ts";
import { sbom } from "./sbom.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const CACHE = Deno.env.get("DENO_DIR");
const otherDeno = Deno.version.deno === RUNTIME_VERSION ? undefined : "the bundler of another Deno is pinned";
const missing = otherDeno ?? (CACHE === undefined ? "DENO_DIR names no cache" : undefined);

/** The text below the heading of a component. */
function textOf(licenses: string, name: string, version: string): string {
  const [, after = ""] = licenses.split(`${headingOf({ name, version })}\n`);
  return after.split("\n===== ")[0]?.trim() ?? "";
}

testWhen(
  missing,
  "every component of the bill of materials of the program has its licence in the archive",
  async () => {
    await using folder = await temporaryFolder();
    const made = await bundle({ root: ROOT, cache: `${CACHE}/..`, work: folder.path });
    const npm = `${CACHE}/npm`;
    const packages = await npmPackages(made, await Deno.readTextFile(`${ROOT}/deno.lock`), npm);
    const licenses = await thirdPartyLicenses(packages, ROOT, npm);
    const release = {
      version: "1.2.3",
      source: { commit: "c0ffee", seconds: 1 },
      homepage: "https://git.test/mesh",
      binaries: [],
      documents: [document(THIRD_PARTY, licenses)],
    };
    const { components }: { components: { name: string; group?: string; version: string }[] } = JSON.parse(
      sbom(release, packages),
    );
    assert.equal(components.length, packages.length + 1, "Deno and every package");
    const names = components.map(({ name }) => name);
    assert.deepEqual(["deno", "js-yaml", "zod", "re2js"].filter((name) => !names.includes(name)), []);
    for (const { name, group, version } of components) {
      const full = group === undefined ? name : `${group}/${name}`;
      const text = textOf(licenses, full, version);
      assert.match(text, /copyright|licen[cs]e/i, `${full} ${version}`);
      assert.equal(text.length > 400, true, `${full} ${version}`);
    }
    assert.equal(textOf(licenses, "v8", `of Deno ${RUNTIME_VERSION}`).length > 400, true);
  },
);

Deno.test("thirdPartyLicenses() takes all notices of a package, and refuses a package without one", async () => {
  await using folder = await temporaryFolder();
  const own = `${folder.path}/registry.test/@a/b/1.0.0`;
  await Deno.mkdir(own, { recursive: true });
  await Deno.writeTextFile(`${own}/license.md`, "terms\r\nand more");
  await Deno.writeTextFile(`${own}/NOTICE`, "who made it");
  await Deno.writeTextFile(`${own}/index.js`, "code");
  const one = { name: "@a/b", version: "1.0.0", license: "MIT", integrity: undefined };
  const text = await thirdPartyLicenses([one], ROOT, folder.path);
  assert.equal(textOf(text, "@a/b", "1.0.0"), "who made it\nterms\nand more");
  await Deno.remove(`${own}/license.md`);
  await Deno.remove(`${own}/NOTICE`);
  await assert.rejects(thirdPartyLicenses([one], ROOT, folder.path), /@a\/b 1\.0\.0 contains no licence/);
});
