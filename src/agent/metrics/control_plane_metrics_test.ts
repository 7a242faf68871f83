import assert from "node:assert/strict";
import { testAuthority } from "../../../test/support/tls/authority.ts";
import { certificateInfo } from "../../golang/x509/mod.ts";
import { expositionOf } from "../../base/metrics/mod.ts";
import { certificateExpiry, controlPlaneMetrics } from "./control_plane_metrics.ts";

Deno.test("controlPlaneMetrics() has names, types and labels of pilot-agent, and nothing unused", async () => {
  const metrics = controlPlaneMetrics();
  assert.equal(await expositionOf([metrics.collect], "istio_agent_"), "");
  metrics.connectionFailed();
  metrics.connectionEnded("istiod", true);
  metrics.connectionEnded("istiod", false);
  metrics.connectionEnded("envoy", false);
  metrics.requested(3);
  metrics.requested(0);
  metrics.responded(2);
  metrics.certificateRequested({ milliseconds: 20, isFailed: true, isRetry: false });
  metrics.certificateRequested({ milliseconds: 12.5, isFailed: false, isRetry: true });
  metrics.fileSecretFailed();
  const text = await expositionOf([metrics.collect], "istio_agent_");
  assert.deepEqual(text.split("\n").filter((line) => !line.startsWith("# HELP")), [
    "# TYPE istio_agent_envoy_connection_terminations counter",
    'istio_agent_envoy_connection_terminations{type="cancelled"} 1',
    "# TYPE istio_agent_istiod_connection_failures counter",
    "istio_agent_istiod_connection_failures 1",
    "# TYPE istio_agent_istiod_connection_terminations counter",
    'istio_agent_istiod_connection_terminations{type="cancelled"} 1',
    'istio_agent_istiod_connection_terminations{type="error"} 1',
    "# TYPE istio_agent_num_failed_outgoing_requests counter",
    'istio_agent_num_failed_outgoing_requests{request_type="csr"} 1',
    "# TYPE istio_agent_num_file_secret_failures_total counter",
    "istio_agent_num_file_secret_failures_total 1",
    "# TYPE istio_agent_num_outgoing_requests counter",
    'istio_agent_num_outgoing_requests{request_type="csr"} 2',
    "# TYPE istio_agent_num_outgoing_retries counter",
    'istio_agent_num_outgoing_retries{request_type="csr"} 1',
    "# TYPE istio_agent_outgoing_latency counter",
    'istio_agent_outgoing_latency{request_type="csr"} 32.5',
    "# TYPE istio_agent_xds_proxy_requests counter",
    "istio_agent_xds_proxy_requests 3",
    "# TYPE istio_agent_xds_proxy_responses counter",
    "istio_agent_xds_proxy_responses 2",
    "",
  ]);
});

Deno.test("certificateExpiry() is negative after the end, and has no sample without a certificate", () => {
  const { certificate } = testAuthority().issue({ uris: ["spiffe://cluster.local/ns/a/sa/b"] });
  const end = certificateInfo(certificate, "the certificate").notAfter.getTime();
  const at = (milliseconds: number) => certificateExpiry(certificate, new Date(end + milliseconds)).samples;
  const labels = { resource_name: "default" };
  assert.deepEqual(at(-90_000), [{ labels, value: 90 }]);
  assert.deepEqual(at(1500), [{ labels, value: -1.5 }]);
  assert.deepEqual(certificateExpiry(undefined, new Date()).samples, []);
});
