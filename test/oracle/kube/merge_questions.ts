import { fc } from "../../support/properties.ts";
import type { Value, ValueMap } from "../../../src/base/value.ts";
import type { Question } from "./oracle.ts";

/** Merges for each rule of strategic merge patch: type, original, patch as JSON. */
const RULES: readonly (readonly [string, string, string])[] = [
  ["Pod", `{}`, `{}`],
  ["Pod", `{"metadata":{"name":"a"}}`, `{"metadata":{"name":null}}`],
  ["Pod", `{"metadata":{"name":"a"}}`, `{"metadata":{"labels":{"x":null,"y":"1"}}}`],
  ["Pod", `{"metadata":{"labels":{"a":"1","b":"2"}}}`, `{"metadata":{"labels":{"a":null,"c":"3"}}}`],
  ["Pod", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"$patch":"replace","c":"3"}}}`],
  ["Pod", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"$patch":"delete"}}}`],
  ["Pod", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"$patch":"merge","b":"1"}}}`],
  ["Pod", `{"metadata":{}}`, `{"metadata":{"labels":{"$patch":"delete"}}}`],
  ["Pod", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":"text"}}`],
  ["Pod", `{"metadata":{"finalizers":["a","b"]}}`, `{"metadata":{"finalizers":["c","a"]}}`],
  [
    "Pod",
    `{"metadata":{"finalizers":["a","b","c"]}}`,
    `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b","z"]}}`,
  ],
  ["Pod", `{"metadata":{}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}}`],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$deleteFromPrimitiveList":["a"]}}`],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`],
  ["Pod", `{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder/finalizers":["c","b","a"]}}`],
  [
    "Pod",
    `{"metadata":{"finalizers":["a","b","c"]}}`,
    `{"metadata":{"$setElementOrder/finalizers":["d","c"],"finalizers":["d"]}}`,
  ],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$setElementOrder/finalizers":["a"],"finalizers":["d"]}}`],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$setElementOrder/finalizers":"a"}}`],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[1]}}`],
  ["Pod", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[["b"]]}}`],
  ["Pod", `{"metadata":{"finalizers":[["a"]]}}`, `{"metadata":{"finalizers":[["b"]]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}}`,
    `{"spec":{"containers":[{"name":"c"},{"name":"b","image":"2"}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`,
    `{"spec":{"containers":[{"name":"x"},{"name":"c"},{"name":"y"}]}}`,
  ],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"image":"x"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"image":"a","n":1,"l":[1,"b",null],"m":{"z":true,"a":1.5}}]}}`,
    `{"spec":{"containers":[{"name":"x"}]}}`,
  ],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"$patch":"delete"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`,
    `{"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}}`,
  ],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"$patch":"replace"}]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"a","$patch":"merge"}]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"a","$patch":"nope"}]}}`],
  ["Pod", `{"spec":{}}`, `{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"b","image":null}]}}`],
  ["Pod", `{"spec":{"containers":null}}`, `{"spec":{"containers":[{"name":"a"}]}}`],
  ["Pod", `{"spec":{"containers":[]}}`, `{"spec":{"containers":[]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":["x"]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":{"name":"x"}}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","image":"1"}]}}`,
    `{"spec":{"containers":[{"name":"b","image":"1"},{"name":"b","image":"2"}]}}`,
  ],
  ["Pod", `{"spec":{}}`, `{"spec":{"containers":[{"name":"b","image":"1"},{"name":"b","image":"2"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","args":["x"],"command":["y"]}]}}`,
    `{"spec":{"containers":[{"name":"a","args":["z"]}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"h"}]}]}}`,
    `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"UDP"},{"containerPort":81}]}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}}`,
    `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":"80"}]}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}}`,
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":null,"memory":"1Gi"}}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":{"x":1}}}}]}}`,
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":{"y":1}}}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":[1]}}}]}}`,
    `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":[2]}}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
    `{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
    `{"spec":{"volumes":[{"name":"v","emptyDir":null,"configMap":{"name":"c"}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
    `{"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
    `{"spec":{"volumes":[{"name":"v","$retainKeys":["configMap"],"configMap":{"name":"c"}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
    `{"spec":{"volumes":[{"name":"v","$retainKeys":"name"}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v"}]}}`,
    `{"spec":{"volumes":[{"name":"w","$retainKeys":["name"],"emptyDir":null}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"volumes":[{"name":"v","unknown":{"a":1}}]}}`,
    `{"spec":{"volumes":[{"name":"v","unknown":{"b":1}}]}}`,
  ],
  ["Pod", `{"spec":{"unknown":{"a":1}}}`, `{"spec":{"unknown":{"b":1}}}`],
  ["Pod", `{"spec":{"unknown":["a"]}}`, `{"spec":{"unknown":["b"]}}`],
  ["Pod", `{"spec":{"unknown":"a"}}`, `{"spec":{"unknown":"b","other":{"x":null}}}`],
  ["Pod", `{"spec":{"CONTAINERS":[{"name":"a"}]}}`, `{"spec":{"CONTAINERS":[{"name":"b"}]}}`],
  ["Pod", `{"spec":{"securityContext":{"bad":{"a":1}}}}`, `{"spec":{"securityContext":{"bad":{"b":1}}}}`],
  ["Pod", `{"spec":{"securityContext":[1]}}`, `{"spec":{"securityContext":[2]}}`],
  ["Pod", `{"spec":{"hostname":["a"]}}`, `{"spec":{"hostname":["b"]}}`],
  ["Pod", `{"spec":{"nodeSelector":["a"]}}`, `{"spec":{"nodeSelector":["b"]}}`],
  ["Pod", `{"spec":{"nodeSelector":{"a":"1"}}}`, `{"spec":{"nodeSelector":{"b":"2"}}}`],
  ["Pod", `{"spec":{"tolerations":[{"key":"a"}]}}`, `{"spec":{"tolerations":[{"key":"b"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`,
    `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`,
    `{"spec":{"$setElementOrder/containers":[{"name":"x"},{"name":"b"},{"name":"a"}],"containers":[{"name":"x","image":null}]}}`,
  ],
  [
    "Pod",
    `{"spec":{}}`,
    `{"spec":{"$setElementOrder/containers":[{"name":"y"},{"name":"x"}],"containers":[{"name":"y","image":null},{"name":"x"}]}}`,
  ],
  [
    "Pod",
    `{"spec":{}}`,
    `{"spec":{"$setElementOrder/containers":[{"name":"y"},{"name":"x"}],"containers":[{"name":"x"},{"name":"y"}]}}`,
  ],
  ["Pod", `{"spec":{}}`, `{"spec":{"$setElementOrder/containers":[{"name":"y"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"}]}}`,
    `{"spec":{"$setElementOrder/containers":[{"image":"y"}],"containers":[{"name":"a"}]}}`,
  ],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/nope":[{"image":"y"}]}}`],
  ["Pod", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder":[{"name":"a"}]}}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`,
    `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"b","$patch":"delete"},{"name":"a","image":"2"}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"imagePullSecrets":[{"name":"a"}],"hostAliases":[{"ip":"1.1.1.1","hostnames":["a"]}]}}`,
    `{"spec":{"imagePullSecrets":[{"name":"b"}],"hostAliases":[{"ip":"1.1.1.1","hostnames":["b"]}]}}`,
  ],
  ["Pod", `{"$patch":"replace","metadata":{}}`, `{"metadata":{"name":"a"}}`],
  ["Pod", `{"metadata":{"name":"b"}}`, `{"$patch":"replace","metadata":{"name":"a","x":null}}`],
  ["Pod", `{"metadata":{"name":"b"}}`, `{"$patch":"delete"}`],
  ["Pod", `{"metadata":{"name":"b"}}`, `{"$patch":null}`],
  ["Pod", `{"metadata":{"name":"b"}}`, `{"$patch":1}`],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]}}`,
    `{"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"},{"name":"X","value":null,"valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":80,"path":"/"}}}]}}`,
    `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":"http"},"exec":null}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":{"x":{"y":1}}}}}]}}`,
    `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":{"x":{"z":1}}}}}]}}`,
  ],
  [
    "Pod",
    `{"spec":{"topologySpreadConstraints":[{"topologyKey":"z","maxSkew":1}]}}`,
    `{"spec":{"topologySpreadConstraints":[{"topologyKey":"z","maxSkew":2},{"topologyKey":"h","maxSkew":1}]}}`,
  ],
  [
    "Deployment",
    `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
    `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`,
  ],
  [
    "Deployment",
    `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
    `{"spec":{"strategy":{"$retainKeys":["rollingUpdate"],"type":"Recreate"}}}`,
  ],
  [
    "Deployment",
    `{"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a"}]}}}}`,
    `{"spec":{"replicas":2,"template":{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"p"}]}}}}`,
  ],
  [
    "StatefulSet",
    `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"a"}}]}}`,
    `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"b"}}]}}`,
  ],
  [
    "CronJob",
    `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}}}}`,
    `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"b"}]}}}}}}`,
  ],
  [
    "Container",
    `{"name":"a","env":[{"name":"A"}],"volumeMounts":[{"mountPath":"/a","name":"x"}]}`,
    `{"env":[{"name":"B"}],"volumeMounts":[{"mountPath":"/a","name":"y"},{"mountPath":"/b","name":"y"}],"volumeDevices":[{"devicePath":"/d","name":"z"}]}`,
  ],
];

/**
 * Returns the rules as questions. Lists whose name starts with `$` are left out, because their order in Go is random.
 */
export function ruleQuestions(): Question[] {
  return RULES.map(([type, original, patch]) => merge(type, JSON.parse(original), JSON.parse(patch)));
}

function merge(type: string, original: ValueMap, patch: ValueMap): Question {
  return { op: "merge", type, original, patch };
}

const name = fc.constantFrom("a", "b", "c", "d");
const text = fc.constantFrom("x", "y", "");
const maybeNull = (value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });

/** A mapping with some of the given fields. */
function some(fields: Record<string, fc.Arbitrary<Value>>, required: string[] = []): fc.Arbitrary<ValueMap> {
  return fc.record(fields, { requiredKeys: required });
}

/** The options for generating objects and patches. */
interface Side {
  readonly value: (arbitrary: fc.Arbitrary<Value>) => fc.Arbitrary<Value>;
  readonly map: (arbitrary: fc.Arbitrary<ValueMap>) => fc.Arbitrary<ValueMap>;
  readonly list: (key: string, item: fc.Arbitrary<ValueMap>) => fc.Arbitrary<Value>;
}

const object: Side = {
  value: (arbitrary) => arbitrary,
  map: (arbitrary) => arbitrary,
  list: (key, item) => fc.uniqueArray(item, { maxLength: 4, selector: (element) => element[key] }),
};

const patchSide: Side = {
  value: maybeNull,
  map: (arbitrary) =>
    fc.tuple(arbitrary, fc.constantFrom(...Array(18).fill(""), "replace", "delete")).map(([map, directive]) =>
      directive === "" ? map : { ...map, $patch: directive }
    ),
  list: (_key, item) => fc.array(patchSide.map(item), { maxLength: 4 }),
};

function pod(side: Side): fc.Arbitrary<ValueMap> {
  const { value, map, list } = side;
  const env = some({ name, value: value(text), valueFrom: map(some({ fieldRef: some({ fieldPath: text }) })) }, [
    "name",
  ]);
  const port = some({ containerPort: fc.constantFrom(80, 81, 82), name: value(text) }, ["containerPort"]);
  const mount = some({ mountPath: fc.constantFrom("/a", "/b", "/c"), name: value(text) }, ["mountPath"]);
  const container = some({
    name,
    image: value(text),
    args: value(fc.array(text, { maxLength: 2 })),
    env: list("name", env),
    ports: list("containerPort", port),
    volumeMounts: list("mountPath", mount),
    resources: map(some({ limits: map(fc.dictionary(fc.constantFrom("cpu", "memory"), value(fc.constant("1")))) })),
    securityContext: value(map(some({ runAsUser: value(fc.constantFrom(0, 1337)), privileged: value(fc.boolean()) }))),
  }, ["name"]);
  const volume = some({
    name,
    emptyDir: value(map(some({ medium: text }))),
    configMap: value(map(some({ name, items: fc.array(some({ key: text, path: text }), { maxLength: 2 }) }))),
  }, ["name"]);
  const meta = some({
    name: value(name),
    labels: value(map(fc.dictionary(name, value(text)))),
    finalizers: fc.uniqueArray(name, { maxLength: 3 }),
  });
  const spec = some({
    containers: list("name", container),
    initContainers: list("name", container),
    volumes: list("name", volume),
    tolerations: fc.array(some({ key: text }), { maxLength: 2 }),
    nodeSelector: value(map(fc.dictionary(name, value(text)))),
    hostname: value(text),
  });
  return some({ metadata: map(meta), spec: map(spec) });
}

/** Merges of generated pods and patches, with directives. About one in ten is an error. */
export const mergeQuestion: fc.Arbitrary<Question> = fc.tuple(pod(object), pod(patchSide), ordering()).map(
  ([original, patch, order]) => merge("Pod", original, withOrder(patch, order)),
);

function ordering(): fc.Arbitrary<Value[]> {
  return fc.uniqueArray(name, { maxLength: 4 }).map((names) => names.map((item) => ({ name: item })));
}

/** Adds an order for the containers to a quarter of the patches. */
function withOrder(patch: ValueMap, order: Value[]): ValueMap {
  const spec = patch["spec"];
  if (order.length !== 3 || typeof spec !== "object" || spec === null || Array.isArray(spec)) return patch;
  return { ...patch, spec: { ...spec, "$setElementOrder/containers": order } };
}
