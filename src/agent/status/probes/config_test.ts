import assert from "node:assert/strict";
import { readProbers } from "./config.ts";

const READYZ = "/app-health/hello-world/readyz";

/** Texts that Istio's own tests have (TestNewServer), and what is wrong with them. */
const CASES: readonly { readonly text: string; readonly problems?: readonly RegExp[] }[] = [
  { text: "" },
  { text: "{}" },
  { text: "invalid-prober-json-encoding", problems: [/^not a JSON object but "invalid-/] },
  { text: "[]", problems: [/^not a JSON object/] },
  { text: `{"abc": {"path": "/app-foo/health"}}`, problems: [/"abc": the path must have the form/, /exactly one of/] },
  {
    text: `{"${READYZ}": {"exec": {"command": ["true"]}}}`,
    problems: [/exactly one of httpGet, tcpSocket and grpc, not 0/],
  },
  { text: `{"${READYZ}": null}`, problems: [/exactly one of/] },
  { text: `{"${READYZ}": {"tcpSocket": {"port": 8888}}}` },
  {
    text: `{"${READYZ}": {"tcpSocket": {"port": 8888}, "httpGet": {"port": 7777}}}`,
    problems: [/exactly one .*, not 2/],
  },
  { text: `{"${READYZ}": {"grpc": {"port": 8888}, "httpGet": {"port": 7777}}}`, problems: [/exactly one .*, not 2/] },
  { text: `{"${READYZ}": {"tcpSocket": {"port": "tcp"}}}`, problems: [/the port "tcp" is not a number/] },
  {
    text: `{"${READYZ}": {"httpGet": {"path": "/", "port": "container-port"}}}`,
    problems: [/"container-port" is not a number/],
  },
  { text: `{"${READYZ}": {"httpGet": {"path": "/"}}}`, problems: [/the port \(absent\) is not a number/] },
  { text: `{"${READYZ}": {"httpGet": {"port": 70000}}}`, problems: [/the port 70000 is not a number from 1 to 65535/] },
  { text: `{"${READYZ}": {"httpGet": {"path": 1, "port": 80}}}`, problems: [/"path" is not a string/] },
  { text: `{"${READYZ}": {"httpGet": "x"}}`, problems: [/"httpGet" is not an object/, /the port/] },
  { text: `{"${READYZ}": {"tcpSocket": {"port": 80}, "timeoutSeconds": "1"}}`, problems: [/"timeoutSeconds" is no/] },
  {
    text:
      `{"/app-lifecycle/a/prestopz": {"httpGet": {"port": 1}}, "/app-lifecycle/a/poststartz": {"tcpSocket": {"port": 1}}}`,
  },
  { text: `{"${READYZ}": {"gRPC": {"port": 8080, "service": null}}}` },
];

for (const { text, problems = [] } of CASES) {
  Deno.test(`readProbers(): ${text}`, () => {
    const found = readProbers(text).problems;
    assert.equal(found.length, problems.length, found.join("\n"));
    problems.forEach((problem, index) => assert.match(found[index] ?? "", problem));
  });
}

Deno.test("readProbers() reads the three kinds, fields in any case, paths without a slash", () => {
  const { probers } = readProbers(JSON.stringify({
    "/app-health/a/readyz": { httpGet: { path: "hello/you?x=1", port: 8080, scheme: "HTTPS" }, timeoutSeconds: 10 },
    "/app-health/a/livez": { HTTPGet: { Port: 9090, scheme: "HTTP", host: "ignored", httpHeaders: [] } },
    "/app-health/b/startupz": { tcpSocket: { port: 1 }, periodSeconds: 20 },
    "/app-health/c/livez": { gRPC: { port: 2, service: "foo" }, timeoutSeconds: -1 },
  }));
  assert.deepEqual([...probers], [
    ["/app-health/a/readyz", { kind: "http", port: 8080, path: "/hello/you?x=1", isTls: true, timeoutSeconds: 10 }],
    ["/app-health/a/livez", { kind: "http", port: 9090, path: "/", isTls: false, timeoutSeconds: 0 }],
    ["/app-health/b/startupz", { kind: "tcp", port: 1, timeoutSeconds: 0 }],
    ["/app-health/c/livez", { kind: "grpc", port: 2, service: "foo", timeoutSeconds: 0 }],
  ]);
});

Deno.test("readProbers() reports the problems of every prober, and keeps valid ones", () => {
  const { probers, problems } = readProbers(
    `{"/x": {"tcpSocket": {"port": 1}}, "/app-health/a/livez": {}, "/app-health/b/livez": {"tcpSocket": {"port": 1}}}`,
  );
  assert.deepEqual(problems.map((problem) => problem.split(":", 1)[0]), ['"/x"', '"/app-health/a/livez"']);
  assert.deepEqual([...probers.keys()], ["/app-health/b/livez"]);
});
