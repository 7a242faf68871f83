import assert from "node:assert/strict";
import { EXIT } from "../../../base/errors.ts";
import { parseYaml } from "../../../yaml/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { main } from "../../mod.ts";

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {sidecar.istio.io/inject: "false"}}
    spec: {containers: [{name: app, image: app}]}
`;

function world(args: string, text = WEB) {
  return fakeWorld({ files: { "web.yaml": text }, args: ["check", "injection", ...args.split(" ").filter(Boolean)] });
}

Deno.test("check injection -f prints the answer, and what changes it", async () => {
  const fake = world("-f web.yaml -n shop");
  assert.equal(await main(fake), EXIT.ok);
  const [headline, why, where, blank, fix, place, end, ...more] = fake.said.stdout.split("\n");
  assert.equal(headline, 'deployment.apps/web in the namespace "shop": not injected');
  assert.equal(why, '  label "sidecar.istio.io/inject" is "false"');
  assert.equal(where, '    (spec.template.metadata.labels["sidecar.istio.io/inject"])');
  assert.equal(fix, 'fix: remove "sidecar.istio.io/inject" from spec.template.metadata.labels in');
  assert.equal(place, "  web.yaml");
  assert.deepEqual([blank, end, more], ["", "", []]);
});

Deno.test("check injection -o wide prints the rules in order", async () => {
  const fake = world("-f web.yaml -n shop -o wide");
  assert.equal(await main(fake), EXIT.ok);
  const [, , , heading, ...rows] = fake.said.stdout.split("\n");
  assert.match(heading ?? "", /^RULE +FIELD +VALUE +EFFECT$/);
  const rules = rows.slice(0, rows.indexOf("")).map((row) => row.split(/ {2,}/)[0]);
  assert.deepEqual(rules.slice(0, 5), ["webhook", "host-network", "ignored-namespace", "policy-known", "label"]);
});

Deno.test("check injection -o json is one object a line", async () => {
  const fake = world("-f web.yaml -o json", `${WEB}---\n${WEB.replace('"false"', '"true"')}`);
  assert.equal(await main(fake), EXIT.ok);
  const answers = fake.said.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(answers.map(({ injected, reason }) => [injected, reason]), [
    [false, "label-inject-false"],
    [true, "label-inject-true"],
  ]);
});

Deno.test("check injection -o yaml has the documents of JSON", async () => {
  const [yaml, json] = [world("-f web.yaml -o yaml"), world("-f web.yaml -o json")];
  assert.deepEqual([await main(yaml), await main(json)], [EXIT.ok, EXIT.ok]);
  assert.deepEqual(JSON.parse(JSON.stringify(parseYaml(yaml.said.stdout))), JSON.parse(json.said.stdout));
});

Deno.test("check injection: a pod that would be refused is exit code 1", async () => {
  const wrong = WEB.replace(
    'labels: {sidecar.istio.io/inject: "false"}',
    'annotations: {sidecar.istio.io/proxyCPU: "a lot"}',
  );
  assert.equal(await main(world("-f web.yaml", wrong)), EXIT.failed);
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ["", /No workload is named/],
  ["-A -f web.yaml", /--all-namespaces excludes a workload and files/],
  ["-A -n shop", /--all-namespaces/],
  ["-l app=web -f web.yaml", /--selector excludes a workload and files/],
  ["deployment/web -l app=web", /--selector excludes a workload and files/],
  ["-A -l app=web=x", /Invalid selector "app=web=x" in "--selector"/],
  ["web", /"web" is not a workload/],
  ["deploymnet/web", /The kind "deploymnet" is not a known workload kind/],
  ["deployment/web -f web.yaml", /Both the workload "deployment\/web" and files are named/],
  ["deployment/web other", /Unexpected argument "other"/],
  ["-f web.yaml -o name", /--output cannot be "name"/],
];

for (const [args, message] of WRONG) {
  Deno.test(`check injection ${args}: the command line is wrong`, async () => {
    const fake = world(args);
    assert.equal(await main(fake), EXIT.usage);
    assert.match(fake.said.stderr, message);
  });
}

Deno.test("check injection -f takes the release of a configuration that shows none", async () => {
  const template = '{{ with .ProxyConfig.Concurrency }}{{ fail "old" }}{{ end }}{metadata: {annotations: {a: b}}}';
  const files = {
    "c.yaml": JSON.stringify({ templates: { sidecar: template } }),
    "web.yaml": WEB.replace('"false"', '"true"'),
  };
  const run = async (...args: string[]) => {
    const fake = fakeWorld({
      files,
      args: ["check", "injection", "-f", "web.yaml", "--inject-config", "c.yaml", "-o", "json", ...args],
    });
    return [await main(fake), JSON.parse(fake.said.stdout).verdict];
  };
  assert.deepEqual(await run(), [EXIT.ok, "injected"]);
  assert.deepEqual(await run("--istio-version", "1.10"), [EXIT.failed, "refused"]);
});

Deno.test("check injection -f --fail-on: a finding is exit code 1", async () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: {name: load}
spec:
  template:
    metadata: {annotations: {sidecar.istio.io/proxyCpu: "1"}}
    spec: {containers: [{name: app, image: app}]}
`;
  const codes = await Promise.all(
    ["", "--fail-on warning", "--fail-on error", "--fail-on error --ignore-rules job-sidecar"].map((more) =>
      main(world(`-f web.yaml ${more}`, job))
    ),
  );
  assert.deepEqual(codes, [EXIT.ok, EXIT.failed, EXIT.failed, EXIT.ok]);
  const named = fakeWorld({ args: ["check", "injection", "deployment/web", "--fail-on", "error"] });
  assert.equal(await main(named), EXIT.usage);
});
