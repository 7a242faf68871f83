/** Writes the bootstrap of applications that speak xDS themselves (proxyless gRPC). Source: pilot-agent's `grpcxds`. */
import { messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Files } from "../../platform/world.ts";
import type { ProxyNode } from "../settings/node/node.ts";

/** File mode. The application may run as another user, and the file contains no secret. */
const MODE = 0o644;

export interface GrpcBootstrapOptions {
  readonly file: string;
  readonly node: ProxyNode;
  /** The Unix socket of the xDS proxy. */
  readonly socket: string;
  /** Folder for the certificate files (`OUTPUT_CERTS`); `""` if unset. */
  readonly certificates: string;
  readonly log: Logger;
}

/** Writes the gRPC bootstrap file; logs a failure. Returns an object that checks the file. */
export async function writeGrpcBootstrap(files: Files, options: GrpcBootstrapOptions) {
  const { file, log } = options;
  let isWritten = false;
  async function write(): Promise<string | undefined> {
    try {
      await files.makeFolder(file.slice(0, Math.max(file.lastIndexOf("/"), 0)) || ".");
      files.writeText(file, `${JSON.stringify(grpcBootstrap(options), undefined, 2)}\n`, MODE);
      isWritten = true;
      return undefined;
    } catch (error) {
      return `Cannot write the gRPC bootstrap: ${messageOf(error)}`;
    }
  }
  const first = await write();
  if (first !== undefined) log.error(logText(first));
  return {
    /** Returns why applications cannot start with the file yet, or `undefined`. Retries a failed write. */
    async problem(): Promise<string | undefined> {
      const problem = isWritten ? undefined : await write();
      if (problem !== undefined) return problem;
      for (const path of Object.values(certificateFiles(options.certificates))) {
        if (await files.stat(path) === undefined) return `"${path}" (OUTPUT_CERTS) does not exist yet`;
      }
      return undefined;
    },
  };
}

/** Interval at which gRPC reads the certificate files again. */
const REFRESH = "900s";

export function grpcBootstrap(
  { node, socket, certificates }: Pick<GrpcBootstrapOptions, "node" | "socket" | "certificates">,
) {
  const { region, zone, subZone } = node.locality;
  return {
    xds_servers: [{
      server_uri: `unix:///${socket.replace(/^(?:\.?\/)+/, "")}`,
      channel_creds: [{ type: "insecure" }],
      server_features: ["xds_v3"],
    }],
    node: {
      id: node.id,
      metadata: { ...node.metadata, GENERATOR: "grpc" },
      locality: { region, zone, sub_zone: subZone },
    },
    ...certificates === "" ? {} : {
      certificate_providers: {
        default: {
          plugin_name: "file_watcher",
          config: { ...certificateFiles(certificates), refresh_interval: REFRESH },
        },
      },
    },
    server_listener_resource_name_template: "xds.istio.io/grpc/lds/inbound/%s",
  };
}

function certificateFiles(folder: string): Record<string, string> {
  if (folder === "") return {};
  return {
    certificate_file: `${folder}/cert-chain.pem`,
    private_key_file: `${folder}/key.pem`,
    ca_certificate_file: `${folder}/root-cert.pem`,
  };
}
