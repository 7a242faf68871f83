/** Our Pod Security rules agree with the API server's, for pods of every kind. */
import assert from "node:assert/strict";
import { type Level, violationsOf } from "../../../src/inject/mod.ts";
import type { ValueMap } from "../../../src/base/value.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { createNamespace, tried } from "../support/cluster/requests.ts";

const LEVELS: readonly Level[] = ["baseline", "restricted"];

/** A container that meets the restricted level. */
const STRICT = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/** Without `privileged` and `procMount`: this server rejects them at every level. */
const CONTAINERS: Readonly<Record<string, ValueMap>> = {
  "no settings": {},
  "restricted": STRICT,
  "a low port": { ...STRICT, capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } },
  "a usual capability": { ...STRICT, capabilities: { drop: ["ALL"], add: ["CHOWN"] } },
  "NET_ADMIN and NET_RAW": { ...STRICT, capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "NET_RAW"] } },
  "some dropped": { ...STRICT, capabilities: { drop: ["NET_RAW"] } },
  "escalation": { ...STRICT, allowPrivilegeEscalation: true },
  "root": { ...STRICT, runAsNonRoot: false, runAsUser: 0 },
  "user 0 with runAsNonRoot": { ...STRICT, runAsUser: 0 },
  "another user": { ...STRICT, runAsUser: 1337 },
  "no runAsNonRoot": { ...STRICT, runAsNonRoot: null },
  "unconfined": { ...STRICT, seccompProfile: { type: "Unconfined" } },
  "a profile of the node": { ...STRICT, seccompProfile: { type: "Localhost", localhostProfile: "a.json" } },
  "no profile": { ...STRICT, seccompProfile: null },
};

const PODS: Readonly<Record<string, ValueMap>> = {
  "host network": { hostNetwork: true },
  "host PID": { hostPID: true },
  "host IPC": { hostIPC: true },
  "a path of the host": { volumes: [{ name: "v", hostPath: { path: "/" } }] },
  "usual volumes": { volumes: [{ name: "v", emptyDir: {} }, { name: "w", configMap: { name: "c" } }] },
  "a volume by NFS": { volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] },
  "settings for all containers": {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  },
  "root for all": { securityContext: { runAsUser: 0 } },
  "unconfined for all": { securityContext: { seccompProfile: { type: "Unconfined" } } },
};

const PORTS: Readonly<Record<string, ValueMap[]>> = {
  "a port": [{ containerPort: 80 }],
  "a port of the host": [{ containerPort: 80, hostPort: 80 }],
};

function podOf(spec: ValueMap): ValueMap {
  const metadata = { name: "p", namespace: "" };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { automountServiceAccountToken: false, ...spec } };
}

function* pods(): Generator<readonly [name: string, pod: ValueMap]> {
  const container = (securityContext: ValueMap) => ({ name: "c", image: "i", securityContext });
  const strict = container(STRICT);
  for (const [name, security] of Object.entries(CONTAINERS)) {
    yield [name, podOf({ containers: [container(security)] })];
    const init = { ...container(security), name: "init" };
    yield [`init container: ${name}`, podOf({ initContainers: [init], containers: [strict] })];
  }
  for (const [name, spec] of Object.entries(PODS)) {
    yield [name, podOf({ ...spec, containers: [strict] })];
    const { runAsNonRoot: _user, seccompProfile: _profile, ...rest } = STRICT;
    yield [`${name}, and the container says less`, podOf({ ...spec, containers: [container(rest)] })];
  }
  for (const [name, ports] of Object.entries(PORTS)) yield [name, podOf({ containers: [{ ...strict, ports }] })];
}

testWhen(needsCluster(), "violationsOf() forbids what the API server forbids", async (t) => {
  const cluster = await startCluster();
  try {
    for (const level of LEVELS) {
      await createNamespace(cluster, level, { "pod-security.kubernetes.io/enforce": level });
      await t.step(level, () => agrees(cluster, level));
    }
  } finally {
    await cluster.stop();
  }
});

async function agrees(cluster: Cluster, level: Level): Promise<void> {
  const all = [...pods()];
  const verdicts = { forbidden: 0, admitted: 0 };
  for (const [name, pod] of all) {
    const placed = { ...pod, metadata: { name: "p", namespace: level } };
    const { refusal } = await tried(cluster, placed);
    const isForbidden = /violates PodSecurity/.test(refusal);
    assert.ok(refusal === "" || isForbidden, `${name}: ${refusal}`);
    const found = violationsOf(pod, level);
    assert.equal(found.length > 0, isForbidden, `${name}: ${refusal || "admitted"}, ours: ${found.join("; ")}`);
    verdicts[isForbidden ? "forbidden" : "admitted"]++;
  }
  assert.ok(verdicts.forbidden > 5 && verdicts.admitted > 5, JSON.stringify(verdicts));
}
