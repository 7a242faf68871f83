import "ajv";
import "ajv-formats";
import "ajv-formats-draft2019";
import assert from "node:assert/strict";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { unzipSync } from "fflate";
import { parseYaml } from "../../src/yaml/mod.ts";
import { unpackTar } from "modern-tar";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { PLATFORMS } from "../compile/platforms.ts";
import { archiveOf } from "./archive.ts";
import { checksums } from "./checksums.ts";
import { homebrewFormula } from "./homebrew.ts";
import { krewManifest, SHORT_DESCRIPTION } from "./krew.ts";
import { npmPackages } from "./npm_packages.ts";
import { builderOf, provenance } from "./provenance.ts";
import { type Binary, type Document, document, type Release } from "./release.ts";
import { sbom } from "./sbom.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const RELEASE: Release = {
  version: "1.2.3",
  source: { commit: "c0ffee", seconds: 1_700_000_000 },
  homepage: "https://git.test/mesh",
  binaries: PLATFORMS.map((platform) => ({ platform, content: bytes(`program of ${platform.name}`) })),
  documents: [document("LICENSE", "licence"), document("README.md", "read me")],
};

async function archives(): Promise<ReadonlyMap<Binary, Document>> {
  const made = RELEASE.binaries.map(async (binary) => [binary, await archiveOf(RELEASE, binary)] as const);
  return new Map(await Promise.all(made));
}

async function filesOf({ name, content }: Document): Promise<Record<string, string>> {
  if (name.endsWith(".zip")) {
    const files = Object.entries(unzipSync(content));
    return Object.fromEntries(files.map(([path, data]) => [path, new TextDecoder().decode(data)]));
  }
  const entries = await unpackTar(new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip")));
  return Object.fromEntries(entries.map(({ header, data }) => [header.name, new TextDecoder().decode(data)]));
}

Deno.test("each platform has an archive with the program and the documents, the same bytes each time", async () => {
  const [one, other] = [[...(await archives()).values()], [...(await archives()).values()]];
  assert.deepEqual(one, other);
  assert.equal(one[0]?.name, "kubectl-mesh_1.2.3_linux_amd64.tar.gz");
  for (const [at, { platform }] of RELEASE.binaries.entries()) {
    const archive = one[at];
    assert.ok(archive !== undefined);
    assert.equal(archive.name.endsWith(".zip"), platform.name.startsWith("windows-"));
    assert.deepEqual(await filesOf(archive), {
      [`kubectl-mesh${platform.extension}`]: `program of ${platform.name}`,
      LICENSE: "licence",
      "README.md": "read me",
    });
  }
});

Deno.test("the time in a zip archive does not depend on the zone of the machine", async () => {
  const windows = RELEASE.binaries.find(({ platform }) => platform.format === "pe");
  assert.ok(windows !== undefined);
  const { content } = await archiveOf(RELEASE, windows);
  // 2023-11-14 22:13:20 UTC as MS-DOS writes it. Source: PKWARE APPNOTE 4.4.6.
  const [time, date] = [(22 << 11) | (13 << 5) | 10, ((2023 - 1980) << 9) | (11 << 5) | 14];
  assert.deepEqual([...content.subarray(10, 14)], [time & 255, time >> 8, date & 255, date >> 8]);
});

Deno.test("krew's manifest and Homebrew's formula have address and checksum of each archive", async () => {
  const made = await archives();
  const manifest = krewManifest(RELEASE, made);
  const formula = homebrewFormula(RELEASE, made);
  const value = JSON.parse(JSON.stringify(parseYaml(manifest)));
  assert.equal(value.metadata.name, "mesh");
  assert.equal(value.spec.version, "v1.2.3");
  assert.ok(SHORT_DESCRIPTION.length <= 50);
  const sums = new Map(
    checksums([...made.values()]).trimEnd().split("\n").map((line) => {
      const [sum = "", name = ""] = line.split("  ");
      return [`https://git.test/mesh/releases/download/v1.2.3/${name}`, sum];
    }),
  );
  assert.deepEqual(
    new Map(value.spec.platforms.map(({ uri, sha256 }: Record<string, string>) => [uri, sha256])),
    new Map([...made.values()].map(({ name }) => {
      const url = `https://git.test/mesh/releases/download/v1.2.3/${name}`;
      return [url, sums.get(url)];
    })),
  );
  assert.deepEqual(value.spec.platforms.map(({ bin }: Record<string, string>) => bin), [
    ...Array(4).fill("kubectl-mesh"),
    "kubectl-mesh.exe",
  ]);
  assert.match(formula, /zsh_completion\.install "completions\/_kubectl-mesh"/);
  const inFormula = [...formula.matchAll(/url "([^"]+)"\n +sha256 "([0-9a-f]{64})"/g)].map((
    [, url, sum],
  ) => [url, sum]);
  assert.deepEqual(
    new Map(inFormula.map(([url = "", sum]) => [url, sum])),
    new Map([...sums].filter(([url]) => !url.endsWith(".zip"))),
  );
});

const PACKAGES = [
  { name: "@a/b", version: "1.0.0", license: "MIT", integrity: `sha512-${bytes("x".repeat(64)).toBase64()}` },
  { name: "c", version: "2.0.0", license: "(MIT OR Apache-2.0)", integrity: undefined },
  { name: "d", version: "3.0.0", license: "a licence of its own", integrity: undefined },
  { name: "e", version: "4.0.0", license: undefined, integrity: undefined },
];

Deno.test("the bill of materials is valid by CycloneDX's schema, and the same each time", async () => {
  const text = sbom(RELEASE, PACKAGES);
  assert.equal(text, sbom(RELEASE, PACKAGES.toReversed()));
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  assert.equal(await validator.validate(text), null);
  assert.notEqual(await validator.validate(text.replace('"library"', '"libary"')), null);
  const { components, dependencies } = JSON.parse(text);
  assert.deepEqual(components.map(({ name }: { name: string }) => name), ["deno", "@a/b", "c", "d", "e"]);
  assert.equal(components[1].hashes[0].content, "78".repeat(64));
  assert.deepEqual(components.map(({ licenses }: { licenses: unknown }) => licenses), [
    [{ license: { id: "MIT" } }],
    [{ license: { id: "MIT" } }],
    [{ expression: "(MIT OR Apache-2.0)" }],
    [{ license: { name: "a licence of its own" } }],
    undefined,
  ]);
  assert.equal(dependencies.find(({ ref }: { ref: string }) => ref.startsWith("pkg:generic/")).dependsOn.length, 5);
});

Deno.test("npmPackages() are the packages of the bundle, with licences of Deno's cache and checksums of the lock", async () => {
  await using folder = await temporaryFolder();
  const put = async (path: string, text: string) => {
    await Deno.mkdir(`${folder.path}/${path.replace(/[^/]*$/, "")}`, { recursive: true });
    await Deno.writeTextFile(`${folder.path}/${path}`, text);
  };
  await put("bundle/main.js", '// npm/@a/b/1.0.0/x.js\n// src/main.ts\nvar c = f({\n  "npm/c/2.0.0/c.js"(exports) {\n');
  await put("npm/registry.test/@a/b/1.0.0/package.json", '{"license": "MIT"}');
  await put("npm/registry.test/c/2.0.0/package.json", "{}");
  const lock = { npm: { "@a/b@1.0.0_c@2.0.0": { integrity: "sha512-AA==" }, "c@2.0.0": { integrity: "sha512-BB==" } } };
  const find = (text: object) => npmPackages(`${folder.path}/bundle`, JSON.stringify(text), `${folder.path}/npm`);
  assert.deepEqual(await find(lock), [
    { name: "@a/b", version: "1.0.0", license: "MIT", integrity: "sha512-AA==" },
    { name: "c", version: "2.0.0", license: undefined, integrity: "sha512-BB==" },
  ]);
  await assert.rejects(find({ npm: {} }), /@a\/b@1\.0\.0 is in the program, but not in deno\.lock/);
});

Deno.test("provenance names each file, the commit, the runtimes and the builder", () => {
  const env: Record<string, string> = {
    GITHUB_SERVER_URL: "https://git.test",
    GITHUB_REPOSITORY: "mesh",
    GITHUB_WORKFLOW_REF: "mesh/.github/workflows/release.yml@refs/tags/v1.2.3",
    GITHUB_RUN_ID: "7",
  };
  const statement = (of: Record<string, string>) =>
    JSON.parse(
      provenance(RELEASE, [document("a", "x")], { builder: builderOf((name) => of[name]), lock: bytes("lock") }),
    );
  const { _type, subject, predicateType, predicate } = statement(env);
  assert.equal(_type, "https://in-toto.io/Statement/v1");
  assert.equal(predicateType, "https://slsa.dev/provenance/v1");
  const sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
  assert.deepEqual(subject, [{ name: "a", digest: { sha256: sum } }]);
  const { resolvedDependencies } = predicate.buildDefinition;
  assert.deepEqual(resolvedDependencies[0].digest, { gitCommit: "c0ffee" });
  assert.equal(resolvedDependencies.length, 2 + PLATFORMS.length);
  assert.equal(predicate.runDetails.builder.id, "https://git.test/mesh/.github/workflows/release.yml@refs/tags/v1.2.3");
  assert.equal(predicate.runDetails.metadata.invocationId, "https://git.test/mesh/actions/runs/7");
  assert.equal(statement({}).predicate.runDetails.builder.id, "urn:kubectl-mesh:built-by-hand");
});
