import assert from "node:assert/strict";
import { ApiError, ExecError, type ExecRequest, type Pod } from "../../../kube/client/mod.ts";
import { controlPlaneOf } from "./control_plane.ts";

const WEB: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web-1", namespace: "shop" } };

function istiod(name: string, phase = "Running") {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "istio-system", labels: { "istio.io/rev": "stable" } },
    spec: { containers: [{ name: "discovery", image: "istio/pilot:1.31.0" }] },
    status: { phase },
  };
}

const SYNCZ = [
  { proxy: "web-1.shop", istio_version: "1.31.0", cluster_sent: "a", cluster_acked: "a" },
  { proxy: "other-1.bank", istio_version: "1.31.0" },
];

function apiOf(pods: readonly ReturnType<typeof istiod>[], answer: (command: string) => string) {
  return {
    list: () => Promise.resolve({ items: pods, resourceVersion: "1" }),
    exec({ command, container }: ExecRequest) {
      assert.equal(container, "discovery");
      const stdout = new TextEncoder().encode(answer(command.join(" ")));
      return Promise.resolve({ code: 0, stdout, stderr: "" });
    },
  };
}

Deno.test("each running istiod says its version and what it sent to the asked pods, and to no others", async () => {
  const api = apiOf([istiod("a"), istiod("b", "Pending")], (command) => {
    if (command === "pilot-discovery version -o json") return '{"clientVersion":{"version":"1.31.0"}}';
    assert.equal(command, "pilot-discovery request GET /debug/syncz");
    return JSON.stringify(SYNCZ);
  });
  assert.deepEqual(await controlPlaneOf({ api, timeout: undefined }, [WEB]), {
    istiods: [{
      pod: "istio-system/a",
      revision: "stable",
      image: "istio/pilot:1.31.0",
      version: { version: "1.31.0" },
      connected: 2,
      syncz: SYNCZ.slice(0, 1),
    }],
    problems: [],
  });
});

Deno.test("what cannot be asked is a problem", async () => {
  const api = apiOf([istiod("a")], () => {
    throw new ExecError("forbidden", "pods/exec is forbidden", {});
  });
  const { istiods: [only], problems } = await controlPlaneOf({ api, timeout: undefined }, [WEB]);
  assert.deepEqual([only?.version, only?.connected, only?.syncz], [null, null, null]);
  assert.deepEqual(problems, [
    'the output of "pilot-discovery version -o json" in istio-system/a: pods/exec is forbidden',
    'the output of "pilot-discovery request GET /debug/syncz" in istio-system/a: pods/exec is forbidden',
  ]);
  const list = () => Promise.reject(new ApiError("pods is forbidden", { status: 403 }));
  const refused = await controlPlaneOf({ api: { ...api, list }, timeout: undefined }, [WEB]);
  assert.deepEqual(refused, { istiods: [], problems: ["the pods of istiod: pods is forbidden"] });
  const none = await controlPlaneOf({ api: apiOf([], () => ""), timeout: undefined }, [WEB]);
  assert.deepEqual(none.problems, ["istiod: no running pod has the label app=istiod"]);
});

Deno.test("ten istiods are asked, and an answer that is no JSON is not known", async () => {
  const api = apiOf(Array.from({ length: 12 }, (_, at) => istiod(`i${at}`)), () => "<html>");
  const { istiods, problems } = await controlPlaneOf({ api, timeout: undefined }, [WEB]);
  assert.deepEqual([istiods.length, istiods[0]?.syncz, problems], [10, null, ["2 more istiod pods were not queried"]]);
});
