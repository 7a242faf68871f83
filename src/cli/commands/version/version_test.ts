import assert from "node:assert/strict";
import { parseYaml } from "../../../yaml/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { VERSION } from "../../../version.ts";
import { main } from "../../mod.ts";
import { componentsOf } from "./cluster.ts";
import { VERSION_INFO } from "./version_schema.ts";

const FILES = {
  "/home/ada/.kube/config": `apiVersion: v1
kind: Config
current-context: kind
contexts: [{name: kind, context: {cluster: kind, user: ada}}]
clusters: [{name: kind, cluster: {server: "https://kind.test"}}]
users: [{name: ada, user: {token: secret}}]
`,
};

function pod(image: string, { phase = "Running", labels = {} }: { phase?: string; labels?: object } = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod", namespace: "istio-system", labels },
    spec: { containers: [{ name: "discovery", image }] },
    status: { phase },
  };
}

type Request = (path: string, query: URLSearchParams) => unknown;

/** A cluster with an istiod of two pods, one of another revision, and a webhook. */
const MESH: Request = (path, query) => {
  if (path === "/version") return { gitVersion: "v1.34.1" };
  const isIstiod = query.get("labelSelector") === "app=istiod";
  const istiod = "docker.io/istio/pilot:1.31.0-distroless";
  const items = isIstiod
    ? [pod(istiod), pod(istiod), pod("istio/pilot:1.30.2", { labels: { "istio.io/rev": "canary" } })]
    : [pod("registry:5000/mesh:0.2.0@sha256:00ff", { labels: { "istio.io/rev": "mesh" } })];
  return { apiVersion: "v1", kind: "PodList", metadata: {}, items };
};

const FORBIDDEN = new Response(JSON.stringify({ kind: "Status", message: "no", reason: "Forbidden" }), { status: 403 });

async function run(
  args: string,
  { files = {}, request = MESH }: { files?: Record<string, string>; request?: Request },
) {
  const asked: string[] = [];
  const world = fakeWorld({
    args: ["version", ...args.split(" ").filter(Boolean)],
    env: { HOME: "/home/ada" },
    files,
    request: (url) => {
      const { pathname, searchParams } = new URL(url);
      asked.push(pathname);
      const answer = request(pathname, searchParams);
      return answer instanceof Response ? answer.clone() : Response.json(answer);
    },
  });
  return { code: await main(world), ...world.said, asked };
}

const OWN = new RegExp(`^kubectl-mesh ${VERSION}\ncommit unknown: [^\n]+\nDeno 2.0.0, linux-amd64\n`);

Deno.test("version says what this program is, and asks no cluster without a kubeconfig or with --client", async () => {
  for (const each of [await run("", {}), await run("--client", { files: FILES })]) {
    assert.deepEqual([each.code, each.stderr, each.asked], [0, "", []]);
    assert.equal(each.stdout.replace(OWN, ""), "");
  }
});

Deno.test("version says what runs in the cluster: Kubernetes, each istiod and the webhook", async () => {
  const { code, stdout, stderr } = await run("", { files: FILES });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(
    stdout.replace(OWN, ""),
    `cluster https://kind.test: Kubernetes v1.34.1
istiod 1.30.2: revision "canary", namespace istio-system, 1 pod
istiod 1.31.0: revision "default", namespace istio-system, 2 pods
webhook 0.2.0: revision "mesh", namespace istio-system, 1 pod
`,
  );
});

Deno.test("version -o json and yaml are one document, which the schema describes", async () => {
  const json = await run("-o json", { files: FILES });
  const value = VERSION_INFO.parse(JSON.parse(json.stdout));
  assert.deepEqual(value.cluster?.istiod?.map(({ version, pods }) => [version, pods]), [["1.30.2", 1], ["1.31.0", 2]]);
  assert.deepEqual(value.cluster?.problems, []);
  const yaml = await run("-o yaml", { files: FILES });
  assert.deepEqual(VERSION_INFO.parse(structuredClone(parseYaml(yaml.stdout))), value);
});

Deno.test("version --istioNamespace asks for one namespace", async () => {
  const { asked } = await run("--istioNamespace mesh", { files: FILES });
  assert.deepEqual(asked, ["/version", "/api/v1/namespaces/mesh/pods", "/api/v1/namespaces/mesh/pods"]);
});

Deno.test("a missing permission is reported, the known versions are printed, and the exit code is 1, as in kubectl", async () => {
  const request: Request = (path, query) => path === "/version" ? MESH(path, query) : FORBIDDEN;
  const { code, stdout, stderr } = await run("", { files: FILES, request });
  assert.equal(code, 1);
  assert.equal(
    stdout.replace(OWN, ""),
    "cluster https://kind.test: Kubernetes v1.34.1\nistiod: unknown\nwebhook: unknown\n",
  );
  assert.match(
    stderr,
    /^error: Cannot get the version of istiod: .*\nerror: Cannot get the version of the webhook: .*\n$/,
  );
  const json = VERSION_INFO.parse(JSON.parse((await run("-o json", { files: FILES, request })).stdout));
  assert.deepEqual([json.cluster?.istiod, json.cluster?.problems.length], [null, 2]);
});

Deno.test("an unreachable or unknown cluster causes a single error line", async () => {
  const down = await run("", { files: FILES, request: () => new Response("", { status: 503 }) });
  assert.deepEqual([down.code, down.stdout.replace(OWN, "")], [1, "cluster https://kind.test: unknown\n"]);
  assert.match(down.stderr, /^error: Cannot get the versions in the cluster: [^\n]*\n$/);
  const absent = await run("--context prod", { files: FILES });
  assert.deepEqual([absent.code, absent.stdout.replace(OWN, ""), absent.asked], [1, "", []]);
  assert.match(absent.stderr, /^error: Cannot get the versions in the cluster: .*"prod"[^\n]*\n$/);
});

Deno.test("componentsOf() leaves out pods that have ended; an image without a tag has no version", () => {
  const pods = [
    pod("a:1", { phase: "Failed" }),
    pod("a:1", { phase: "Succeeded" }),
    pod("b@sha256:00"),
    pod("c:5000/d"),
  ];
  assert.deepEqual(
    componentsOf(JSON.parse(JSON.stringify(pods))).map(({ image, version }) => [image, version]),
    [["b@sha256:00", null], ["c:5000/d", null]],
  );
});
