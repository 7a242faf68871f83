import { splitHostPort } from "../../../core/net.ts";

/** Fields about the connection or a body that is not passed on. */
const NOT_PASSED_ON = [
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

/**
 * The fields of the kubelet's request as the application gets them. The Host is the kubelet's, with the application's
 * port where it had the agent's; as the kubelet has it, the connection is not kept.
 */
export function forwardedHeaders(incoming: Headers, statusPort: number, port: number): Headers {
  const headers = new Headers(incoming);
  for (const name of NOT_PASSED_ON) headers.delete(name);
  headers.set("connection", "close");
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  const parts = splitHostPort(headers.get("host") ?? "");
  if (typeof parts === "string" || Number(parts.port) !== statusPort) return headers;
  headers.set("host", parts.host.includes(":") ? `[${parts.host}]:${port}` : `${parts.host}:${port}`);
  return headers;
}
