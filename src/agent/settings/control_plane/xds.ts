/** Reads the settings of the connection to istiod. Source: pilot-agent's xDS proxy and root selection. */
import type { ProxySettings } from "../../../istio/configuration.ts";
import { splitHostPort } from "../../../golang/net/mod.ts";
import type { Environment } from "../../../platform/world.ts";
import type { WasmSettings } from "../../wasm/options.ts";
import type { XdsRoots, XdsSettings } from "../../xds/options.ts";
import { serverName } from "./identity.ts";
import type { Reading } from "../reading.ts";

const PLAIN_PORT = "15010";

/** Reads the xDS settings. The socket is in the bootstrap's folder. */
export function readXds(reading: Reading, proxy: ProxySettings): XdsSettings {
  const address = proxy.discoveryAddress;
  return {
    path: `${proxy.configPath}/XDS`,
    address,
    tls: isPlain(proxy)
      ? undefined
      : { serverName: serverName(address, reading.variables.text("istiodSan")), roots: rootsOf(reading) },
    headers: headersOf(reading),
    grpcBootstrap: grpcBootstrap(reading, proxy),
    wasm: wasmOf(reading, proxy),
  };
}

/** Returns the path of the gRPC bootstrap. The default is in the bootstrap's folder, as in Istio. */
function grpcBootstrap({ variables }: Reading, { configPath }: ProxySettings): string {
  if (variables.isGiven("grpcBootstrap")) return variables.text("grpcBootstrap");
  return variables.bool("disableEnvoy") ? `${configPath}/grpc-bootstrap.json` : "";
}

/** Folder of a volume on disk that Istio's templates mount. The bootstrap's folder is a volume in memory. */
const DATA_FOLDER = "/var/lib/istio/data";

function wasmOf({ variables, world }: Reading, { configPath }: ProxySettings): WasmSettings | undefined {
  if (!variables.bool("wasmConversion")) return undefined;
  return {
    folders: [DATA_FOLDER, configPath],
    expiry: variables.milliseconds("wasmExpiry"),
    purgeInterval: Math.max(variables.milliseconds("wasmPurge"), 1000),
    requestTimeout: variables.milliseconds("wasmTimeout"),
    attempts: variables.number("wasmRetries"),
    insecureHosts: variables.text("wasmInsecure").split(",").map((host) => host.trim()).filter((host) => host !== ""),
    keychains: keychains(world.env),
  };
}

/** Returns the files in which Docker and Podman keep credentials, in the order of go-containerregistry. */
function keychains(env: Environment): string[] {
  const text = (name: string) => env.get(name) ?? "";
  const below = (name: string, file: string) => text(name) === "" ? "" : `${text(name)}/${file}`;
  return [
    below("DOCKER_CONFIG", "config.json") || below("HOME", ".docker/config.json"),
    text("REGISTRY_AUTH_FILE"),
    below("XDG_RUNTIME_DIR", "containers/auth.json"),
  ].filter((file) => file !== "");
}

function isPlain({ controlPlaneAuthPolicy, discoveryAddress }: ProxySettings): boolean {
  const target = splitHostPort(discoveryAddress);
  return controlPlaneAuthPolicy === "NONE" || (typeof target === "object" && target.port === PLAIN_PORT);
}

/** Path of the root certificates in Istio releases before the ConfigMap of roots. */
const OLD_ROOTS = "./etc/certs/root-cert.pem";
const MOUNTED_ROOTS = "./var/run/secrets/istio/root-cert.pem";

function rootsOf({ variables }: Reading): XdsRoots {
  const file = variables.text("xdsRootCa");
  if (file === "SYSTEM") return { from: "system" };
  if (file !== "") return { from: "file", file };
  const folder = variables.text("provCert");
  return { from: "mesh", files: [OLD_ROOTS, folder === "" ? MOUNTED_ROOTS : `${folder}/root-cert.pem`] };
}

const HEADER = "XDS_HEADER_";

function headersOf({ world }: Reading): Record<string, string> {
  const given = Object.entries(world.env.all()).filter(([name]) => name.startsWith(HEADER) && name !== HEADER);
  return Object.fromEntries(given.map(([name, value]) => [name.slice(HEADER.length).toLowerCase(), value]));
}
