import assert from "node:assert/strict";
import { namesIn } from "../compile/source_state.ts";
import { findingsOf } from "./workflow_rules.ts";

const FOLDER = decodeURIComponent(new URL("../../.github/workflows", import.meta.url).pathname);
const names = await namesIn(FOLDER);

Deno.test("there are workflows, and nothing but workflows", () => {
  assert.equal(names.includes("release.yml"), true);
  assert.deepEqual(names.filter((name) => !name.endsWith(".yml")), []);
});

for (const name of names) {
  Deno.test(`${name}: actions by commit, images by digest, packages by hash, permissions by job`, async () => {
    assert.deepEqual(findingsOf(await Deno.readTextFile(`${FOLDER}/${name}`)), []);
  });
}

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const GOOD = `permissions: {}
jobs:
  one:
    permissions: {}
    container: debian:12@sha256:${"a".repeat(64)}
    steps:
      - uses: actions/checkout@${COMMIT} # v4.3.1
      - run: pip download --require-hashes -r requirements.txt
`;

/** What is changed in a good workflow, and the finding. */
const BROKEN: readonly (readonly [from: string, to: string, finding: RegExp])[] = [
  [`@${COMMIT} # v4.3.1`, "@v4", /^line 7: no commit and tag/],
  [COMMIT, COMMIT.slice(1), /^line 7: no commit and tag/],
  [" # v4.3.1", "", /^line 7: no commit and tag/],
  [`actions/checkout@${COMMIT} # v4.3.1`, "docker://debian:12", /^line 7: no commit and tag/],
  [`@sha256:${"a".repeat(64)}`, "", /^job one: the image "debian:12" has no digest/],
  [`container: debian:12@sha256:${"a".repeat(64)}`, "container: {image: debian}", /^job one: the image "debian"/],
  [`container: debian:12@sha256:${"a".repeat(64)}`, "services: {db: {image: etcd}}", /^job one: the image "etcd"/],
  ["    steps:", "    continue-on-error: true\n    steps:", /^line 6: continue-on-error/],
  ["permissions: {}\njobs", "jobs", /^the workflow's own permissions/],
  ["permissions: {}\njobs", "permissions: write-all\njobs", /^the workflow's own permissions/],
  ["    permissions: {}\n", "", /^job one: no permissions by name/],
  ["    permissions: {}\n", "    permissions: read-all\n", /^job one: no permissions by name/],
  ["--require-hashes ", "", /^job one: without --require-hashes: pip download/],
];

Deno.test("findingsOf() has a finding for each change of a good workflow", () => {
  assert.deepEqual(findingsOf(GOOD), []);
  for (const [from, to, finding] of BROKEN) {
    const text = GOOD.replace(from, to);
    assert.notEqual(text, GOOD);
    const found = findingsOf(text);
    assert.equal(found.length, 1, `${to}: ${found.join("; ")}`);
    assert.match(found[0] ?? "", finding);
  }
});
