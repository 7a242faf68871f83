import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { readSettings } from "../settings/read.ts";
import { renderBootstrap } from "./template.ts";

async function rendered(text: string, env: Record<string, string> = {}, words: readonly string[] = []) {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env, ISTIO_BOOTSTRAP: "t" }, files: { t: text } });
  return await renderBootstrap(world, await readSettings(world, words, { name: "agent" }));
}

Deno.test("templates: node, network and ports", async () => {
  const env = { POD_NAME: "a", POD_NAMESPACE: "b", ENVOY_STATUS_PORT: "16021" };
  const text =
    "{{ .nodeID }} {{ .nodeType }} {{ .cluster }} {{ .localhost }} {{ .wildcard }} {{ .dns_lookup_family }} " +
    "{{ .envoy_status_port }} {{ .secure_metrics_port }} {{ .xds_type }} {{ .discovery_host }} {{ .pilot_SAN }}";
  assert.equal(
    await rendered(text, env, ["router", "--domain", "d"]),
    "router~10.0.0.5~a.b~d router istio-proxy.b 127.0.0.1 0.0.0.0 V4_ONLY 16021 0 DELTA_GRPC " +
      'istiod.istio-system.svc [{"exact":"istiod.istio-system.svc"}]',
  );
});

Deno.test("templates: absent parameters are false", async () => {
  const names = ["zipkin", "statsd", "region", "dual_stack", "tracing_tls", "outlier_log_path", "sts", "extraStatTags"];
  const text = names.map((name) => `{{ if .${name} }}${name}{{ end }}`).join("");
  assert.equal(await rendered(text), "");
});

Deno.test("templates: proxy configuration and metadata by Go name", async () => {
  const env = { ISTIO_META_DNS_CAPTURE: "true", ISTIO_META_NODE_NAME: "n", ISTIO_METAJSON_LABELS: '{"app":"x"}' };
  const text = "{{ .config.ProxyAdminPort }} {{ .config.GetTracing.GetZipkin.GetAddress }}|{{ .metadata.NodeName }} " +
    "{{ .metadata.DNSCapture }} {{ .metadata.Labels.app }} {{ index .metadata.InstanceIPs 0 }} " +
    "{{ .metadata.EnvoyStatusPort }} {{ .metadata.ProxyConfig.StatusPort }} {{ .metadata.Owner | len }}";
  assert.equal(await rendered(text, env), "15000 |n true x 10.0.0.5 15021 15020 0");
});

Deno.test("templates: collectors, services and statistics", async () => {
  const service = {
    address: "m:1",
    tlsSettings: { mode: "SIMPLE", caCertificates: "/ca" },
    tcpKeepalive: { time: "20s" },
  };
  const config = {
    tracing: { zipkin: { address: "z:9411" } },
    envoyMetricsService: service,
    statsdUdpAddress: "10.1.1.1:8125",
  };
  const text = "{{ .zipkin }} {{ .statsd }} {{ .envoy_metrics_service_address }} " +
    "{{ .envoy_metrics_service_tcp_keepalive }} {{ with .envoy_metrics_service_tls }}tls{{ end }} {{ .inclusionPrefix | len }}";
  assert.equal(
    await rendered(text, { PROXY_CONFIG: JSON.stringify(config) }),
    '{"address": "z", "port_value": 9411} {"address": "10.1.1.1", "port_value": 8125} ' +
      '{"address": "m", "port_value": 1} {"tcp_keepalive":{"keepalive_time":{"value":20}}} tls 5',
  );
});

Deno.test("templates: sprig, toJSON and Go's functions", async () => {
  const text =
    '{{ toJSON nil }} {{ toJSON .inclusionSuffix }} {{ .none | default "d" | upper }} {{ js "<a>" }} {{ env "X" }}';
  assert.equal(
    await rendered(text, { X: "y" }),
    '{} ["rbac.allowed","rbac.denied","shadow_allowed","shadow_denied"] D \\u003Ca\\u003E y',
  );
});

Deno.test("templates: Stackdriver's parameters", async () => {
  const env = {
    PROXY_CONFIG: "tracing: {stackdriver: {debug: true, maxNumberOfAttributes: 7}}",
    ISTIO_METAJSON_P: '{"PLATFORM_METADATA":{"gcp_project":"p","gcp_project_number":"1"}}',
  };
  const text =
    "{{ .stackdriver }} {{ .stackdriverProjectID }} {{ .stackdriverDebug }} {{ .stackdriverMaxAttributes }} " +
    "{{ .stackdriverMaxEvents }} {{ .gcp_project_number }} {{ .sts_port }} {{ .gcp_project_id }}";
  assert.equal(await rendered(text, env, ["--stsPort", "9"]), "true p true 7 200 1 9 p");
});
