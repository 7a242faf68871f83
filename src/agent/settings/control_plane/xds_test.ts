import assert from "node:assert/strict";
import { proxySettings } from "../../../core/mesh/configuration.ts";
import { fakeWorld } from "../../../core/world/fake.ts";
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

Deno.test("readXds: a pod of Istio without anything said", () => {
  assert.deepEqual(read(), {
    path: "./etc/istio/proxy/XDS",
    address: ISTIOD,
    tls: {
      serverName: "istiod.istio-system.svc",
      roots: { from: "mesh", files: ["./etc/certs/root-cert.pem", "./var/run/secrets/istio/root-cert.pem"] },
    },
    headers: {},
  });
});

Deno.test("readXds: plain text where it is asked for, and on istiod's port for it", () => {
  assert.equal(read({}, { controlPlaneAuthPolicy: "NONE" }).tls, undefined);
  assert.equal(read({}, { discoveryAddress: "istiod.istio-system.svc:15010" }).tls, undefined);
  assert.notEqual(read({}, { controlPlaneAuthPolicy: "INHERIT" }).tls, undefined);
});

Deno.test("readXds: the name in the certificate is the address's host, istiod's behind a forwarded port, or ISTIOD_SAN", () => {
  const name = (address: string, env = {}) => read(env, { discoveryAddress: address }).tls?.serverName;
  assert.equal(name("[2001:db8::1]:15012"), "2001:db8::1");
  assert.equal(name("localhost:15012"), "istiod.istio-system.svc");
  assert.equal(name(ISTIOD, { ISTIOD_SAN: "istiod-canary.istio-system.svc" }), "istiod-canary.istio-system.svc");
});

Deno.test("readXds: roots of a file, of the system, and of a folder that was provisioned", () => {
  const roots = (env: Record<string, string>) => read(env).tls?.roots;
  assert.deepEqual(roots({ XDS_ROOT_CA: "/roots.pem" }), { from: "file", file: "/roots.pem" });
  assert.deepEqual(roots({ XDS_ROOT_CA: "SYSTEM" }), { from: "system" });
  assert.deepEqual(roots({ PROV_CERT: "/prov" }), {
    from: "mesh",
    files: ["./etc/certs/root-cert.pem", "/prov/root-cert.pem"],
  });
});

Deno.test("readXds: headers of the user's own", () => {
  assert.deepEqual(read({ XDS_HEADER_X_Tenant: "a", XDS_HEADER_: "b", CA_HEADER_c: "d" }).headers, { x_tenant: "a" });
});
