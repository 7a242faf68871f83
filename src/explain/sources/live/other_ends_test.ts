import assert from "node:assert/strict";
import { ApiError, type KubeObject, type Pod } from "../../../kube/client/mod.ts";
import { fakeSnapshot } from "../../connection/fake_snapshot_test.ts";
import { liveEnds } from "./other_ends.ts";

const READ = fakeSnapshot();
const forbidden = () => Promise.reject(new ApiError("services is forbidden: no right", { status: 403 }));

/** Returns the ends with an API server that has these answers by path. Any other path is an error. */
function endsOf(answers: Readonly<Record<string, readonly KubeObject[] | (() => Promise<never>)>>) {
  const asked: string[] = [];
  const read: string[] = [];
  const answer = (path: string): readonly KubeObject[] | Promise<never> => {
    asked.push(path);
    const found = Object.hasOwn(answers, path) ? answers[path] : undefined;
    return typeof found === "function" ? found() : found ?? [];
  };
  const api = {
    get: async (path: string) => (await answer(path))[0],
    async list(path: string, query: Readonly<Record<string, string>> = {}) {
      return { items: await answer([path, ...Object.values(query)].join(" ")), resourceVersion: "1" };
    },
  };
  const ends = liveEnds(api, (pod: Pod) => {
    read.push(pod.metadata.name);
    return Promise.resolve(READ);
  });
  return { ends, asked, read };
}

function pod(name: string, status: KubeObject[string]): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" }, spec: {}, status };
}

const PODS = "/api/v1/namespaces/shop/pods";

Deno.test("podAt() reads the pod with the address, in the namespace or in all, and not one that has ended", async () => {
  const pods = [
    pod("done", { phase: "Succeeded" }),
    pod("dead", { phase: "Failed" }),
    pod("web", { phase: "Running" }),
  ];
  for (const [namespace, path] of [["shop", PODS], [undefined, "/api/v1/pods"]] as const) {
    const { ends, read } = endsOf({ [`${path} status.podIP=10.0.0.9`]: pods });
    assert.deepEqual(await ends.podAt("10.0.0.9", namespace), { snapshot: READ });
    assert.deepEqual(read, ["web"]);
  }
});

Deno.test("podAt() finds a pod by its second address, which field selectors do not match", async () => {
  const dual = pod("web", { podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }, { ip: "2001:db8::9" }] });
  const { ends, read } = endsOf({ [PODS]: [pod("other", { podIPs: [{ ip: "2001:db8::1" }] }), dual] });
  assert.deepEqual(await ends.podAt("2001:db8::9", "shop"), { snapshot: READ });
  assert.deepEqual(read, ["web"]);
});

Deno.test("podAt() says why there is no pod", async () => {
  const none = await endsOf({}).ends.podAt("10.0.0.9", "shop");
  assert.equal(
    none.why,
    'no pod in the namespace "shop" has the address 10.0.0.9: the pod was deleted, or the address is outside of the cluster',
  );
  assert.equal(none.isOutside, true);
  const anywhere = await endsOf({}).ends.podAt("10.0.0.9", undefined);
  assert.match(anywhere.why ?? "", /^no pod has the address 10\.0\.0\.9/);
  const denied = await endsOf({ [`${PODS} status.podIP=10.0.0.9`]: forbidden }).ends.podAt("10.0.0.9", "shop");
  assert.match(denied.why ?? "", /no right/);
  assert.equal(denied.isOutside, undefined);
  const hosts = [pod("a", { phase: "Running" }), pod("b", { phase: "Running" })];
  const { ends, read } = endsOf({ [`${PODS} status.podIP=10.0.0.1`]: hosts });
  const several = await ends.podAt("10.0.0.1", "shop");
  assert.equal(several.why, "2 pods that use the host's network have the address 10.0.0.1");
  assert.deepEqual(read, []);
});

Deno.test("podAt() and endpointsOf() throw errors of the API server", async () => {
  const broken = () => Promise.reject(new ApiError("it is down", { status: 503 }));
  const { ends } = endsOf({ [`${PODS} status.podIP=10.0.0.9`]: broken, [SERVICE]: broken });
  await assert.rejects(ends.podAt("10.0.0.9", "shop"), /it is down/);
  await assert.rejects(ends.endpointsOf("web", 80, "shop"), /it is down/);
});

const SERVICE = "/api/v1/namespaces/shop/services/web";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices kubernetes.io/service-name=web";

function service(...ports: object[]): KubeObject {
  return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { ports } }));
}

function slice(ports: readonly object[], endpoints: readonly object[]): KubeObject {
  return JSON.parse(JSON.stringify({ metadata: { name: "web-1" }, ports, endpoints }));
}

Deno.test("endpointsOf() takes the ready addresses of all slices, at the port of the same name", async () => {
  const http = { name: "http", port: 80, targetPort: 8080 };
  const { ends } = endsOf({
    [SERVICE]: [service({ name: "admin", port: 81 }, http)],
    [SLICES]: [
      slice([{ name: "admin", port: 8081 }, { name: "http", port: 8080 }], [
        { addresses: ["10.0.0.9", "10.0.0.10"], conditions: { ready: true } },
        { addresses: ["10.0.0.11"], conditions: { ready: false } },
        { addresses: ["10.0.0.12"] },
      ]),
      slice([{ name: "http", port: 8082 }], [{ addresses: ["2001:db8::9"], conditions: {} }]),
      slice([{ name: "admin", port: 8081 }], [{ addresses: ["10.0.0.13"] }]),
      slice([{ name: "http" }], [{ addresses: ["10.0.0.14"] }]),
    ],
  });
  assert.deepEqual(await ends.endpointsOf("web", 80, "shop"), [
    "10.0.0.9:8080",
    "10.0.0.12:8080",
    "[2001:db8::9]:8082",
  ]);
});

Deno.test("endpointsOf() says why there are none", async () => {
  const one = service({ port: 80 });
  const cases = [
    [{ [SERVICE]: forbidden }, 80, /no right/],
    [{ [SERVICE]: [one], [SLICES]: forbidden }, 80, /no right/],
    [{ [SERVICE]: [one] }, 80, /^the Service shop\/web has no ready endpoints$/],
    [{ [SERVICE]: [one] }, 81, /^the Service shop\/web has only the port 80$/],
    [{ [SERVICE]: [service({ port: 80 }, { port: 90 })] }, 81, /^the Service shop\/web has only the ports 80, 90$/],
  ] as const;
  for (const [answers, port, why] of cases) {
    const found = await endsOf(answers).ends.endpointsOf("web.shop", port, "other");
    assert.match(String(found), why);
  }
});

Deno.test("endpointsOf() asks for no Service where the host cannot be one", async () => {
  const { ends, asked } = endsOf({});
  for (const host of ["10.0.0.9", "2001:db8::9", "web.shop.example.com"]) {
    assert.equal(await ends.endpointsOf(host, 80, "shop"), `"${host}" is not the name of a Service`);
  }
  assert.deepEqual(asked, []);
  for (const host of ["web", "web.shop", "web.shop.svc", "web.shop.svc.cluster.local"]) {
    assert.equal(await ends.endpointsOf(host, 80, "shop"), "the Service shop/web does not exist");
  }
  assert.deepEqual(new Set(asked), new Set([SERVICE]));
});
