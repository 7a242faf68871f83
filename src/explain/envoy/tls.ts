/** Reads transport sockets: TLS or plain text (envoy/extensions/transport_sockets/tls/v3). */
import { isMap, listAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { readStringMatch, type StringMatch } from "./matchers.ts";
import { anyAt, type AnyMessage, flagAt, readAt } from "./message.ts";

export type TransportSocket =
  | { readonly kind: "plain" }
  | ({ readonly kind: "tls" } & TlsContext)
  /** QUIC, tap, or an unknown extension. */
  | { readonly kind: "other"; readonly type: string };

export interface TlsContext {
  /** Server name that a client sends. */
  readonly sni: string;
  readonly alpn: readonly string[];
  /** Names of the secrets with the proxy's own certificate; for a certificate in a file, the path. */
  readonly certificates: readonly string[];
  /** Name of the secret with the root certificates; empty if the peer is not verified. */
  readonly roots: string;
  /** Accepted names in the peer's certificate; empty accepts any name. */
  readonly names: readonly StringMatch[];
  /** Whether a server refuses clients without a certificate. */
  readonly requiresClientCertificate: boolean;
}

const PLAIN: TransportSocket = { kind: "plain" };

/** Returns the transport socket under a key; plain text if absent. */
export function transportSocketAt(map: ValueMap, key: string): TransportSocket {
  return readAt(map, key, readTransportSocket) ?? PLAIN;
}

export function readTransportSocket(socket: ValueMap): TransportSocket {
  return ofMessage(anyAt(socket, "typed_config"), textAt(socket, "name"));
}

/** Transport sockets that wrap another transport socket in `transport_socket`. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "UpstreamProxyProtocolTransport",
  "ProxyProtocolUpstreamTransport",
  "StartTlsConfig",
  "TcpStatsConfig",
  "Config",
  "InternalUpstreamTransport",
  "TapTransportSocket",
]);

function ofMessage({ type, value }: AnyMessage, name: string): TransportSocket {
  if (type === "RawBuffer" || name === "envoy.transport_sockets.raw_buffer" || name === "raw_buffer") return PLAIN;
  if (type === "UpstreamTlsContext" || type === "DownstreamTlsContext") return { kind: "tls", ...readTls(value) };
  const inner = value["transport_socket"];
  return WRAPPERS.has(type) && isMap(inner) ? readTransportSocket(inner) : { kind: "other", type: type || name };
}

function readTls(context: ValueMap): TlsContext {
  const common = mapAt(context, "common_tls_context");
  const combined = mapAt(common, "combined_validation_context");
  const validations = [mapAt(common, "validation_context"), mapAt(combined, "default_validation_context")];
  const secrets = [
    mapAt(common, "validation_context_sds_secret_config"),
    mapAt(combined, "validation_context_sds_secret_config"),
  ];
  return {
    sni: textAt(context, "sni"),
    alpn: textsAt(common, "alpn_protocols"),
    certificates: [
      ...mapsAt(common, "tls_certificate_sds_secret_configs").map((secret) => textAt(secret, "name")),
      ...mapsAt(common, "tls_certificates").map((each) =>
        textAt(mapAt(each, "certificate_chain"), "filename") || "inline"
      ),
    ],
    roots: secrets.map((secret) => textAt(secret, "name")).find((name) => name !== "") ??
      (validations.some((each) => isMap(each["trusted_ca"])) ? "inline" : ""),
    names: validations.flatMap(subjectNames),
    requiresClientCertificate: flagAt(context, "require_client_certificate"),
  };
}

function subjectNames(validation: ValueMap): StringMatch[] {
  return [
    ...mapsAt(validation, "match_typed_subject_alt_names").map((each) => readStringMatch(mapAt(each, "matcher"))),
    ...mapsAt(validation, "match_subject_alt_names").map(readStringMatch),
    ...listAt(validation, "verify_subject_alt_name").flatMap((text): StringMatch[] =>
      typeof text === "string" ? [{ kind: "exact", text, ignoreCase: false }] : []
    ),
  ];
}
