/**
 * Another program writes certificates into a folder, by four methods. The agent follows them under load in the mesh of
 * a real istiod.
 */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { AGENTS, OURS } from "./support/agents.ts";
import { underLoad } from "./support/figures.ts";
import type { RunningPod } from "./support/kubelet/kubelet.ts";
import { missing, RealMesh } from "./support/mesh.ts";
import { spiffe } from "./support/objects.ts";
import { type WriterName, WRITERS } from "./support/writers.ts";

const ROTATIONS = isLong() ? 100 : 3;

/** How the certificates of both pods are written. */
const METHODS: readonly (readonly [WriterName, WriterName])[] = [
  ["projected", "symlink swap"],
  ["plain rename", "in-place write"],
];

/** pilot-agent misses some changes: the next change comes after this time. */
const TIMEOUT_MILLISECONDS = 5000;

/** pilot-agent does not find istiod's roots itself if its certificate is in files. */
const ROOTS_OF_ISTIOD = { XDS_ROOT_CA: "/var/run/secrets/istio/root-cert.pem" };

for (const agent of AGENTS) {
  testWhen(needsCluster() ?? missing, `mounts: pods of ${agent.name} follow certificates in files`, async (t) => {
    await using mesh = await RealMesh.create({ agent, proxyMetadata: ROOTS_OF_ISTIOD });
    for (const methods of METHODS) {
      await using pair = await mesh.pair({ name: methods[0].replace(" ", "-") });
      const write = (turn: number) =>
        Promise.all([
          writeCertificate(mesh, pair.a, { writer: methods[0], uri: spiffe("a"), turn }),
          writeCertificate(mesh, pair.b, { writer: methods[1], uri: spiffe("b"), turn }),
        ]);
      await write(0);
      await Promise.all([pair.a.startReady(), pair.b.startReady()]);
      await underLoad(t, pair, { agent, name: `certificates in files: ${methods.join(" and ")}` }, async (load) => {
        for (let turn = 1; turn <= ROTATIONS; turn++) {
          await write(turn);
          if (agent === OURS) await load.rotated();
          else await load.rotates(TIMEOUT_MILLISECONDS);
        }
        if (agent === OURS) assert.deepEqual(load.counts().rotations, [ROTATIONS, ROTATIONS]);
        return `of ${ROTATIONS} each`;
      });
    }
  });
}

/** Writes a new certificate into the pod's folder. */
async function writeCertificate(
  { parts: { root } }: RealMesh,
  { volumes }: RunningPod,
  { writer, uri, turn }: { readonly writer: WriterName; readonly uri: string; readonly turn: number },
): Promise<void> {
  const { certificate, key } = root.issue(uri);
  const files = { "cert-chain.pem": certificate, "key.pem": key, "root-cert.pem": root.root };
  await WRITERS[writer](volumes.path("workload-certs"), files, turn);
}
