/** Metrics of the connections to istiod and the CA. Names, labels and help texts are pilot-agent's. */
import { type Family, type Meter, meter } from "../../base/metrics/mod.ts";
import { certificateInfo } from "../../golang/x509/mod.ts";

const CSR = { request_type: "csr" };

export type ControlPlaneMetrics = ReturnType<typeof controlPlaneMetrics>;
export type CaMetrics = Pick<ControlPlaneMetrics, "certificateRequested">;
export type FileMetrics = Pick<ControlPlaneMetrics, "fileSecretFailed">;
export type XdsMetrics = Omit<ControlPlaneMetrics, "certificateRequested" | "fileSecretFailed" | "collect">;

interface CertificateRequest {
  readonly milliseconds: number;
  readonly isFailed: boolean;
  /** Whether the previous request failed. */
  readonly isRetry: boolean;
}

export function controlPlaneMetrics() {
  const all: Meter[] = [];
  function counter(name: string, help: string): Meter {
    const made = meter("counter", name, help);
    all.push(made);
    return made;
  }
  const failures = counter("istiod_connection_failures", "The total number of connection failures to Istiod");
  const ended = {
    istiod: counter("istiod_connection_terminations", "The total number of connection errors to Istiod"),
    envoy: counter("envoy_connection_terminations", "The total number of connection errors from envoy"),
  };
  const requests = counter("xds_proxy_requests", "The total number of Xds Proxy Requests");
  const responses = counter("xds_proxy_responses", "The total number of Xds Proxy Responses");
  const outgoing = counter(
    "num_outgoing_requests",
    "Number of total outgoing requests (e.g. to a token exchange server, CA, etc.)",
  );
  const failedOutgoing = counter(
    "num_failed_outgoing_requests",
    "Number of failed outgoing requests (e.g. to a token exchange server, CA, etc.)",
  );
  const retries = counter(
    "num_outgoing_retries",
    "Number of outgoing retry requests (e.g. to a token exchange server, CA, etc.)",
  );
  const fileSecrets = counter(
    "num_file_secret_failures_total",
    "Number of times secret generation failed for files",
  );
  const latency = counter(
    "outgoing_latency",
    "The latency of outgoing requests (e.g. to a token exchange server, CA, etc.) in milliseconds.",
  );
  return {
    connectionFailed: (): void => failures.add(),
    /** Counts an ended connection. `by` is the side that ended the connection. */
    connectionEnded: (by: "istiod" | "envoy", isBroken: boolean): void =>
      ended[by].add({ type: isBroken ? "error" : "cancelled" }),
    requested: (count: number): void => void (count > 0 && requests.add({}, count)),
    responded: (count: number): void => void (count > 0 && responses.add({}, count)),
    certificateRequested({ milliseconds, isFailed, isRetry }: CertificateRequest): void {
      outgoing.add(CSR);
      latency.add(CSR, milliseconds);
      if (isFailed) failedOutgoing.add(CSR);
      if (isRetry) retries.add(CSR);
    },
    /** Counts a certificate or key file that could not be used. */
    fileSecretFailed: (): void => fileSecrets.add(),
    collect: (): Family[] => all.flatMap(({ collect }) => collect()),
  };
}

/** Returns the remaining time in seconds; without a certificate, returns no sample. */
export function certificateExpiry(certificate: string | undefined, now: Date): Family {
  const samples = certificate === undefined ? [] : [{
    labels: { resource_name: "default" },
    value: (certificateInfo(certificate, "the certificate").notAfter.getTime() - now.getTime()) / 1000,
  }];
  return {
    name: "cert_expiry_seconds",
    help: "The time remaining, in seconds, before the certificate chain will expire. " +
      "A negative value indicates the cert is expired.",
    type: "gauge",
    samples,
  };
}
