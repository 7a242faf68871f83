import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { refuseFips } from "./fips.ts";
import { readSettings } from "./settings/read.ts";

const POLICY = { COMPLIANCE_POLICY: "fips-140-2" };
const PLAIN = { PROXY_CONFIG: "discoveryAddress: istiod.istio-system.svc:15010" };
const FILES = { FILE_MOUNTED_CERTS: "true" };

/** Variables, arguments, and whose TLS is refused; "" for none. */
const CASES: readonly (readonly [Readonly<Record<string, string>>, readonly string[], string])[] = [
  [{}, [], ""],
  [{ COMPLIANCE_POLICY: "fips-140-3" }, [], ""],
  [POLICY, [], "to the CA and istiod does not"],
  [{ ...POLICY, ...FILES }, [], "to istiod does not"],
  [{ ...POLICY, ...FILES }, ["--xds", "direct"], ""],
  [POLICY, ["--xds", "direct"], "to the CA does not"],
  [{ ...POLICY, ...FILES, DISABLE_ENVOY: "true" }, ["--xds", "direct"], "to istiod does not"],
  [{ ...POLICY, ...FILES, ISTIO_META_DNS_CAPTURE: "true" }, ["--xds", "direct"], "to istiod's name table does not"],
  [{ ...POLICY, ...PLAIN }, [], ""],
];

for (const [env, args, refused] of CASES) {
  Deno.test(`refuseFips: ${Object.keys(env).join(", ")} ${args.join(" ")}: ${refused || "starts"}`, async () => {
    const settings = await readSettings(fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env } }), args, {
      name: "agent",
    });
    if (refused === "") refuseFips(settings);
    else {assert.throws(() => refuseFips(settings), {
        name: "MeshError",
        message: new RegExp(`"fips-140-2".*${refused}`),
      });}
  });
}
