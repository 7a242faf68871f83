import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { PLUGIN } from "../commands/plugin.ts";
import { main } from "../mod.ts";

async function said(options: FakeWorldOptions): Promise<string[]> {
  const world = fakeWorld(options);
  assert.equal(await main(world), 0);
  assert.equal(world.said.stderr, "");
  return world.said.stdout.split("\n");
}

async function values(args: readonly string[], options: FakeWorldOptions = {}) {
  const lines = (await said({ ...options, name: "kubectl_complete-mesh", args })).slice(0, -1);
  return { values: lines.slice(0, -1).map((line) => line.split("\t")[0]), directive: lines.at(-1) };
}

Deno.test("completion speaks Cobra's protocol, under kubectl's name and as __complete", async () => {
  const lines = await said({ name: "kubectl_complete-mesh", args: ["inj"] });
  assert.deepEqual(lines, ["inject\tWrite manifests with the sidecar injected", ":4", ""]);
  assert.deepEqual(await said({ args: ["__complete", "inj"] }), lines);
});

Deno.test("a failure of completion is Cobra's directive, and nothing else", async () => {
  const stdout: string[] = [];
  const world = fakeWorld({ args: ["__complete", "inj"] });
  const broken = new Proxy(["__complete", "inj"], {
    get: (target, key) => {
      if (key === "at") throw new Error("broken");
      return Reflect.get(target, key);
    },
  });
  const { completing } = await import("../commands/complete.ts");
  const code = await completing(PLUGIN).start?.(
    {
      ...world,
      stdout: { ...world.stdout, write: (text) => stdout.push(`${text}`) },
    },
    broken,
    "",
  );
  assert.deepEqual([code, stdout, world.said.stderr], [0, [":1\n"], ""]);
});

const CASES: readonly (readonly [words: string[], expected: string[], directive: string])[] = [
  [[""], Object.keys(PLUGIN.commands), ":4"],
  [["w"], ["webhook", "wait"], ":4"],
  [["webhook", ""], ["serve", "manifests"], ":4"],
  [["check", "in"], ["injection", "injector-configuration"], ":4"],
  [["check", "webhook", "w"], ["workloads"], ":4"],
  [["agent", "r"], ["router"], ":4"],
  [["completion", ""], ["install-kubectl", "bash", "zsh", "fish", "powershell"], ":4"],
  [["completion", "install-kubectl", "--dir", ""], [], ":16"],
  [["inject", "--inj"], ["--inject-config", "--injectConfigMapName"], ":4"],
  [["inject", "-"], ["-f", "--filename", "--help"], ""],
  [["inject", "--report", ""], ["text", "changed", "json", "sarif", "none"], ":4"],
  [["inject", "--report=j"], ["json"], ":4"],
  [["inject", "-o", "j"], ["json"], ":0"],
  [["inject", "-f", ""], ["yaml", "yml", "json"], ":8"],
  [["inject", "-k", ""], [], ":16"],
  [["inject", "--inject-config=a"], [], ":0"],
  [["inject", "--cni="], ["true", "false"], ":4"],
  [["inject", "--cni", "--rep"], ["--report"], ":4"],
  [["inject", "--namespace", "x"], [], ":4"],
  [["inject", "--help", ""], [], ":4"],
  [["wait", "--", "/bin/s"], [], ":0"],
  [["nothing", ""], [], ":4"],
  [["check", "--only", "webh"], ["webhook-reachable"], ""],
  [["check", "--explain", "webhook-re"], ["webhook-reachable"], ""],
  [["check", "--only", "webhook,kubernetes-a"], ["webhook,kubernetes-api"], ":4"],
  [["check", "--only", "kubernetes-api,kubernetes-api"], [], ":4"],
  [["check", "upgrade", "--to", ""], ["default"], ":0"],
  [["check", "injection", "stat"], ["statefulset/"], ":6"],
  [["check", "injection", "deployment", ""], [], ":4"],
  [["explain", "po"], ["pod/"], ":6"],
];

for (const [words, expected, directive] of CASES) {
  Deno.test(`completion of "${words.join(" ")}"`, async () => {
    const read = await values(words);
    if (directive !== "") return assert.deepEqual(read, { values: expected, directive });
    for (const value of expected) assert.ok(read.values.includes(value), read.values.join(" "));
  });
}

Deno.test("completion of pods in snapshots asks no cluster", async () => {
  const pod = JSON.stringify({ metadata: { namespace: "shop", name: "web-1" } });
  const read = async (word: string) => {
    const args = ["__complete", "explain", "-f", "web", word];
    const world = fakeWorld({ args, files: { "web/pod.json": pod } });
    assert.equal(await main({ ...world, clock: { ...world.clock, sleep: () => new Promise<void>(() => {}) } }), 0);
    return world.said.stdout.trimEnd().split("\n");
  };
  assert.deepEqual(await read(""), ["web-1", "pod/", ":4"]);
  assert.deepEqual(await read("pod/"), ["pod/web-1", ":4"]);
  assert.deepEqual(await read("deployment/"), [":4"]);
});

const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "west", cluster: { server: "https://west.example" } }],
  users: [{ name: "ada", user: { token: "t" } }],
  contexts: [
    { name: "arn:aws:eks:west", context: { cluster: "west", user: "ada", namespace: "shop" } },
    { name: "other", context: { cluster: "west", user: "ada" } },
  ],
  "current-context": "arn:aws:eks:west",
});

/** A cluster with two pods, two Deployments and a webhook. It answers before time passes. */
const COLLECTIONS: Readonly<Record<string, readonly object[]>> = {
  "/api/v1/namespaces": [{ metadata: { name: "default" } }, { metadata: { name: "bank" } }],
  "/api/v1/namespaces/shop/pods": [{ metadata: { name: "web-1" } }, { metadata: { name: "db-0" } }],
  "/api/v1/namespaces/bank/pods": [{ metadata: { name: "teller" } }],
  "/apis/apps/v1/namespaces/shop/deployments": [{ metadata: { name: "web" } }, { metadata: { name: "db" } }],
  "/api/v1/namespaces/mesh/configmaps": [{ metadata: { name: "istio-canary" } }],
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": [
    { metadata: { name: "istio-sidecar-injector", labels: { "istio.io/rev": "1-31", "istio.io/tag": "prod" } } },
    { metadata: { name: "cert-manager" } },
  ],
};

type Answer = (url: URL) => Response;

const answers: Answer = ({ pathname }) => Response.json({ items: COLLECTIONS[pathname] ?? [] });

async function live(words: readonly string[], answer: Answer = answers, isLate = false) {
  const asked: string[] = [];
  const world = fakeWorld({
    args: ["__complete", ...words],
    env: { HOME: "/home/ada" },
    files: { "/home/ada/.kube/config": KUBECONFIG },
    request: (url, init) => {
      asked.push(`${new URL(url).pathname}${new URL(url).search} ${new Headers(init?.headers).get("accept")}`);
      return answer(new URL(url));
    },
  });
  const patient = { ...world.clock, sleep: () => new Promise<void>(() => {}) };
  assert.equal(await main(isLate ? world : { ...world, clock: patient }), 0);
  assert.equal(world.said.stderr, "");
  return { lines: world.said.stdout.trimEnd().split("\n"), asked, kept: world.kept.names };
}

const LIVE: readonly (readonly [words: string[], expected: string[]])[] = [
  [["check", "--context", ""], ["arn:aws:eks:west", "other", ":4"]],
  [["check", "--cluster", "w"], ["west", ":4"]],
  [["check", "--user="], ["ada", ":4"]],
  [["check", "-n", ""], ["default", "bank", "shop", ":4"]],
  [["explain", ""], ["web-1", "db-0", ...kinds(""), ":4"]],
  [["explain", "web"], ["web-1", ":4"]],
  [["explain", "-n", "bank", "t"], ["teller", ":4"]],
  [["explain", "-nbank", "pod/"], ["pod/teller", ":4"]],
  [["explain", "pod/web-1", ""], [":4"]],
  [["check", "injection", "deploy/w"], ["deploy/web", ":4"]],
  [["check", "injection", "deployment", "w"], ["web", ":4"]],
  [["check", "injection", "frob/"], [":4"]],
  [["check", "-r", ""], ["1-31", "prod", "default", ":4"]],
  [["check", "upgrade", "--to", "p"], ["prod", ":0"]],
  [["config", "diff", ""], ["rev:1-31", "rev:prod", "rev:default", ":0"]],
  [["config", "diff", "before.yaml", "rev:p"], ["rev:prod", ":0"]],
  [["config", "snapshot", "-n", "bank,"], ["bank,default", "bank,shop", ":4"]],
  [["webhook", "serve", "--self-managed-certs", "--webhook-config", ""], [
    "istio-sidecar-injector",
    "cert-manager",
    ":4",
  ]],
  [["inject", "--from-cluster", "--istioNamespace", "mesh", "--injectConfigMapName", ""], ["istio-canary", ":4"]],
];

function kinds(prefix: string): string[] {
  return ["pod", "deployment", "statefulset", "daemonset", "replicaset", "replicationcontroller", "job", "cronjob"]
    .concat("deploymentconfig").map((kind) => `${kind}/`).filter((kind) => kind.startsWith(prefix));
}

for (const [words, expected] of LIVE) {
  Deno.test(`completion of "${words.join(" ")}" with a cluster`, async () => {
    assert.deepEqual((await live(words)).lines, expected);
  });
}

Deno.test("completion sends one request, for names and labels, and gives up unneeded permissions", async () => {
  const { asked, kept } = await live(["check", "-n", ""]);
  assert.deepEqual(asked, [
    "/api/v1/namespaces?limit=500 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
  ]);
  assert.deepEqual(kept, ["read", "env", "net", "write"]);
});

Deno.test("completion does not ask a cluster that the command would not ask", async () => {
  for (const words of [["inject", "-n", ""], ["webhook", "manifests", "-n", ""], ["explain", "--local", ""]]) {
    assert.deepEqual((await live(words)).asked, [], words.join(" "));
  }
  assert.deepEqual((await live(["inject", "-n", ""])).lines, ["default", "shop", ":4"]);
  assert.deepEqual((await live(["inject", "--from-cluster", "-n", "b"])).lines, ["bank", ":4"]);
});

const FAILURES: readonly (readonly [name: string, answer: Answer])[] = [
  ["forbids", () => Response.json({ message: "forbidden" }, { status: 403 })],
  ["does not know the user", () => Response.json({ message: "unauthorized" }, { status: 401 })],
  ["answers no JSON", () => new Response("<html>")],
  ["answers something else", () => Response.json([1])],
  ["is away", () => {
    throw new TypeError("connection refused");
  }],
];

for (const [name, answer] of FAILURES) {
  Deno.test(`completion offers what the kubeconfig knows of a cluster that ${name}`, async () => {
    assert.deepEqual((await live(["check", "-n", ""], answer)).lines, ["default", "shop", ":4"]);
    assert.deepEqual((await live(["explain", "web"], answer)).lines, [":4"]);
  });
}

Deno.test("completion does not wait for a cluster that is late", async () => {
  assert.deepEqual((await live(["check", "-n", ""], answers, true)).lines, ["default", "shop", ":4"]);
});

Deno.test("completion is silent about a kubeconfig that cannot be read", async () => {
  assert.deepEqual(await values(["check", "--kubeconfig", "/none", "--context", ""]), { values: [], directive: ":4" });
  const files = { "/broken": "a: [" };
  const read = await values(["check", "--kubeconfig=/broken", "-n", ""], { files });
  assert.deepEqual(read, { values: [], directive: ":4" });
});
