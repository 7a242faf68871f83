import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { readSettings } from "../settings/read.ts";
import { buildBootstrap } from "./bootstrap.ts";

async function bootstrap(env: Record<string, string>, words: readonly string[] = []): Promise<Record<string, unknown>> {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env } });
  return JSON.parse(JSON.stringify(buildBootstrap(await readSettings(world, words, { name: "agent" }))));
}

Deno.test("buildBootstrap: any text in a name is kept and changes nothing else", async () => {
  const marked = JSON.stringify(await bootstrap({ POD_NAME: "MARK", ISTIO_META_OWNER: "MARK" }));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (name) => {
      const made = await bootstrap({ POD_NAME: name, ISTIO_META_OWNER: name });
      const wanted: unknown = JSON.parse(marked, (key, value) => {
        if (value === "MARK") return (key === "NAME" || key === "OWNER") ? name : value;
        return key === "id" && typeof value === "string" ? value.replace("MARK", () => name) : value;
      });
      assert.deepEqual(withoutEmpty(made), withoutEmpty(wanted));
    }),
    { numRuns: 100 },
  );
});

/** An empty name is left out of the metadata. */
function withoutEmpty(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item) => key === "NAME" && item === "" ? undefined : item));
}

Deno.test('buildBootstrap: runtime values override defaults; true and false become booleans; "" removes a flag', async () => {
  const values = { a: "true", b: "false", c: "1", "re2.max_program_size.error_level": "" };
  const made = await bootstrap({ PROXY_CONFIG: JSON.stringify({ runtimeValues: values }) });
  const text = JSON.stringify(made["layered_runtime"]);
  assert.match(text, /"a":true,"b":false,"c":"1"/);
  assert.doesNotMatch(text, /re2/);
});

Deno.test("buildBootstrap: a load reporting value that is not JSON is left out", async () => {
  assert.equal((await bootstrap({ ISTIO_META_LOAD_STATS_CONFIG_JSON: "{" }))["cluster_manager"], undefined);
  const made = await bootstrap({ ISTIO_META_LOAD_STATS_CONFIG_JSON: '{"api_type":"GRPC"}' });
  assert.deepEqual(made["cluster_manager"], {
    load_stats_config: { api_type: "GRPC" },
    enable_deferred_cluster_creation: true,
  });
});

Deno.test("buildBootstrap: Envoy logs JSON if the agent does", async () => {
  for (const words of [["--log_as_json"], ["--log-format", "json"]]) {
    assert.match(JSON.stringify((await bootstrap({}, words))["application_log_config"]), /json_format/);
  }
  const byVariable = await bootstrap({ MESH_LOG_FORMAT: "json" });
  assert.match(JSON.stringify(byVariable["application_log_config"]), /json_format/);
});

Deno.test("buildBootstrap: --xds direct is a TLS cluster with SDS instead of the agent's socket", async () => {
  const at = (made: Record<string, unknown>) => JSON.stringify(made);
  const through = at(await bootstrap({}));
  assert.match(through, /"name":"xds-grpc"[^]*"pipe":\{"path":"[^"]*\/XDS"\}/);
  const direct = at(await bootstrap({ XDS_HEADER_X_TENANT: "a", ISTIOD_SAN: "istiod.other.svc" }, ["--xds", "direct"]));
  assert.doesNotMatch(direct, /\/XDS"/);
  assert.match(direct, /"address":"istiod\.istio-system\.svc","port_value":15012/);
  assert.match(
    direct,
    /"match_typed_subject_alt_names":\[\{"san_type":"DNS","matcher":\{"exact":"istiod\.other\.svc"\}\}\]/,
  );
  assert.match(direct, /"sni":"istiod\.other\.svc"/);
  assert.match(direct, /"initial_metadata":\[\{"key":"x_tenant","value":"a"\}\]/);
  const roots = at(await bootstrap({ XDS_ROOT_CA: "/roots.pem" }, ["--xds", "direct"]));
  assert.match(roots, /"file-root:\/roots\.pem"/);
  const plain = at(await bootstrap({ PROXY_CONFIG: "discoveryAddress: istiod:15010" }, ["--xds", "direct"]));
  assert.doesNotMatch(plain, /transport_socket/);
  await assert.rejects(bootstrap({}, ["--xds", "around"]), /Unknown value "around" for "--xds": use agent or direct/);
});
