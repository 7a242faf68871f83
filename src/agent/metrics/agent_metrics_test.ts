import assert from "node:assert/strict";
import { realWorld } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { testWhen } from "../../../test/support/test_when.ts";
import { agentMetrics } from "./agent_metrics.ts";

Deno.test("text() has the counters with help and type, sorted, without unused ones", async () => {
  const metrics = agentMetrics(fakeWorld(), "1.2.3");
  metrics.scrapes.add();
  metrics.scrapes.add();
  metrics.scrapeFailed("envoy");
  metrics.scrapeFailed("application");
  metrics.scrapeFailed("application");
  metrics.startupSeconds.set(1.5);
  assert.equal(
    await metrics.text(),
    `# HELP istio_agent_build_info The version of the agent; the value is always 1.
# TYPE istio_agent_build_info gauge
istio_agent_build_info{component="agent",tag="1.2.3"} 1
# HELP istio_agent_istio_build Istio component build info
# TYPE istio_agent_istio_build gauge
istio_agent_istio_build{component="agent",tag="1.2.3"} 1
# HELP istio_agent_scrape_failures_total The total number of failed scrapes.
# TYPE istio_agent_scrape_failures_total counter
istio_agent_scrape_failures_total{type="application"} 2
istio_agent_scrape_failures_total{type="envoy"} 1
# HELP istio_agent_scrapes_total The total number of scrapes.
# TYPE istio_agent_scrapes_total counter
istio_agent_scrapes_total 2
# HELP istio_agent_startup_duration_seconds The time from the process starting to being marked ready.
# TYPE istio_agent_startup_duration_seconds gauge
istio_agent_startup_duration_seconds 1.5
`,
  );
});

Deno.test("text() has registered metrics, and escapes values and help texts", async () => {
  const metrics = agentMetrics(fakeWorld(), 'a"b\\c\nd');
  const sample = { value: Infinity };
  metrics.register(() => Promise.resolve([{ name: "x", help: "a\\b\nc", type: "gauge", samples: [sample] }]));
  const text = await metrics.text();
  assert.ok(text.includes(String.raw`tag="a\"b\\c\nd"`), text);
  assert.ok(text.includes("# HELP istio_agent_x a\\\\b\\nc\n"), text);
  assert.ok(text.includes("istio_agent_x +Inf\n"), text);
});

Deno.test("text() has the process metrics from /proc", async () => {
  const fields = Array.from({ length: 50 }, (_, index) => index + 4);
  const files = {
    "/proc/self/stat": `42 (a b) c) S ${fields.join(" ")}\n`,
    "/proc/self/status": "Name:\ta\nVmRSS:\t   2048 kB\n",
    "/proc/self/limits": "Limit   Soft Limit  Hard Limit  Units\n" +
      "Max open files            1024                 4096                 files\n" +
      "Max address space         unlimited            unlimited            bytes\n",
    "/proc/stat": "cpu  1 2\nbtime 1700000000\n",
    "/proc/self/fd/0": "",
    "/proc/self/fd/1": "",
  };
  const text = await agentMetrics(fakeWorld({ files }), "1").text();
  const values = Object.fromEntries(
    [...text.matchAll(/^istio_agent_process_(\w+) (.*)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
  assert.deepEqual(values, {
    cpu_seconds_total: 0.29,
    resident_memory_bytes: 2097152,
    virtual_memory_bytes: 23,
    virtual_memory_max_bytes: 2 ** 64,
    open_fds: 2,
    max_fds: 1024,
    threads: 20,
    start_time_seconds: 1700000000.22,
  });
});

testWhen(Deno.build.os === "linux" ? undefined : "not Linux", "text() reads the real /proc", async () => {
  const text = await agentMetrics(realWorld(), "1").text();
  const started = Number(/^istio_agent_process_start_time_seconds (\S+)$/m.exec(text)?.[1]);
  const age = Date.now() / 1000 - started;
  assert.ok(age > -2 && age < 86_400, String(age));
  const resident = Number(/^istio_agent_process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
  assert.ok(resident > 1e7 && resident < 4e9, String(resident));
  assert.match(text, /^istio_agent_process_open_fds \d+$/m);
});
