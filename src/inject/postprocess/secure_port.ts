/** The annotation by which Prometheus finds the merged metrics over mutual TLS. */
import { mapsAt, textAt } from "../../core/value.ts";
import { SECURE_PORT } from "../names.ts";
import { annotationsOf, findProxy, type Pod, withAnnotations } from "../pod/pod.ts";
import { sanitised } from "./prometheus_annotations.ts";

/** The variable of the proxy by which the agent serves them; a template or the user's proxyMetadata sets it. */
const PORT_ENV = "ENVOY_SECURE_MERGED_METRICS_PORT";

/** Names the port of the proxy's variable in the annotation, unless the pod has one in any spelling. */
export function annotateSecurePort(pod: Pod): Pod {
  const proxy = findProxy(pod);
  const known = Object.keys(annotationsOf(pod)).some((name) => sanitised(name) === sanitised(SECURE_PORT));
  if (proxy === undefined || known) return pod;
  const ports = mapsAt(proxy, "env").filter((item) => item["name"] === PORT_ENV).map((item) => textAt(item, "value"));
  const port = ports.find((text) => text !== "" && text !== "0");
  return port === undefined ? pod : withAnnotations(pod, { [SECURE_PORT]: port });
}
