import assert from "node:assert/strict";
import { type ValueMap } from "../../base/value.ts";
import { InputFacts } from "./input_rules.ts";
import { inputFindings } from "./rules.ts";

/** A pod that 50 Services select, each with many ports. Comparing all pairs of ports would take a minute. */
function manyPorts(count: number): InputFacts {
  const facts = new InputFacts();
  const add = (kind: string, name: string, manifest: ValueMap) =>
    facts.add({
      described: { file: "f", document: 1, apiVersion: "v1", kind, namespace: "", name },
      manifest: { ...manifest, apiVersion: "v1", kind },
      ...kind === "Pod" ? { injected: { pod: manifest, path: [] } } : {},
      off: new Set(),
      lineOf: () => undefined,
    });
  add("Pod", "web", { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web" }] } });
  for (let service = 0; service < 50; service++) {
    const ports = Array.from({ length: count }, (_, index) => ({
      ...{ name: `http-${index}`, port: 10_000 + index + (service === 1 && index === 0 ? 1_000_000 : 0) },
      targetPort: service < 2 ? 20_000 + index : 100_000 * service + index,
    }));
    add("Service", `s${service}`, { spec: { selector: { app: "web" }, ports } });
  }
  return facts;
}

Deno.test("Services with many ports are compared port by port, not each with each", () => {
  const texts = inputFindings(manyPorts(600), new Set()).map(({ message }) => message);
  assert.deepEqual(texts, [
    'The Services "s0" and "s1" select the same pods, and map the ports 10000 and 1010000 to the same pod port 20000',
  ]);
});
