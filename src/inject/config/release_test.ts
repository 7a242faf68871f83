import assert from "node:assert/strict";
import { isMap, newMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { LATEST, modernRelease, namedRelease, refuseOtherForm } from "./release.ts";

interface Case {
  readonly named?: string;
  readonly config: string;
  readonly tag?: string;
  readonly minor: number;
  readonly isUnknown?: true;
}

const CASES: readonly Case[] = [
  { config: "{{ .ProxyConfig.Concurrency.GetValue }}", minor: 10 },
  { config: "{{ .ProxyConfig.Concurrency.GetValue }}", tag: "1.9.5", minor: 9 },
  { config: "{{ .EstimatedConcurrency }}", minor: 16 },
  { config: "{{ .EstimatedConcurrency }}", tag: "1.12.1-distroless", minor: 12 },
  { config: "{{ .EstimatedConcurrency }}", tag: "1.30.0", minor: 16 },
  { config: "ISTIO_META_NODE_NAME", minor: 17 },
  { config: "ISTIO_CPU_LIMIT", tag: "latest", minor: 21 },
  { config: "{{ .InboundTrafficPolicyMode }}", tag: "release-1.24", minor: 24 },
  { config: "{{ .NativeSidecars }}", minor: 30 },
  { config: "{{ .ProxyInitImage }}", tag: "1.40.0", minor: LATEST },
  { config: "spec: {}", minor: LATEST },
  { config: "spec: {} {{ .ProxyConfig.Tracing }}", minor: LATEST, isUnknown: true },
  { config: "spec: {} {{ protoToJSON .ProxyConfig }}", tag: "1.8.6", minor: LATEST, isUnknown: true },
  { config: "spec: {}", tag: "1.20.8", minor: 20 },
  { named: "1.20.8", config: "{{ .ProxyInitImage }}", minor: 20 },
  { named: "1.99", config: "", minor: LATEST },
];

for (const { named, config, tag, minor, isUnknown = false } of CASES) {
  Deno.test(`modernRelease: ${JSON.stringify([named, config, tag])} is 1.${minor}`, () => {
    const values = tag === undefined ? newMap() : parseYaml(`global: {tag: ${tag}}`);
    assert.ok(isMap(values));
    assert.deepEqual(modernRelease({ named: named === undefined ? undefined : namedRelease(named), config, values }), {
      minor,
      isUnknown,
    });
  });
}

for (const named of ["2.0", "latest", "", "v1.20"]) {
  Deno.test(`namedRelease: "${named}" is refused`, () => {
    assert.throws(() => namedRelease(named), /is not a release of Istio/);
  });
}

Deno.test("refuseOtherForm: the named release and the form of the configuration belong together", () => {
  refuseOtherForm("legacy", 8);
  refuseOtherForm("modern", 9);
  refuseOtherForm("modern", undefined);
  assert.throws(() => refuseOtherForm("legacy", 20), /form of Istio 1\.0 to 1\.8, not of 1\.20/);
  assert.throws(() => refuseOtherForm("modern", 4), /form of Istio 1\.9 and later, not of 1\.4/);
});
