import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { grpcBootstrap, writeGrpcBootstrap } from "./grpc_bootstrap.ts";

const NODE = {
  id: "sidecar~10.0.0.5~web.shop~shop.svc.cluster.local",
  cluster: "web.shop",
  locality: { region: "eu", zone: "eu-1", subZone: "" },
  metadata: { CLUSTER_ID: "Kubernetes" },
  typedMetadata: {},
  labels: new Map<string, string>(),
  annotations: new Map<string, string>(),
};

const FILE = "./etc/istio/proxy/grpc-bootstrap.json";
const OPTIONS = { file: FILE, node: NODE, socket: "./etc/istio/proxy/XDS", certificates: "" };

Deno.test("grpcBootstrap: what pilot-agent writes", () => {
  assert.deepEqual(grpcBootstrap({ ...OPTIONS, certificates: "/var/lib/istio/data" }), {
    xds_servers: [{
      server_uri: "unix:///etc/istio/proxy/XDS",
      channel_creds: [{ type: "insecure" }],
      server_features: ["xds_v3"],
    }],
    node: {
      id: NODE.id,
      metadata: { CLUSTER_ID: "Kubernetes", GENERATOR: "grpc" },
      locality: { region: "eu", zone: "eu-1", sub_zone: "" },
    },
    certificate_providers: {
      default: {
        plugin_name: "file_watcher",
        config: {
          certificate_file: "/var/lib/istio/data/cert-chain.pem",
          private_key_file: "/var/lib/istio/data/key.pem",
          ca_certificate_file: "/var/lib/istio/data/root-cert.pem",
          refresh_interval: "900s",
        },
      },
    },
    server_listener_resource_name_template: "xds.istio.io/grpc/lds/inbound/%s",
  });
  assert.equal(grpcBootstrap(OPTIONS).certificate_providers, undefined);
  assert.equal(grpcBootstrap({ ...OPTIONS, socket: "/run/XDS" }).xds_servers[0]?.server_uri, "unix:///run/XDS");
});

Deno.test("writeGrpcBootstrap: the pod waits for the certificates", async () => {
  const world = fakeWorld();
  const log = startLog(world, "agent");
  const certificates = "/data";
  const grpc = await writeGrpcBootstrap(world.files, { ...OPTIONS, certificates, log });
  assert.deepEqual(JSON.parse(await world.files.readText(FILE)), grpcBootstrap({ ...OPTIONS, certificates }));
  assert.equal(await grpc.problem(), '"/data/cert-chain.pem" (OUTPUT_CERTS) does not exist yet');
  for (const name of ["cert-chain", "key", "root-cert"]) world.files.writeText(`/data/${name}.pem`, "");
  assert.equal(await grpc.problem(), undefined);
});

Deno.test("writeGrpcBootstrap: a folder that cannot be written is logged, and tried again", async () => {
  const world = fakeWorld();
  let isFull = true;
  const files = {
    ...world.files,
    makeFolder: world.files.makeFolder.bind(world.files),
    stat: world.files.stat.bind(world.files),
    writeText(path: string, text: string, mode?: number) {
      if (isFull) throw new Error("No space left");
      world.files.writeText(path, text, mode);
    },
  };
  const grpc = await writeGrpcBootstrap(files, { ...OPTIONS, log: startLog(world, "agent") });
  assert.equal(await grpc.problem(), "Cannot write the gRPC bootstrap: No space left");
  isFull = false;
  assert.equal(await grpc.problem(), undefined);
  assert.notEqual(await world.files.stat(FILE), undefined);
});
