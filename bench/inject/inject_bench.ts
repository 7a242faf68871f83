// deno-lint-ignore-file no-console -- a benchmark talks to whoever runs it
/**
 * Measures injection in this process, after a warm-up, with time by phase: 2,000 Deployments of about 600 bytes with
 * the settings of the test cases. Run with `tools/deno run -A bench/inject/inject_bench.ts [copies]`.
 */
import { changeStream, injection, newInjector } from "../../src/inject/mod.ts";

const SETTINGS = decodeURIComponent(new URL("../../../shared/cases/inject/settings/", import.meta.url).pathname);

function source(name: string): { text: string; file: string } {
  return { text: Deno.readTextFileSync(SETTINGS + name), file: name };
}

function deployment(n: number): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-${n}
  labels: {app: shop-${n}, version: v1}
spec:
  replicas: 1
  selector:
    matchLabels: {app: shop-${n}, version: v1}
  template:
    metadata:
      labels: {app: shop-${n}, version: v1}
    spec:
      serviceAccountName: shop-${n}
      containers:
      - name: shop
        image: example.test/shop:${n}
        imagePullPolicy: IfNotPresent
        ports:
        - containerPort: 9080 # the web
        readinessProbe:
          httpGet: {path: /ready, port: 9080}
---
`;
}

async function main(copies: number): Promise<void> {
  const env = (name: string) => name === "ENABLE_NATIVE_SIDECARS" ? "false" : undefined;
  const started = performance.now();
  const injector = newInjector({
    config: source("config.yaml"),
    values: source("values.yaml"),
    mesh: source("mesh.yaml"),
    byHand: true,
    env,
    now: () => new Date(),
  });
  const loaded = performance.now() - started;
  const bytes = new TextEncoder().encode(Array.from({ length: copies }, (_, n) => deployment(n)).join(""));
  const run = async (part: Uint8Array) => {
    let written = 0;
    const sink = { write: (text: string) => void (written += text.length), report: () => {} };
    async function* chunks() {
      for (let at = 0; at < part.length; at += 65536) yield part.subarray(at, at + 65536);
    }
    const from = performance.now();
    const summary = await changeStream([{ file: "bench.yaml", chunks }], injection(injector), { output: "yaml", sink });
    return { milliseconds: performance.now() - from, written, injected: summary.injected };
  };
  const cold = await run(bytes);
  const warm = await run(bytes);
  const each = (milliseconds: number) => (milliseconds / copies).toFixed(3);
  console.log(
    `configuration read in ${loaded.toFixed(1)} ms; ${bytes.length} bytes in, ${warm.written} characters out`,
  );
  console.log(
    `${warm.injected} Deployments: ${each(cold.milliseconds)} ms each at first, ${each(warm.milliseconds)} ms warm`,
  );
}

await main(Number(Deno.args[0] ?? 2000));
