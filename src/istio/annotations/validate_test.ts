import assert from "node:assert/strict";
import { ANNOTATION } from "./names.ts";
import type { Era } from "../era.ts";
import { misspelledAnnotations, validateAnnotations } from "./validate.ts";

/** Accepted and rejected values, by annotation. */
const VALUES: readonly (readonly [name: string, good: readonly string[], bad: readonly string[]])[] = [
  [ANNOTATION.interceptionMode, ["REDIRECT", "TPROXY", "NONE"], ["", "redirect", "NONE ", "OFF"]],
  [ANNOTATION.statusPort, ["0", "15020", " 80 ", "65535", "080"], ["", "-1", "65536", "abc", "80,81", "1.0", "+80"]],
  [ANNOTATION.readinessInitialDelaySeconds, ["0", "4294967295"], ["", "-1", "1.5", " 1", "4294967296", "1s"]],
  [ANNOTATION.readinessPeriodSeconds, ["1"], ["x"]],
  [ANNOTATION.readinessFailureThreshold, ["30"], ["0x1"]],
  [
    ANNOTATION.includeOutboundIpRanges,
    ["*", "", "10.0.0.0/8", "10.0.0.0/8,2001:db8::/32", "0.0.0.0/0", "::/0"],
    ["* ", "10.0.0.0", "10.0.0.0/8, 11.0.0.0/8", "10.0.0.0/8,", "*,10.0.0.0/8", "10.0.0.0/33", "10.1/16"],
  ],
  [ANNOTATION.excludeOutboundIpRanges, ["", "1.2.3.4/32"], ["*", "1.2.3.4", "fe80::1%eth0/64", "x"]],
  [ANNOTATION.includeInboundPorts, ["*", "", " ", "80", "80, 443", "0"], ["80,", ",", "*,80", " *", "80;81", "99999"]],
  [ANNOTATION.excludeInboundPorts, ["", "15020,80"], ["*", "a", "-5"]],
  [ANNOTATION.excludeOutboundPorts, ["", "1,2 ,3"], ["*", "1,,2"]],
  [
    ANNOTATION.excludeInterfaces,
    ["", "eth0", "eth0, net-1", "a_b.c-d", "abcdefghijklmno"],
    ["eth0,", " ", "0eth", "abcdefghijklmnop", "eth/0", "eth0:1"],
  ],
  [ANNOTATION.kubevirtInterfaces, ["k6t-eth0"], ["a b"]],
  [ANNOTATION.rerouteVirtualInterfaces, ["docker0"], ["-x"]],
  [ANNOTATION.mergeMetrics, ["1", "t", "TRUE", "False", "0", "f"], ["", "yes", "tRue", "on"]],
  [
    ANNOTATION.proxyConfig,
    ["", "{}", "concurrency: 2", '{"proxyMetadata":{"A":"b"}}', "unknownField: [1]", "drain_duration: 10s"],
    ["concurrency: x", "drainDuration: 1ms", "a: b: c", "- a", "statusPort: 0", "proxyMetadata: {A: true}"],
  ],
  [ANNOTATION.proxyCpu, ["100m", "2", "0.5", "1e3"], ["", "100x", "1\n", "a"]],
  [ANNOTATION.proxyMemory, ["128Mi", "1G"], ["128mb", "128 Mi"]],
  [ANNOTATION.proxyCpuLimit, ["2000m"], ["--1"]],
  [ANNOTATION.proxyMemoryLimit, ["1Gi"], ["1\u0007"]],
];

for (const [name, good, bad] of VALUES) {
  Deno.test(`validateAnnotations checks ${name}`, () => {
    for (const value of good) assert.deepEqual(validateAnnotations({ [name]: value }, "current"), [], value);
    for (const value of bad) {
      const [problem, ...others] = validateAnnotations({ [name]: value }, "current");
      assert.deepEqual([problem?.annotation, problem?.value, others], [name, value, []], `accepts "${value}"`);
      assert.ok(problem?.message.startsWith(`Annotation "${name}" must be `), problem?.message);
      assert.ok(problem?.message.includes(`, not "${value}"`), problem?.message);
    }
  });
}

Deno.test("validateAnnotations collects all problems in order of the names", () => {
  const annotations = {
    [ANNOTATION.proxyCpu]: "x",
    [ANNOTATION.mergeMetrics]: "maybe",
    "example.com/other": "x",
    [ANNOTATION.interceptionMode]: "NO",
  };
  const names = validateAnnotations(annotations, "current").map((problem) => problem.annotation);
  assert.deepEqual(names, [ANNOTATION.mergeMetrics, ANNOTATION.interceptionMode, ANNOTATION.proxyCpu]);
});

Deno.test("validateAnnotations reports the valid values, the value and the reason", () => {
  const [problem] = validateAnnotations({ [ANNOTATION.statusPort]: "x" }, "current");
  assert.equal(
    problem?.message,
    'Annotation "status.sidecar.istio.io/port" must be a port from 0 to 65535, not "x": "x" is not a whole number',
  );
});

const ERAS: readonly (readonly [name: string, value: string, refusedIn: readonly Era[]])[] = [
  [ANNOTATION.interceptionMode, "x", ["1.1", "1.8", "current"]],
  [ANNOTATION.proxyCpu, "x", ["current"]],
  [ANNOTATION.excludeInterfaces, "/", ["current"]],
  [ANNOTATION.kubevirtInterfaces, "/", ["current"]],
  [ANNOTATION.excludeOutboundPorts, "x", ["1.8", "current"]],
  [ANNOTATION.mergeMetrics, "x", ["1.8", "current"]],
  [ANNOTATION.proxyConfig, "concurrency: x", ["1.8", "current"]],
  [ANNOTATION.enableCoreDump, "x", ["1.8"]],
  [ANNOTATION.readinessApplicationPorts, "x", ["1.1", "1.8"]],
  [ANNOTATION.includeOutboundPorts, "x", []],
  [ANNOTATION.inject, "maybe", []],
];

Deno.test("validateAnnotations checks what the injector of each era checks", () => {
  const eras: readonly Era[] = ["1.1", "1.8", "current"];
  for (const [name, value, refusedIn] of ERAS) {
    const refused = eras.filter((era) => validateAnnotations({ [name]: value }, era).length > 0);
    assert.deepEqual(refused, refusedIn, name);
  }
});

Deno.test("misspelledAnnotations suggests the known name", () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["sidecar.istio.io/Inject", ANNOTATION.inject],
    ["sidecar.istio.io/injected", ANNOTATION.inject],
    ["traffic.sidecar.istio.io/includeOutboundIpRange", ANNOTATION.includeOutboundIpRanges],
    ["status.sidecar.istio.io/ports", ANNOTATION.statusPort],
    ["sidecar.istio.io/proxyCPU", undefined],
    ["networking.istio.io/exportTo", undefined],
    ["istio.io/own-thing", undefined],
    ["example.com/inject", undefined],
  ];
  for (const [name, meant] of rows) {
    const [problem] = misspelledAnnotations({ [name]: "v" }, "current");
    assert.deepEqual(problem, meant === undefined ? undefined : { annotation: name, value: "v", meant });
  }
});

Deno.test("misspelledAnnotations of 1.8 reports every unknown name with istio in it", () => {
  const annotations = { "istio.io/own-thing": "x", "example.com/x": "y" };
  assert.deepEqual(misspelledAnnotations(annotations, "1.8"), [
    { annotation: "istio.io/own-thing", value: "x", meant: undefined },
  ]);
});
