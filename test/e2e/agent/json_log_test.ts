/** With JSON logs every line of the program is JSON, and none holds a secret. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { MeshPod, missing } from "./support/mesh_pod.ts";

function testLog(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(missing, `JSON log of the agent: ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

/** Arguments and variables that set the log format. */
const SETTINGS: readonly { readonly args: readonly string[]; readonly env: Record<string, string> }[] = [
  { args: ["agent", "--log-format", "json"], env: {} },
  { args: ["agent"], env: { MESH_LOG_FORMAT: "json" } },
  { args: ["pilot-agent", "proxy", "sidecar", "--log_as_json"], env: {} },
];

/** The lines as data. Fails at the first that is no JSON object with a text and a level. */
function records(text: string): readonly { readonly text: string; readonly level: string }[] {
  return text.trimEnd().split("\n").map((line) => {
    const { message, msg, level } = JSON.parse(line);
    assert.equal(typeof (message ?? msg), "string", line);
    assert.equal(typeof level, "string", line);
    return { text: message ?? msg, level: level.toLowerCase() };
  });
}

const SECRET = "s3cret-token";

testLog("all lines are JSON, Envoy's too, and none has the token", async (pod) => {
  const tracing = { lightstep: { address: "lightstep.example:80", accessToken: SECRET } };
  for (const { args, env } of SETTINGS) {
    const agent = await pod.startReady([...args, "--proxyLogLevel", "info", "--log_output_level", "debug"], { env });
    agent.signal("SIGTERM");
    await agent.until("SIGTERM: draining for");
    agent.signal("SIGTERM");
    const { code, stdout, stderr } = await agent.end;
    assert.deepEqual([code, stdout], [0, ""]);
    const texts = records(stderr).map(({ text }) => text);
    // Lines of Envoy before and after it reads its bootstrap.
    assert.ok(texts.some((text) => text.includes("initializing epoch 0")));
    assert.ok(texts.includes("starting main dispatch loop"));
    assert.match(texts.at(-1) ?? "", /^Envoy \(epoch 0\) exited with code 0$/);
  }
  const hidden = pod.start(["agent", "--log-format", "json"], { env: pod.env({ tracing, binaryPath: "/bin/false" }) });
  const { stderr } = await hidden.end;
  assert.match(stderr, /lightstep\.example/);
  assert.equal(stderr.includes(SECRET), false, stderr);
  assert.ok(records(stderr).length > 1);
});

testLog("an Envoy that refuses its bootstrap", async (pod) => {
  await pod.write("override.json", JSON.stringify({ admin: { address: { pipe: { path: 7 } } } }));
  const { code, stderr } = await pod.start(["agent", "--log-format", "json"]).end;
  assert.equal(code, 1);
  const critical = records(stderr).filter(({ level }) => level === "fatal");
  assert.match(critical[0]?.text ?? "", /path/);
});

testLog("invalid settings in one line", async (pod) => {
  const wrong = pod.env({ drainDuration: "1.5s", proxyAdminPort: 70_000 });
  for (const { args, env } of SETTINGS) {
    const { code, stdout, stderr } = await pod.start([...args, "--concurrency", "many"], { env: { ...wrong, ...env } })
      .end;
    assert.equal(stdout, "");
    const [error, ...more] = records(stderr);
    assert.deepEqual([error?.level, more], ["fatal", []]);
    for (const name of ["--concurrency", "drainDuration", "proxyAdminPort"]) {
      assert.ok(error?.text.includes(name), stderr);
    }
    assert.equal(code, args[0] === "agent" ? 2 : 255);
  }
});

Deno.test("JSON log of pilot-agent: wait, and invalid command lines", async () => {
  const wait = ["wait", "--timeoutSeconds", "0", "--url", "http://127.0.0.1:1/"];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[...wait, "--log_as_json"], /Timeout waiting for Envoy proxy to become ready/],
    [["wait", "--log_as_json", "--timeoutSeconds", "soon"], /"soon"/],
    [["request", "--log_as_json"], /A method and a path are required/],
  ];
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await runMesh(["pilot-agent", ...args]);
    assert.equal(code, 255);
    if (stdout !== "") records(stdout);
    const [error, ...more] = records(stderr);
    assert.deepEqual([error?.level, more], ["error", []]);
    assert.match(error?.text ?? "", said);
  }
  assert.match((await runMesh(["pilot-agent", ...wait])).stderr, /^Error: Timeout waiting/);
});
