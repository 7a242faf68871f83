/** Fuzzes annotations of a pod, which anyone with the right to create pods can set. */
import { ANNOTATION } from "../../../src/istio/mod.ts";
import { injectPod } from "../../../src/inject/mod.ts";
import { type FuzzReader, textOf } from "../reader.ts";
import { builtIn } from "./manifests.ts";
import { JSON_WORDS, YAML_WORDS } from "./words.ts";

/** The annotations. The first byte of an input selects one. */
const NAMES: readonly string[] = [
  ...Object.values(ANNOTATION),
  "sidecar.istio.io/userVolume",
  "sidecar.istio.io/userVolumeMount",
  "traffic.sidecar.istio.io/includeOutboundIPRanges",
  "traffic.sidecar.istio.io/excludeInboundPorts",
  "sidecar.istio.io/bootstrapOverride",
  "sidecar.istio.io/logLevel",
  "sidecar.istio.io/statsInclusionPrefixes",
  "sidecar.istio.io/agentLogLevel",
  "sidecar.istio.io/proxyCPULimit",
  "prometheus.io/port",
  "sidecar.istio.io/unknown",
];

const VALUES = [
  '{"version":"1","initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["v"]}',
  '{"containers":[{"name":"istio-proxy","image":"auto","env":[{"name":"A","value":"b"}]}]}',
  "concurrency: 2\nproxyMetadata: {A: b}\nholdApplicationUntilProxyStarts: true\n",
  '{"a":{"emptyDir":{}}}',
  "10.0.0.0/8,192.168.0.0/16",
  "8080,9090,*",
  "100m",
  "sidecar,grpc-agent",
  "true",
];

export const ANNOTATIONS: FuzzReader = {
  name: "annotations",
  seeds: NAMES.flatMap((_, name) => VALUES.map((value) => `${String.fromCharCode(name)}${value}`)),
  words: [...JSON_WORDS, ...YAML_WORDS, ",", "*", "/33", "65536", "-1", "1Gi", "1e6"],
  open() {
    const injector = builtIn();
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "d", namespace: "n" };
    return (input) => {
      const name = NAMES[(input[0] ?? 0) % NAMES.length] ?? "";
      const pod = {
        metadata: { labels: { app: "a" }, annotations: { [name]: textOf(input.subarray(1)) } },
        spec: { containers: [{ name: "a", image: "b", ports: [{ containerPort: 80 }] }] },
      };
      injectPod(pod, owner, injector);
      return true;
    };
  },
};
