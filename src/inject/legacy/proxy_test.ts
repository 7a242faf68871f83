import assert from "node:assert/strict";
import { isMap, newMap, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { defaultsOf } from "../../istio/mod.ts";
import { probePort, redirected, withConcurrency, withProbers } from "./proxy.ts";
import { containersOf } from "../pod/pod.ts";
import { rewritesProbes } from "../postprocess/probes.ts";

function map(text: string): ValueMap {
  const value = parseYaml(text, "");
  return isMap(value) ? value : newMap();
}

/** Returns plain objects for `deepEqual`, because parsed mappings have no prototype. */
function plain(value: Value | undefined): unknown {
  return JSON.parse(JSON.stringify(value, (_key, item) => typeof item === "bigint" ? Number(item) : item));
}

const APP = map(`
name: app
ports: [{name: web, containerPort: 8080}]
readinessProbe: {httpGet: {path: /ready, port: web, scheme: HTTPS, httpHeaders: [{name: Host, value: a}]}, timeoutSeconds: 3}
livenessProbe: {httpGet: {port: 9000}}
startupProbe: {httpGet: {port: nameless}}
lifecycle: {preStop: {httpGet: {port: 1}}}
`);
const TCP = map("{name: tcp, livenessProbe: {tcpSocket: {port: 1}}, readinessProbe: {exec: {command: [x]}}}");
const POD = { spec: { containers: [APP, TCP] } };

function reported(minor: number, earlier?: string): string {
  const proxy = withProbers(newMap(), POD, 15020, { minor, earlier });
  const [variable] = Array.isArray(proxy["env"]) ? proxy["env"] : [];
  return isMap(variable) ? String(variable["value"]) : "";
}

Deno.test("withProbers: bare httpGet objects until 1.5, readiness and liveness only", () => {
  assert.equal(
    reported(1),
    '{"/app-health/app/livez":{"port":9000},' +
      '"/app-health/app/readyz":{"path":"/ready","port":8080,"scheme":"HTTPS","httpHeaders":[{"name":"Host","value":"a"}]}}',
  );
});

Deno.test("withProbers: probers with timeouts since 1.6; an unknown port is left out", () => {
  assert.equal(
    reported(8),
    '{"/app-health/app/livez":{"httpGet":{"port":9000}},"/app-health/app/readyz":{"httpGet":' +
      '{"path":"/ready","port":8080,"scheme":"HTTPS","httpHeaders":[{"name":"Host","value":"a"}]},"timeoutSeconds":3}}',
  );
});

Deno.test("withProbers: the probers of an earlier injection win", () => {
  assert.match(
    reported(8, '{"/app-health/app/livez":{"httpGet":{"port":1}}}'),
    /"\/app-health\/app\/livez":\{"httpGet":\{"port":1\}\}/,
  );
});

Deno.test("withProbers: without probes there is no variable", () => {
  const proxy = newMap();
  assert.equal(withProbers(proxy, { spec: { containers: [TCP] } }, 15020, { minor: 8, earlier: undefined }), proxy);
});

function rewritten(container: ValueMap, port: number, minor: number): ValueMap {
  const [first = newMap()] = containersOf(redirected({ spec: { containers: [container] } }, port, minor), "containers");
  return first;
}

Deno.test("redirected: HTTP probes go to the agent, startup probes since 1.7, others never", () => {
  const done = rewritten(APP, 15020, 8);
  assert.deepEqual(plain(done["readinessProbe"]), {
    httpGet: {
      path: "/app-health/app/readyz",
      port: 15020,
      scheme: "HTTP",
      httpHeaders: [{ name: "Host", value: "a" }],
    },
    timeoutSeconds: 3,
  });
  assert.deepEqual(plain(done["startupProbe"]), { httpGet: { path: "/app-health/app/startupz", port: 15020 } });
  assert.equal(done["lifecycle"], APP["lifecycle"]);
  assert.equal(rewritten(APP, 15020, 6)["startupProbe"], APP["startupProbe"]);
  assert.equal(rewritten(TCP, 15020, 8), TCP);
});

const PORTS: readonly (readonly [string, number, string, string, number | undefined])[] = [
  ["1.1: the argument after --statusPort", 1, "{}", "[--statusPort, '15021']", 15021],
  ["1.1: --statusPort=", 1, "{}", "[--statusPort=15022]", 15022],
  ["1.1: no argument", 1, "{status.sidecar.istio.io/port: '5'}", "[proxy]", undefined],
  ["1.1: nothing behind it", 1, "{}", "[--statusPort]", undefined],
  ["1.8: the annotation", 8, "{status.sidecar.istio.io/port: '5'}", "[--statusPort, '15021']", 5],
  ["1.8: the mesh", 8, "{}", "[--statusPort, '15021']", 15020],
];

for (const [name, minor, annotations, args, expected] of PORTS) {
  Deno.test(`probePort: ${name}`, () => {
    const none = { initContainers: [], volumes: [], imagePullSecrets: [], dnsConfig: undefined, podRedirectAnnot: {} };
    const proxy = map(`{name: istio-proxy, args: ${args}}`);
    const pod = map(`metadata: {annotations: ${annotations}}`);
    const spec = { ...none, rewriteAppHTTPProbe: true, containers: [proxy] };
    assert.equal(probePort(pod, spec, minor, defaultsOf("1.8")), expected);
    assert.equal(probePort(pod, { ...spec, rewriteAppHTTPProbe: false }, minor, defaultsOf("1.8")), undefined);
  });
}

Deno.test("rewritesProbes: the pod's annotation wins over the default", () => {
  const pod = (value: string) => map(`metadata: {annotations: {sidecar.istio.io/rewriteAppHTTPProbers: '${value}'}}`);
  assert.equal(rewritesProbes(pod("false"), true), false);
  assert.equal(rewritesProbes(pod("perhaps"), true), true);
  assert.equal(rewritesProbes(newMap(), false), false);
});

function proxy(args: string[], limit?: string, request?: string): ValueMap {
  return {
    args,
    resources: {
      ...(limit === undefined ? {} : { limits: { cpu: limit } }),
      ...(request === undefined ? {} : { requests: { cpu: request } }),
    },
  };
}

const CASES: readonly (readonly [string, ValueMap, readonly string[]])[] = [
  ["the limit, rounded up", proxy(["proxy"], "1100m", "1"), ["proxy", "--concurrency", "2"]],
  ["the request without a limit", proxy(["proxy"], undefined, "10m"), ["proxy", "--concurrency", "1"]],
  ["the request where the limit is 0", proxy(["proxy"], "0", "3"), ["proxy", "--concurrency", "3"]],
  ["nothing without either", proxy(["proxy"]), ["proxy"]],
  ["nothing where it is given", proxy(["--concurrency", "4"], "2"), ["--concurrency", "4"]],
  ["nothing where it is given with =", proxy(["--concurrency=4"], "2"), ["--concurrency=4"]],
  ["the limit where 0 is given", proxy(["--concurrency", "0"], "2"), ["--concurrency", "0", "--concurrency", "2"]],
];

for (const [name, container, expected] of CASES) {
  Deno.test(`withConcurrency: ${name}`, () => assert.deepEqual(textsAt(withConcurrency(container), "args"), expected));
}
