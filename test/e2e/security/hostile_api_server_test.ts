/** Names, images, messages and errors of an API server must not act on a terminal or on the log of a CI system. */
import assert from "node:assert/strict";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Answer, serveApi } from "./support/api_server.ts";
import { acting, inPipes, needsTerminal, onTerminal } from "./support/terminal.ts";

/**
 * Sets the title, clears the screen by C0 and C1 codes, hides text, reverses its direction, moves the cursor back and
 * up, has one of this program's colours, and begins a line.
 */
const HOSTILE =
  "x\u001b]0;MARK\u0007\u001b[35mRED\u001b[2J\u009b2J\u001b[8m\u202e\u2066\r\n\u001b[1A\u0000\u0008y\nFORGED";

interface Obj {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

const CONTAINERS = [{ name: "app", image: `a:${HOSTILE}` }, {
  name: "istio-proxy",
  image: `istio/proxyv2:1.${HOSTILE}`,
}];
const LABELS = { app: "web", x: HOSTILE };
const POD_STATUS = {
  phase: "Pending",
  podIP: "10.0.0.1",
  reason: HOSTILE,
  message: HOSTILE,
  conditions: [{ type: "Ready", status: "False", reason: HOSTILE, message: HOSTILE }],
  containerStatuses: CONTAINERS.map(({ name, image }) => ({
    ...{ name, image, imageID: image, ready: false, restartCount: 3 },
    state: { waiting: { reason: HOSTILE, message: HOSTILE } },
  })),
};

function pod(name: string, namespace: string, labels: object): Obj {
  const annotations = { "sidecar.istio.io/status": HOSTILE, "proxy.istio.io/config": HOSTILE };
  const metadata = { name, namespace, labels, annotations };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: { containers: CONTAINERS, nodeName: HOSTILE },
    status: POD_STATUS,
  };
}

function webhook(name: string, revision: string, clientConfig: object, matchConditions: readonly object[] = []): Obj {
  const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name, labels: { app: "sidecar-injector", "istio.io/rev": revision } },
    webhooks: [{ name: `a.${name}.istio.io`, rules, clientConfig, matchConditions, failurePolicy: "Fail" }],
  };
}

const SERVICE = { service: { namespace: "istio-system", name: `istiod${HOSTILE}`, path: `/inject/${HOSTILE}` } };
const OBJECTS: readonly Obj[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "istio-injection": "enabled" } } },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: `n${HOSTILE}`, labels: { "istio-injection": HOSTILE } } },
  pod("web-1", "shop", LABELS),
  pod(`p${HOSTILE}`, "shop", { ...LABELS, "istio.io/rev": HOSTILE }),
  pod(`istiod-${HOSTILE}`, "istio-system", { app: "istiod", "istio.io/rev": HOSTILE }),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", labels: LABELS },
    spec: {
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } },
    },
    status: { conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: HOSTILE }] },
  },
  {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e", namespace: "shop" },
    involvedObject: { kind: "Deployment", name: "web", namespace: "shop" },
    reason: "FailedCreate",
    message: `Error creating: ${HOSTILE}`,
  },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: HOSTILE },
    status: { nodeInfo: { kubeletVersion: `v1.${HOSTILE}` } },
  },
  { apiVersion: "v1", kind: "Service", metadata: { name: HOSTILE, namespace: "shop" }, spec: { ports: [] } },
  webhook("istio", "default", SERVICE, [{ name: HOSTILE, expression: `'${HOSTILE}` }]),
  webhook(`w${HOSTILE}`, HOSTILE, { url: `https://${HOSTILE}` }),
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio-sidecar-injector", namespace: "istio-system" },
    data: {
      config: `policy: enabled\ntemplates:\n  sidecar: ${JSON.stringify(`{{ "${HOSTILE}" | ${HOSTILE} }}`)}\n`,
      values: JSON.stringify({ a: HOSTILE }),
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system" },
    data: { mesh: JSON.stringify({ rootNamespace: HOSTILE }) },
  },
];

const PLURALS: Readonly<Record<string, string>> = {
  namespaces: "Namespace",
  pods: "Pod",
  deployments: "Deployment",
  events: "Event",
  nodes: "Node",
  services: "Service",
  mutatingwebhookconfigurations: "MutatingWebhookConfiguration",
  configmaps: "ConfigMap",
};

function failure(status: number): Response {
  const details = { name: HOSTILE, kind: HOSTILE, causes: [{ reason: HOSTILE, message: HOSTILE, field: HOSTILE }] };
  const body = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: HOSTILE,
    reason: HOSTILE,
    details,
    code: status,
  };
  return Response.json(body, { status });
}

/** The objects of a collection, or one of them. */
function objects(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname === "/version") {
    return Response.json({ major: "1", minor: HOSTILE, gitVersion: `v1.33.0${HOSTILE}`, platform: HOSTILE });
  }
  if (request.method !== "GET") return failure(403);
  const found = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([a-z]+)(?:\/([^/]+))?$/.exec(
    pathname,
  );
  const [, namespace, plural = "", name] = found ?? [];
  const all = OBJECTS.filter(({ kind, metadata }) =>
    kind === PLURALS[plural] && (namespace === undefined || metadata["namespace"] === namespace)
  );
  if (name === undefined) {
    return Response.json({
      apiVersion: all[0]?.apiVersion ?? "v1",
      kind: `${PLURALS[plural]}List`,
      metadata: {},
      items: all,
    });
  }
  const one = all.find(({ metadata }) => metadata["name"] === decodeURIComponent(name));
  return one === undefined ? failure(404) : Response.json(one);
}

interface Server {
  readonly answer: Answer;
  /** The minimum number of commands that print text of the server. */
  readonly shown: number;
}

const SERVERS: Readonly<Record<string, Server>> = {
  "has hostile objects": { answer: objects, shown: 10 },
  "refuses with a hostile Status": { answer: () => failure(403), shown: 10 },
  "fails with a hostile text": { answer: () => new Response(HOSTILE, { status: 500 }), shown: 10 },
  "answers with what is no JSON": {
    answer: () => new Response(`{"kind": "${HOSTILE}`, { headers: { "content-type": "application/json" } }),
    shown: 0,
  },
};

const MANIFEST = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n";

const COMMANDS: readonly (readonly string[])[] = [
  ["check"],
  ["check", "-o", "wide"],
  ["check", "injection", "deployment/web", "-n", "shop"],
  ["check", "injection", "-A", "-o", "wide"],
  ["check", "injection", "-f", "pod.yaml", "-n", "shop", "--from-cluster"],
  ["explain", "pod/web-1", "-n", "shop"],
  ["explain", "pod/web-1", "-n", "shop", "--to", "10.0.0.9:80"],
  ["explain", "-A"],
  ["inject", "-f", "pod.yaml", "--from-cluster"],
  ["inject", "--from-cluster", "--show-config"],
  ["version"],
  ["config", "snapshot"],
  ["config", "diff", "rev:default", "rev:canary"],
  ["snapshot", "pod/web-1", "-n", "shop", "-o", "web.tar.gz"],
  ["__complete", "check", "injection", "-n", ""],
  ["__complete", "explain", "-n", "shop", "pod/"],
];

/** Commands whose standard output is data, which keeps its bytes: manifests, YAML, words of a completion. */
const DATA = /^(inject|config|__complete)/;

/** Text of the server that acts on the terminal: a control character, a colour, the start of a line. */
function leaks(shown: string): readonly string[] {
  const rest = [["a colour", "\u001b[35mRED"], ["a line", "\nFORGED"]] as const;
  return [...acting(shown), ...rest.filter(([, text]) => shown.includes(text)).map(([what]) => what)];
}

for (const [title, { answer, shown: least }] of Object.entries(SERVERS)) {
  testWhen(needsTerminal, `security: no command lets an API server that ${title} act on the terminal`, async () => {
    await using folder = await temporaryFolder();
    await using served = await serveApi(answer);
    await Deno.writeTextFile(`${folder.path}/pod.yaml`, MANIFEST);
    // A short timeout would hide what completion prints.
    const env = {
      KUBECONFIG: served.kubeconfig,
      KUBECACHEDIR: `${folder.path}/names`,
      MESH_COMPLETION_TIMEOUT: "60s",
    };
    const problems: Record<string, readonly string[]> = {};
    const silent: string[] = [];
    for (const command of COMMANDS) {
      const shown = await onTerminal(command, { cwd: folder.path, env });
      const found = [...leaks(shown), .../Unexpected failure/.test(shown) ? [shown] : []];
      if (found.length > 0) problems[command.join(" ")] = found;
      const { stdout, stderr } = await inPipes(command, { cwd: folder.path, env });
      const piped = leaks(DATA.test(command[0] ?? "") ? stderr : stdout + stderr);
      if (piped.length > 0) problems[`${command.join(" ")} | cat`] = piped;
      if (!shown.includes("MARK")) silent.push(command.join(" "));
    }
    assert.deepEqual(problems, {});
    assert.ok(COMMANDS.length - silent.length >= least, `nothing of the server's is shown by: ${silent.join(", ")}`);
  });
}
