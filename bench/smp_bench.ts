import { decode, goView, strategicMerge, structSchema, toGoJson } from "../src/kube/mod.ts";
import { isMap, type Value, type ValueMap } from "../src/base/value.ts";

/** A sidecar of about 8 KB and an application pod, as an injector would merge them. */
const CONTAINER: ValueMap = {
  name: "istio-proxy",
  image: "example.test/mesh/proxyv2:1.0",
  args: Array.from({ length: 12 }, (_, i) => `--flag-${i}=value`),
  env: Array.from({ length: 30 }, (_, i) => ({ name: `ISTIO_META_VARIABLE_${i}`, value: "x".repeat(150) })),
  ports: [{ containerPort: 15090, name: "http-envoy-prom", protocol: "TCP" }],
  resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "100m", memory: "128Mi" } },
  securityContext: { runAsUser: 1337, runAsGroup: 1337, capabilities: { drop: ["ALL"] } },
  volumeMounts: Array.from(
    { length: 8 },
    (_, i) => ({ mountPath: `/var/run/secrets/mount-${i}`, name: `volume-${i}` }),
  ),
};
const PATCH: ValueMap = {
  metadata: { labels: { "security.istio.io/tlsMode": "istio" } },
  spec: {
    containers: [CONTAINER],
    volumes: Array.from({ length: 8 }, (_, i) => ({ name: `volume-${i}`, emptyDir: {} })),
  },
};
const POD: ValueMap = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", labels: { app: "web" } },
  spec: {
    containers: [{
      name: "web",
      image: "nginx",
      ports: [{ containerPort: 80 }],
      resources: { limits: { cpu: "500m" } },
    }],
  },
};
const MERGED = strategicMerge(POD, PATCH, "Pod");

Deno.bench("strategicMerge: sidecar into a small pod", () => {
  strategicMerge(POD, PATCH, "Pod");
});

Deno.bench("strategicMerge: sidecar onto a pod that has it", () => {
  strategicMerge(MERGED, PATCH, "Pod");
});

Deno.bench("decode: a small pod", () => {
  decode(POD, "Pod");
});

Deno.bench("decode: a pod with the sidecar", () => {
  decode(MERGED, "Pod");
});

Deno.bench("toGoJson: a pod with the sidecar", () => {
  toGoJson(MERGED, "Pod");
});

Deno.bench("goView: names and ports of all containers", () => {
  const spec: Value = MERGED["spec"] ?? null;
  if (!isMap(spec)) throw new Error("no spec");
  const containers = goView(spec, "PodSpec").get("Containers");
  if (!Array.isArray(containers)) throw new Error("no containers");
  for (const container of containers) {
    container.get("Ports").map((port: { get(name: string): unknown }) => port.get("ContainerPort"));
  }
});

Deno.bench("structSchema: a type that is known", () => {
  structSchema("PodSpec");
});
