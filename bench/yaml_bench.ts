import { editDocument, parseDocument, splitDocuments, toYaml } from "../src/yaml/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../src/base/value.ts";

const COPIES = 2000;

/** Returns a Deployment of about 500 bytes, as people write them. */
function manifest(index: number): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-${index}
  labels:
    app: web   # the label that the Service selects
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
        version: v1
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: docker.io/example/web:1.17.0
        imagePullPolicy: IfNotPresent
        env:
        - name: LOG_LEVEL
          value: "info"
        ports:
        - containerPort: 9080
        volumeMounts:
        - name: tmp
          mountPath: /tmp
      volumes:
      - name: tmp
        emptyDir: {}
`;
}

/** About 8 KB of new content: two containers with long lists of arguments and variables. */
function sidecar(index: number): Value[] {
  const env = Array.from(
    { length: 50 },
    (_, at): Value => map({ name: `ISTIO_META_NUMBER_${at}`, value: `value-${at % 7}` }),
  );
  const args = Array.from({ length: 40 }, (_, at) => `--argument-of-the-proxy-${at}=web-${index}.$(POD_NAMESPACE)`);
  const main = map({ name: "istio-proxy", image: "docker.io/istio/proxyv2:1.30.0", args, env });
  return [
    main,
    map({ name: "istio-init", args: args.slice(0, 20), env: env.slice(0, 20), securityContext: map({ runAsUser: 0 }) }),
  ];
}

function map(entries: Record<string, Value>): ValueMap {
  return Object.assign(newMap(), entries);
}

/** Adds the new containers to the document's value; the rest of the value is shared. */
function inject(value: Value, index: number): Value {
  const spec = child(child(child(value, "spec"), "template"), "spec");
  const containers = spec.containers;
  const pod = {
    ...spec,
    containers: [...(isList(containers ?? null) && isList(containers) ? containers : []), ...sidecar(index)],
  };
  const template = map({ ...child(child(value, "spec"), "template"), spec: map(pod) });
  return map({ ...map(isMap(value) ? value : {}), spec: map({ ...child(value, "spec"), template }) });
}

function child(value: Value, key: string): ValueMap {
  const found = isMap(value) ? value[key] : undefined;
  return isMap(found) ? found : newMap();
}

const file = new TextEncoder().encode(Array.from({ length: COPIES }, (_, index) => manifest(index)).join("---\n"));
const parsed = parseDocument({ text: manifest(0) });
const injected = inject(parsed.value, 0);

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 65536) yield file.subarray(at, at + 65536);
}

Deno.bench(`split ${COPIES} documents`, async () => {
  for await (const _ of splitDocuments(chunks(), { file: "bench.yaml" }));
});

Deno.bench(`split, parse, edit ${COPIES} documents, 8 KB inserted in each`, async () => {
  let index = 0;
  for await (const doc of splitDocuments(chunks(), { file: "bench.yaml" })) {
    const document = parseDocument(doc);
    editDocument(document, inject(document.value, index++));
  }
});

Deno.bench("parse one document of 700 bytes", () => {
  parseDocument({ text: manifest(0) });
});

Deno.bench("edit one document, 8 KB inserted", () => {
  editDocument(parsed, injected);
});

Deno.bench("toYaml of the edited value", () => {
  toYaml(injected);
});
