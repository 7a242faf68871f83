import assert from "node:assert/strict";
import { readyHandler } from "./status.ts";

async function ask(running: string | undefined, config: string | undefined, query: string) {
  const ready = readyHandler([
    { name: "running", fine: "it runs", problem: () => running, isTolerable: false },
    { name: "config", fine: "the newest", problem: () => config, isTolerable: true },
  ]);
  const response = ready(new Request(`http://a/ready${query}`));
  return [response.status, await response.text()];
}

Deno.test("/ready: one line if ready; with ?verbose also a line for each check", async () => {
  assert.deepEqual(await ask(undefined, undefined, ""), [200, "ready\n"]);
  const text = "[+]running ok: it runs\n[+]config ok: the newest\nready\n";
  assert.deepEqual(await ask(undefined, undefined, "?verbose"), [200, text]);
});

Deno.test("/ready: an unusable new configuration is a tolerable problem", async () => {
  const text = "[+]running ok: it runs\n[!]config failed: no YAML\nready\n";
  assert.deepEqual(await ask(undefined, "no YAML", "?verbose"), [200, text]);
});

Deno.test("/ready: a terminating webhook is not ready, with the reason", async () => {
  const text = "[-]running failed: received SIGTERM\n[+]config ok: the newest\nnot ready\n";
  assert.deepEqual(await ask("received SIGTERM", undefined, ""), [503, text]);
});
