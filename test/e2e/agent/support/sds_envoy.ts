/** A real Envoy whose listener gets its certificate and authorities through SDS. */
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { freePort } from "../../../support/ports.ts";
import { sdsSecret } from "../../../support/agent/sds_secret.ts";
import type { TestCertificate } from "../../../support/tls/certificates.ts";

export const envoy = await realEnvoy();

const TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
const ECHO = "type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo";
const HTTP2 = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The names of the listener's secrets. */
export interface SecretNames {
  readonly certificate: string;
  readonly roots: string;
}

/** An Envoy that runs until it is disposed of. */
export class SdsEnvoy implements AsyncDisposable {
  #child: Deno.ChildProcess;
  readonly port = freePort();
  readonly #command: Deno.Command;

  constructor(socket: string, names: SecretNames) {
    const args = ["--config-yaml", JSON.stringify(bootstrap(socket, this.port, names)), "--concurrency", "1"];
    this.#command = new Deno.Command(envoy.path, {
      args: [...args, "--disable-hot-restart", "-l", "off"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    this.#child = this.#command.spawn();
  }

  /** Kills Envoy. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
  }

  restart(): void {
    this.#child = this.#command.spawn();
  }

  /**
   * Returns the echo of "hello" for a client with this certificate and trusted authority; `undefined` if the connection
   * fails.
   */
  async answer(client: TestCertificate, { authority }: TestCertificate): Promise<string | undefined> {
    try {
      using connection = await Deno.connectTls({
        hostname: "127.0.0.1",
        port: this.port,
        caCerts: [authority],
        cert: client.certificate,
        key: client.key,
      });
      await connection.write(new TextEncoder().encode("hello"));
      const buffer = new Uint8Array(100);
      return new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill().catch(() => {});
  }
}

function bootstrap(socket: string, port: number, { certificate, roots }: SecretNames) {
  return {
    node: { id: "sidecar~127.0.0.1~a.b~b.svc", cluster: "a" },
    static_resources: {
      listeners: [{
        name: "tls",
        address: { socket_address: { address: "127.0.0.1", port_value: port } },
        filter_chains: [{
          transport_socket: { name: "tls", typed_config: tlsContext(certificate, roots) },
          filters: [{ name: "echo", typed_config: { "@type": ECHO } }],
        }],
      }],
      clusters: [{
        name: "sds-grpc",
        type: "STATIC",
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": HTTP2,
            explicit_http_config: { http2_protocol_options: {} },
          },
        },
        load_assignment: {
          cluster_name: "sds-grpc",
          endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path: socket } } } }] }],
        },
      }],
    },
  };
}

function tlsContext(certificate: string, roots: string) {
  return {
    "@type": TLS,
    require_client_certificate: true,
    common_tls_context: {
      tls_certificate_sds_secret_configs: [sdsSecret(certificate)],
      validation_context_sds_secret_config: sdsSecret(roots),
    },
  };
}
