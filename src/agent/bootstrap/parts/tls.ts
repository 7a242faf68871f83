/** TLS to a collector or a service, with secrets from SDS. Source: Istio's option.tlsContextConvert. */
import { isList, isMap, textAt, type Value, type ValueMap } from "../../../core/value.ts";
import type { XdsRoots, XdsSettings } from "../../xds/options.ts";
import { envoyType } from "./proto_types.ts";

/** Whom the connection goes to. */
export interface TlsPeer {
  /** The server name of ISTIO_MUTUAL where none is given. */
  readonly sni: string;
  /** The peer speaks HTTP/2: it is offered by ALPN. */
  readonly isHttp2: boolean;
  /** Files that the node's metadata give go before those of the settings. */
  readonly metadata: ValueMap;
}

/** The transport socket of ClientTLSSettings; `undefined` where they ask for none. */
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

/** Mutual TLS with the control plane, which has to prove the name that the agent would look for. */
export function controlPlaneTls({ serverName, roots }: NonNullable<XdsSettings["tls"]>) {
  const name = { san_type: "DNS", matcher: { exact: serverName } };
  return {
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": envoyType("extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
        common_tls_context: {
          alpn_protocols: HTTP2,
          // Envoy offers its upstreams TLS 1.2 alone unless it is told.
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

/** Those of the mesh are the ones that came with the certificate. */
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
    combined_validation_context: {
      default_validation_context: context,
      validation_context_sds_secret_config: secret,
    },
  };
}

/** The agent serves files by such names. Without a file the peer must prove itself to the roots of the system. */
function fileRoot(tls: ValueMap, metadata: ValueMap): Secret {
  const path = textAt(metadata, "TLS_CLIENT_ROOT_CERT") || textAt(tls, "caCertificates");
  return sdsSecret(`file-root:${path || "system"}`);
}

function fileCertificate(tls: ValueMap, metadata: ValueMap): Secret | undefined {
  const chain = textAt(metadata, "TLS_CLIENT_CERT_CHAIN") || textAt(tls, "clientCertificate");
  const key = textAt(metadata, "TLS_CLIENT_KEY") || textAt(tls, "privateKey");
  return chain === "" || key === "" ? undefined : sdsSecret(`file-cert:${chain}~${key}`);
}

/** A secret that the agent's SDS server gives. */
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

/** A secret of the workload: Envoy waits for it as long as it takes. */
function meshSecret(name: "default" | "ROOTCA") {
  const { sds_config } = sdsSecret(name);
  return { name, sds_config: { ...sds_config, initial_fetch_timeout: "0s" } };
}
