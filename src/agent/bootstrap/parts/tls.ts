/** Builds TLS settings for collectors and services, with SDS secrets. Source: Istio's option.tlsContextConvert. */
import { isList, isMap, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import type { XdsRoots, XdsSettings } from "../../xds/options.ts";
import { envoyType } from "./proto_types.ts";

export interface TlsPeer {
  /** The default server name for ISTIO_MUTUAL. */
  readonly sni: string;
  /** Whether to offer HTTP/2 in ALPN. */
  readonly isHttp2: boolean;
  /** Node metadata. Certificate and key paths set here override the paths in the ClientTLSSettings. */
  readonly metadata: ValueMap;
}

/** Returns the transport socket for Istio's ClientTLSSettings; `undefined` means plain text. */
export function tlsSocket(settings: Value | undefined, peer: TlsPeer) {
  const tls = isMap(settings) ? settings : {};
  const context = CONTEXTS.get(textAt(tls, "mode"))?.(tls, peer.metadata);
  if (context === undefined) return undefined;
  const { alpn, ...secrets } = context;
  const isMesh = tls["mode"] === "ISTIO_MUTUAL";
  const sni = textAt(tls, "sni") || (isMesh ? peer.sni : "");
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": envoyType("extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
      common_tls_context: { ...secrets, ...(peer.isHttp2 ? { alpn_protocols: alpn } : {}) },
      ...(sni === "" ? {} : { sni }),
    },
  };
}

/** Returns mutual TLS with istiod. Envoy verifies the same server name that the agent would verify. */
export function controlPlaneTls({ serverName, roots }: NonNullable<XdsSettings["tls"]>) {
  const name = { san_type: "DNS", matcher: { exact: serverName } };
  return {
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": envoyType("extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
        common_tls_context: {
          alpn_protocols: HTTP2,
          // By default, Envoy's TLS clients use TLS 1.2 only.
          tls_params: { tls_minimum_protocol_version: "TLSv1_2", tls_maximum_protocol_version: "TLSv1_3" },
          ...certificate(meshSecret("default")),
          combined_validation_context: {
            default_validation_context: { match_typed_subject_alt_names: [name] },
            validation_context_sds_secret_config: rootsOf(roots),
          },
        },
        sni: serverName,
      },
    },
  };
}

function rootsOf(roots: XdsRoots): Secret {
  if (roots.from === "mesh") return meshSecret("ROOTCA");
  return sdsSecret(`file-root:${roots.from === "file" ? roots.file : "system"}`);
}

type Context = (tls: ValueMap, metadata: ValueMap) => {
  readonly alpn: readonly string[];
  readonly [field: string]: unknown;
};

const HTTP2 = ["h2"];

const CONTEXTS: ReadonlyMap<string, Context> = new Map<string, Context>([
  ["SIMPLE", (tls, metadata) => ({ alpn: HTTP2, ...validation(tls, fileRoot(tls, metadata)) })],
  ["MUTUAL", (tls, metadata) => ({
    alpn: HTTP2,
    ...certificate(fileCertificate(tls, metadata)),
    ...validation(tls, fileRoot(tls, metadata)),
  })],
  ["ISTIO_MUTUAL", (tls) => ({
    alpn: ["istio", "h2"],
    ...certificate(meshSecret("default")),
    ...validation(tls, meshSecret("ROOTCA")),
  })],
]);

type Secret = ReturnType<typeof sdsSecret> | ReturnType<typeof meshSecret>;

function certificate(secret: Secret | undefined) {
  return secret === undefined ? {} : { tls_certificate_sds_secret_configs: [secret] };
}

function validation(tls: ValueMap, secret: Secret) {
  if (tls["insecureSkipVerify"] === true) return {};
  const names = isList(tls["subjectAltNames"]) ? tls["subjectAltNames"] : [];
  const context = names.length === 0 ? {} : { match_subject_alt_names: names.map((exact) => ({ exact })) };
  return {
    combined_validation_context: { default_validation_context: context, validation_context_sds_secret_config: secret },
  };
}

/** Returns the SDS secret with the root certificates from the configured file, or else with the system's roots. */
function fileRoot(tls: ValueMap, metadata: ValueMap): Secret {
  const path = textAt(metadata, "TLS_CLIENT_ROOT_CERT") || textAt(tls, "caCertificates");
  return sdsSecret(`file-root:${path || "system"}`);
}

function fileCertificate(tls: ValueMap, metadata: ValueMap): Secret | undefined {
  const chain = textAt(metadata, "TLS_CLIENT_CERT_CHAIN") || textAt(tls, "clientCertificate");
  const key = textAt(metadata, "TLS_CLIENT_KEY") || textAt(tls, "privateKey");
  return chain === "" || key === "" ? undefined : sdsSecret(`file-cert:${chain}~${key}`);
}

/** Returns a reference to a secret of the agent's SDS server. */
export function sdsSecret(name: string) {
  return {
    name,
    sds_config: {
      api_config_source: {
        api_type: "GRPC",
        grpc_services: [{ envoy_grpc: { cluster_name: "sds-grpc" } }],
        set_node_on_first_message_only: true,
        transport_api_version: "V3",
      },
      resource_api_version: "V3",
    },
  };
}

/** Returns a reference to one of the workload's secrets. Envoy waits for the secret without a timeout. */
function meshSecret(name: "default" | "ROOTCA") {
  const { sds_config } = sdsSecret(name);
  return { name, sds_config: { ...sds_config, initial_fetch_timeout: "0s" } };
}
