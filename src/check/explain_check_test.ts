import assert from "node:assert/strict";
import { main } from "../cli/mod.ts";
import { EXIT } from "../base/errors.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { ALL_CHECKS } from "./checks/all.ts";

async function printed(...args: readonly string[]) {
  const world = fakeWorld({ args: ["check", ...args] });
  const code = await main(world);
  return { code, ...world.said };
}

Deno.test("every check has a page, which its hint names", async () => {
  for (const { id, category, title } of ALL_CHECKS) {
    const { code, stdout } = await printed("--explain", id);
    assert.equal(code, EXIT.ok, id);
    assert(stdout.replaceAll(/\n(?!\n)/g, " ").startsWith(`${id} (${category}): ${title}\n `), stdout);
    assert.match(stdout, /^[×‼] /m, `${id} has no example`);
    assert.doesNotMatch(stdout, /^#|`|_\(|\]\(/m);
    const [last = ""] = stdout.trim().split("\n\n").slice(-1);
    assert.match(last.trim(), /^["-]?[A-Za-z]/, id);
    assert.doesNotMatch(last, /^"[^"]*"\.$/, `${id} ends with a command and no sentence`);
  }
});

Deno.test("an unknown check is a wrong command line, with a hint", async () => {
  const { code, stderr } = await printed("--explain", "pod-securty");
  assert.equal(code, EXIT.usage);
  assert.match(stderr, /There is no check "pod-securty"; did you mean "pod-security"\?/);
  assert.match(
    (await printed("--explain", "webhok")).stderr,
    /mean ("webhook-[a-z]+"( or )?){3}\? "kubectl mesh check --list" prints all ids/,
  );
});

Deno.test("a rule of inject has a title, a severity and a way to turn it off", async () => {
  const { code, stdout } = await printed("--explain", "job-sidecar");
  assert.equal(code, EXIT.ok);
  assert.match(stdout, /^job-sidecar \(rule of inject, error\): A Job never completes/);
  assert.match(stdout, /\n\nEach warning of [^]*--ignore-rules job-sidecar/);
  assert.match((await printed("--explain", "proxy-user")).stdout, /IST0144/);
  assert.match((await printed("--explain", "job-sidecars")).stderr, /did you mean "job-sidecar"\?/);
});

Deno.test("the list has ids and categories of the selected checks", async () => {
  const all = await printed("--list");
  assert.deepEqual([all.code, all.stdout.split("\n").length], [EXIT.ok, ALL_CHECKS.length + 2]);
  const { stdout } = await printed("security", "--list");
  assert.match(stdout, /^CATEGORY +ID +TITLE\nsecurity +pod-security +Pod Security admits injected pods\n/);
});

Deno.test("a pipe gets the text of a terminal", async () => {
  const id = "webhook-exists";
  const terminal = fakeWorld({ args: ["check", "--explain", id], terminal: true });
  await main(terminal);
  assert.equal((await printed("--explain", id)).stdout, terminal.said.stdout);
});

Deno.test("Markdown links and marks of a page become plain text", async () => {
  const text = async (id: string) => (await printed("--explain", id)).stdout.replaceAll(/\s+/g, " ");
  assert.match(await text("pod-security"), /API server\. "kubectl mesh check --pre" runs this check too\./);
  assert.match(await text("limit-range"), /lower the sidecar's resources as for "resource-quota"\./);
  assert.match(await text("workload-init-network"), /sidecars \(sidecar\.istio\.io\/nativeSidecar: "true"\), or/);
  assert.match(await text("proxy-init"), /, and docs\/iptables\.md\./);
});

Deno.test("in a terminal, text is wrapped between words, and commands are not wrapped", async () => {
  const world = fakeWorld({ args: ["check", "--explain", "webhook-exists"], terminal: true, env: { COLUMNS: "60" } });
  await main(world);
  const { stdout } = world.said;
  assert.doesNotMatch(stdout, /```/);
  assert.match(stdout, /\n\n× an injection webhook is configured\n {4}no MutatingWebhookConfiguration/);
  assert(stdout.split("\n").every((line) => line.length <= 60 || line.includes("kubectl ")), stdout);
  const table = fakeWorld({
    args: ["check", "--explain", "webhook-endpoints"],
    terminal: true,
    env: { COLUMNS: "60" },
  });
  await main(table);
  assert.match(table.said.stdout, /\nan image cannot be pulled\n {2}first command {2}"kubectl edit deployment"\n/);
  assert.doesNotMatch(table.said.stdout, /\|/);
  for (const columns of [60, 80]) {
    const list = fakeWorld({ args: ["check", "--list"], terminal: true, env: { COLUMNS: `${columns}` } });
    await main(list);
    assert.deepEqual(list.said.stdout.split("\n").filter((line) => line.length > columns), []);
  }
});
