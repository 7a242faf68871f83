/** Fuzzes manifests: `inject` reads and writes them. */
import { splitText } from "../../../src/yaml/mod.ts";
import { configurationOf, injection, type Injector, newInjector } from "../../../src/inject/mod.ts";
import { changedText } from "../../support/changed_text.ts";
import { type FuzzReader, holds } from "../reader.ts";
import { JSON_WORDS, YAML_WORDS } from "./words.ts";

/** Returns an injector with the built-in configuration. */
export function builtIn(): Injector {
  return newInjector({ ...configurationOf({}), byHand: true, env: () => undefined, now: () => new Date(0) });
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  template:
    metadata:
      labels: {app: web}
      annotations:
        sidecar.istio.io/proxyCPU: 100m
    spec:
      initContainers:
      - name: init
        image: busybox
      containers:
      - name: web
        image: nginx # any
        ports: [{containerPort: 80, name: http}]
        livenessProbe: {httpGet: {path: /, port: http}}
      - {name: istio-proxy, image: auto, resources: {requests: {cpu: 1}}}
      volumes: [{name: v, emptyDir: {}}]
`;

const WORDS = [
  ...'kind: Pod\n|kind: CronJob\n|spec:\n|template:\n|containers:\n|- name: istio-proxy\n|image: auto\n|env:\n|port: http\n|hostNetwork: true\n|metadata:\n|sidecar.istio.io/inject: "false"\n|restartPolicy: Always\n|securityContext: {runAsUser: 1337}\n'
    .split("|"),
];

function run(input: Uint8Array, injector: Injector, output: "yaml" | "json") {
  return changedText(input, injection(injector), { file: "f", output });
}

export const MANIFESTS: FuzzReader = {
  name: "manifests",
  seeds: [
    DEPLOYMENT,
    `${DEPLOYMENT}---\nkind: List\nitems:\n- {kind: Pod, metadata: {name: p}, spec: {containers: [{name: a}]}}\n- kind: ConfigMap\n`,
    '{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}\n',
    "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n          - name: a\n",
  ],
  words: [...WORDS, ...YAML_WORDS, ...JSON_WORDS],
  open() {
    const injector = builtIn();
    return async (input) => {
      const { text, entries } = await run(input, injector, "yaml");
      for (const { result, message, error } of entries) {
        holds(result !== "failed" || (message !== "" && error !== undefined), "a failure has no message");
      }
      if (entries.some(({ result }) => result === "failed")) return false;
      if (!entries.some(({ result }) => result === "injected")) return entries.length > 0;
      splitText(text, "");
      const again = await run(new TextEncoder().encode(text), injector, "yaml");
      holds(!again.entries.some(({ result }) => result === "failed"), "the output cannot be read again");
      return true;
    };
  },
};
