import assert from "node:assert/strict";
import { proxySettings } from "../../../istio/configuration.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { Variables } from "../variables.ts";
import { readXds } from "./xds.ts";

const ISTIOD = "istiod.istio-system.svc:15012";
const CONFIG = { configPath: "./etc/istio/proxy", discoveryAddress: ISTIOD, controlPlaneAuthPolicy: "MUTUAL_TLS" };

function read(env: Record<string, string> = {}, data: Record<string, string> = {}) {
  const world = fakeWorld({ env });
  const variables = new Variables(world.env, []);
  const reading = { world, given: new Map(), variables, usage: [], problems: [], warnings: [] };
  return readXds(reading, proxySettings({ era: "current", data: { ...CONFIG, ...data } }));
}

Deno.test("readXds: an Istio pod without settings", () => {
  assert.deepEqual(read(), {
    path: "./etc/istio/proxy/XDS",
    address: ISTIOD,
    tls: {
      serverName: "istiod.istio-system.svc",
      roots: { from: "mesh", files: ["./etc/certs/root-cert.pem", "./var/run/secrets/istio/root-cert.pem"] },
    },
    headers: {},
    grpcBootstrap: "",
    wasm: {
      folders: ["/var/lib/istio/data", "./etc/istio/proxy"],
      expiry: 86_400_000,
      purgeInterval: 3_600_000,
      requestTimeout: 15_000,
      attempts: 5,
      insecureHosts: [],
      keychains: [],
    },
  });
});

Deno.test("readXds: credentials of registries, as Docker and Podman find them", () => {
  const files = (env: Record<string, string>) => read(env).wasm?.keychains;
  assert.deepEqual(files({ HOME: "/home/a" }), ["/home/a/.docker/config.json"]);
  assert.deepEqual(
    files({ HOME: "/home/a", DOCKER_CONFIG: "/d", REGISTRY_AUTH_FILE: "/p.json", XDG_RUNTIME_DIR: "/run" }),
    [
      "/d/config.json",
      "/p.json",
      "/run/containers/auth.json",
    ],
  );
});

Deno.test("readXds: the gRPC bootstrap is written if its variable is set, or without Envoy", () => {
  assert.equal(read({ GRPC_XDS_BOOTSTRAP: "/x/grpc.json" }).grpcBootstrap, "/x/grpc.json");
  assert.equal(read({ DISABLE_ENVOY: "true" }).grpcBootstrap, "./etc/istio/proxy/grpc-bootstrap.json");
});

Deno.test("readXds: plain text if configured, and on istiod's plain port", () => {
  assert.equal(read({}, { controlPlaneAuthPolicy: "NONE" }).tls, undefined);
  assert.equal(read({}, { discoveryAddress: "istiod.istio-system.svc:15010" }).tls, undefined);
  assert.notEqual(read({}, { controlPlaneAuthPolicy: "INHERIT" }).tls, undefined);
});

Deno.test("readXds: the server name is the address's host, istiod's for localhost, or ISTIOD_SAN", () => {
  const name = (address: string, env = {}) => read(env, { discoveryAddress: address }).tls?.serverName;
  assert.equal(name("[2001:db8::1]:15012"), "2001:db8::1");
  assert.equal(name("localhost:15012"), "istiod.istio-system.svc");
  assert.equal(name(ISTIOD, { ISTIOD_SAN: "istiod-canary.istio-system.svc" }), "istiod-canary.istio-system.svc");
});

Deno.test("readXds: roots from a file, the system, and PROV_CERT", () => {
  const roots = (env: Record<string, string>) => read(env).tls?.roots;
  assert.deepEqual(roots({ XDS_ROOT_CA: "/roots.pem" }), { from: "file", file: "/roots.pem" });
  assert.deepEqual(roots({ XDS_ROOT_CA: "SYSTEM" }), { from: "system" });
  assert.deepEqual(roots({ PROV_CERT: "/prov" }), {
    from: "mesh",
    files: ["./etc/certs/root-cert.pem", "/prov/root-cert.pem"],
  });
});

Deno.test("readXds: the user's headers", () => {
  assert.deepEqual(read({ XDS_HEADER_X_Tenant: "a", XDS_HEADER_: "b", CA_HEADER_c: "d" }).headers, { x_tenant: "a" });
});
