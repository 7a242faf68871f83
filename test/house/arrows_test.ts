import assert from "node:assert/strict";
import { type Import, importsOf, objection } from "./arrows.ts";
import { loadedWith } from "./reached.ts";
import { filesBelow, read } from "./source.ts";

const SOURCES = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));

Deno.test("every import in src follows the arrows of docs/architecture.md", () => {
  const wrong = SOURCES.flatMap((path) => importsOf(path, read(path))).flatMap((each) => {
    const reason = objection(each);
    return reason === undefined ? [] : [`${each.from} -> ${each.to}: ${reason}`];
  });
  assert.deepEqual(wrong, []);
});

Deno.test("importsOf() finds statements over lines, types, exports and calls, not comments", () => {
  const text = `import {\n  a,\n} from "../b/mod.ts";\nimport type { T } from "./t.ts";\nexport * from "./e.ts";\n` +
    `// import "./no.ts";\nconst x = await import("./lazy.ts");\nimport "npm:zod";\n`;
  assert.deepEqual(importsOf("src/a/x.ts", text).map(({ to, how }) => `${how} ${to}`), [
    "eager src/b/mod.ts",
    "type src/a/t.ts",
    "eager src/a/e.ts",
    "lazy src/a/lazy.ts",
  ]);
});

const CASES: readonly (readonly [string, string, Import["how"], boolean])[] = [
  ["src/main.ts", "src/cli/mod.ts", "eager", true],
  ["src/main.ts", "src/inject/mod.ts", "eager", false],
  ["src/cli/commands/inject/inject.ts", "src/inject/mod.ts", "lazy", true],
  ["src/cli/commands/inject/inject.ts", "src/inject/mod.ts", "type", true],
  ["src/cli/commands/inject/inject.ts", "src/inject/mod.ts", "eager", false],
  ["src/cli/commands/inject/inject.ts", "src/inject/document/report.ts", "lazy", false],
  ["src/yaml/read.ts", "src/inject/mod.ts", "lazy", false],
  ["src/yaml/read.ts", "src/kube/mod.ts", "type", false],
  ["src/kube/client/api.ts", "src/yaml/mod.ts", "eager", true],
  ["src/kube/client/api.ts", "src/yaml/read/parse.ts", "eager", false],
  ["src/kube/client/api.ts", "src/kube/patch/order.ts", "eager", true],
  ["src/kube/client/api.ts", "src/platform/world.ts", "type", true],
  ["src/golang/net/parse.ts", "src/base/text/mod.ts", "eager", true],
  ["src/golang/net/parse.ts", "src/base/text/utf8.ts", "eager", false],
  ["src/golang/go_value.ts", "src/golang/net/parse.ts", "eager", false],
  ["src/platform/log.ts", "src/istio/mod.ts", "lazy", false],
  ["src/base/errors.ts", "src/platform/world.ts", "type", false],
  ["src/agent/run.ts", "src/kube/patch/order.ts", "eager", true],
  ["src/yaml/read.ts", "src/base/errors.ts", "eager", true],
  ["src/webhook/mod.ts", "src/inject/mod.ts", "eager", true],
  ["src/check/mod.ts", "src/inject/mod.ts", "eager", true],
  ["src/explain/kernel/rules.ts", "src/iptables/mod.ts", "eager", true],
  ["src/explain/kernel/rules.ts", "src/iptables/plan/plan.ts", "eager", false],
  ["src/explain/kernel/rules.ts", "src/inject/mod.ts", "eager", false],
  ["src/check/checks/x.ts", "src/explain/mod.ts", "eager", true],
  ["src/agent/mod.ts", "src/inject/mod.ts", "eager", false],
  ["src/iptables/mod.ts", "src/cli/mod.ts", "eager", false],
  ["src/inject/mod.ts", "src/main.ts", "eager", false],
  ["src/inject/mod.ts", "tools/x.ts", "eager", false],
  ["src/inject/mod.ts", "src/version.ts", "eager", true],
];

Deno.test("objection() allows the arrows of docs/architecture.md and no others", () => {
  for (const [from, to, how, allowed] of CASES) {
    assert.equal(objection({ from, to, how }) === undefined, allowed, `${how} ${from} -> ${to}`);
  }
});

/** Every pod runs these: each millisecond and megabyte counts once per pod. */
const CONTAINERS = ["src/agent/run.ts", "src/wait/run.ts"];
const HEAVY = /^src\/(kube\/mod|golang\/gotemplate\/mod|base\/protobuf)\.ts$|^src\/(inject|iptables)\//;

Deno.test("what containers start with has no types of Kubernetes, no engine of templates and no protobuf", () => {
  for (const start of CONTAINERS) {
    const loaded = [...loadedWith(start)];
    assert.ok(loaded.includes("src/base/errors.ts"), start);
    assert.deepEqual(loaded.filter((path) => HEAVY.test(path)), [], start);
  }
  assert.ok([...loadedWith("src/inject/mod.ts")].some((path) => HEAVY.test(path)));
});

/** Records of commands that containers start. */
const STARTED = [
  "wait",
  "agent/agent",
  "agent/start_agent",
  "iptables",
  "agent/pilot_agent",
  "webhook/serve",
];
const FOR_PEOPLE = /^src\/cli\/(manifests\/.*|views\/.*|commands\/(inject|check|version).*)\.ts$/;

Deno.test("a command that a container starts does not load what only people's commands need", () => {
  for (const start of ["src/cli/mod.ts", ...STARTED.map((name) => `src/cli/commands/${name}.ts`)]) {
    assert.deepEqual([...loadedWith(start)].filter((path) => FOR_PEOPLE.test(path)), [], start);
  }
  assert.ok([...loadedWith("src/cli/commands/inject/inject_run.ts")].some((path) => FOR_PEOPLE.test(path)));
});
