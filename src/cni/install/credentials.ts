/** Writes the plugin's kubeconfig and token, which the installer renews. */
import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/mod.ts";
import { KUBECONFIG } from "../plugin/read_pod.ts";
import { PLUGIN } from "./conflist.ts";
import type { InstallOptions } from "./options.ts";

const TOKEN = "mesh-cni-token";
const SECRET = 0o600;

type Folders = Pick<InstallOptions, "runFolder" | "accountFolder">;

/** Returns the paths of the service account's files, which the kubelet renews. */
export function accountFiles({ accountFolder }: Folders): string[] {
  return [`${accountFolder}/token`, `${accountFolder}/ca.crt`];
}

/**
 * Writes the kubeconfig and the token if they differ, each atomically. Rejects with a `MeshError` outside of a pod.
 */
export async function writeCredentials(world: World, folders: Folders): Promise<void> {
  const { files, env } = world;
  const { runFolder } = folders;
  const [host, port] = [env.get("KUBERNETES_SERVICE_HOST") ?? "", env.get("KUBERNETES_SERVICE_PORT") ?? ""];
  if (host === "" || port === "") {
    throw new MeshError("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set", {
      hint:
        'the installer must run in a pod: "kubectl mesh webhook manifests --cni --only DaemonSet" prints its DaemonSet',
    });
  }
  const [token, authority] = await Promise.all(accountFiles(folders).map((path) => files.readText(path)));
  const kubeconfig = kubeconfigText(`https://${host.includes(":") ? `[${host}]` : host}:${port}`, authority ?? "");
  await files.makeFolder(runFolder, 0o755);
  await writeSecret(world, `${runFolder}/${TOKEN}`, token ?? "");
  await writeSecret(world, `${runFolder}/${KUBECONFIG}`, kubeconfig);
}

/** Removes the kubeconfig and the token. */
export async function removeCredentials({ files }: World, { runFolder }: Folders): Promise<void> {
  for (const name of [KUBECONFIG, TOKEN]) await files.remove(`${runFolder}/${name}`);
}

async function writeSecret({ files }: World, path: string, text: string): Promise<void> {
  if (await files.stat(path) !== undefined && await files.readText(path) === text) return;
  files.writeText(path, text, SECRET);
}

/**
 * Returns the kubeconfig as JSON, which is also YAML. Contains the path of the token file instead of the token, because
 * clients read that file again while they run.
 */
function kubeconfigText(server: string, authority: string): string {
  const named = (name: string, key: string, value: object) => [{ name, [key]: value }];
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: named("local", "cluster", { server, "certificate-authority-data": btoa(authority) }),
    users: named(PLUGIN, "user", { tokenFile: TOKEN }),
    contexts: named(PLUGIN, "context", { cluster: "local", user: PLUGIN }),
    "current-context": PLUGIN,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
