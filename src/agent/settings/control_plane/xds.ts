/** The connection to istiod. Source: pilot-agent's xDS proxy and root selection. */
import type { ProxySettings } from "../../../istio/configuration.ts";
import { splitHostPort } from "../../../golang/net/mod.ts";
import type { XdsRoots, XdsSettings } from "../../xds/options.ts";
import { serverName } from "./identity.ts";
import type { Reading } from "../reading.ts";

const PLAIN_PORT = "15010";

/** The socket is in the bootstrap's folder. */
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
  };
}

/** The default is in the bootstrap's folder, which is Istio's default too. */
function grpcBootstrap({ variables }: Reading, { configPath }: ProxySettings): string {
  if (variables.isGiven("grpcBootstrap")) return variables.text("grpcBootstrap");
  return variables.bool("disableEnvoy") ? `${configPath}/grpc-bootstrap.json` : "";
}

function isPlain({ controlPlaneAuthPolicy, discoveryAddress }: ProxySettings): boolean {
  const target = splitHostPort(discoveryAddress);
  return controlPlaneAuthPolicy === "NONE" || (typeof target === "object" && target.port === PLAIN_PORT);
}

/** The file of Istio releases before ConfigMap roots. */
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
