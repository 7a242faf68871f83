import assert from "node:assert/strict";
import { ApiError, type Pod } from "../../../kube/client/mod.ts";
import { logsAndEvents } from "./logs.ts";

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-1", namespace: "shop" },
  spec: { initContainers: [{ name: "istio-init" }], containers: [{ name: "web" }, { name: "istio-proxy" }] },
  status: { containerStatuses: [{ name: "istio-proxy", restartCount: 2 }] },
};

const event = (reason: string, more: object) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: reason },
  type: "Warning",
  reason,
  message: "m",
  ...more,
});

const EVENTS = [
  event("Unhealthy", { count: 7, firstTimestamp: "2026-01-02T03:00:00Z", lastTimestamp: "2026-01-02T03:09:00Z" }),
  event("Scheduled", { eventTime: "2026-01-02T02:59:00.5Z", reportingComponent: "default-scheduler" }),
  event("BackOff", {
    eventTime: "2026-01-02T03:01:00Z",
    series: { count: 3, lastObservedTime: "2026-01-02T03:05:00Z" },
  }),
];

function api(asked: string[], items: readonly ReturnType<typeof event>[] = EVENTS) {
  return {
    text(path: string) {
      asked.push(path);
      return Promise.resolve(`log of ${new URL(path, "http://api").searchParams.get("container")}`);
    },
    list(path: string, query = {}) {
      asked.push(`${path} ${JSON.stringify(query)}`);
      return Promise.resolve({ items, resourceVersion: "1" });
    },
  };
}

Deno.test("logs are bounded, the previous one is read after a restart, events are in the order of their last time", async () => {
  const asked: string[] = [];
  const parts = await logsAndEvents(api(asked), POD, "istio-proxy");
  assert.deepEqual(
    ["proxy.log", "proxy_previous.log", "init.log"].map((name) => [...parts].find(([each]) => each === name)?.[1].text),
    [
      "log of istio-proxy",
      "log of istio-proxy",
      "log of istio-init",
    ],
  );
  assert.equal(asked.filter((path) => path.includes("tailLines=2000&limitBytes=1048576")).length, 3);
  assert.equal(asked.filter((path) => path.includes("previous=true")).length, 1);
  assert.ok(asked.includes(
    '/api/v1/namespaces/shop/events {"fieldSelector":"involvedObject.kind=Pod,involvedObject.name=web-1"}',
  ));
  const { events } = JSON.parse(parts.get("events.json")?.text ?? "");
  assert.deepEqual(
    events.map(({ reason, count, last, from }: Record<string, unknown>) => [reason, count, last, from]),
    [
      ["Scheduled", 1, "2026-01-02T02:59:00.5Z", "default-scheduler"],
      ["BackOff", 3, "2026-01-02T03:05:00Z", ""],
      ["Unhealthy", 7, "2026-01-02T03:09:00Z", ""],
    ],
  );
});

Deno.test("of a long log the newest lines stay", async () => {
  const lines = Array.from({ length: 3000 }, (_, at) => `${at} ${"x".repeat(at > 2500 ? 1500 : 300)}`);
  const kubelet = {
    text(path: string) {
      const query = new URL(path, "http://api").searchParams;
      const end = lines.slice(-Number(query.get("tailLines"))).join("\n");
      return Promise.resolve(end.slice(0, Number(query.get("limitBytes"))));
    },
    list: api([]).list,
  };
  const text = (await logsAndEvents(kubelet, POD, "istio-proxy")).get("proxy.log")?.text ?? "";
  assert.ok(text.length < 1024 * 1024 && text.length > 512 * 1024, String(text.length));
  assert.equal(text.split("\n").at(-1), lines.at(-1));
});

Deno.test("of many events the newest stay", async () => {
  const many = Array.from(
    { length: 300 },
    (_, at) => event(`e${at}`, { lastTimestamp: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString() }),
  );
  const { events } = JSON.parse(
    (await logsAndEvents(api([], many), POD, "istio-proxy")).get("events.json")?.text ?? "",
  );
  assert.deepEqual([events.length, events[0].reason, events.at(-1).reason], [200, "e100", "e299"]);
});

Deno.test("a pod without restarts and init containers says so, as does a missing right", async () => {
  const refused = () => Promise.reject(new ApiError("forbidden: pods/log", { status: 403 }));
  const pod = { ...POD, spec: { containers: [{ name: "istio-proxy" }] }, status: {} };
  const parts = await logsAndEvents({ text: refused, list: refused }, pod, "istio-proxy");
  assert.deepEqual([...parts].map(([name, { absent, message }]) => [name, absent, message]), [
    ["proxy.log", "forbidden", "the log cannot be read: forbidden: pods/log"],
    ["proxy_previous.log", "unsupported", "the proxy has not restarted"],
    ["init.log", "unsupported", "the pod has no init container istio-init or istio-validation"],
    ["events.json", "forbidden", "the events cannot be read: forbidden: pods/log"],
  ]);
});
