/**
 * Runs a credential plugin (client.authentication.k8s.io/v1, v1beta1; Kubernetes, "client-go credential plugins").
 * Replaces the code of client-node 1.4.0, which on Deno 2.6.10 ends the process if the program is missing, does not set
 * KUBERNETES_EXEC_INFO, and runs the program again for each concurrent request.
 */
import * as z from "zod/mini";
import { MeshError, oneLine } from "../../base/errors.ts";
import type { World } from "../../platform/mod.ts";

const text = z.nullish(z.string());

/** The field `exec` of a kubeconfig's user. */
export const EXEC_PLUGIN = z.object({
  command: z.string().check(z.minLength(1)),
  apiVersion: text,
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(z.object({ name: z.string(), value: z.string() }))),
  installHint: text,
  provideClusterInfo: z.nullish(z.boolean()),
  /** `Always` means that the plugin needs a terminal. */
  interactiveMode: text,
});

export type ExecPlugin = z.infer<typeof EXEC_PLUGIN>;

const CREDENTIAL = z.object({
  status: z.object({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.optional(z.string()),
  }),
});

export type PluginCredential = z.infer<typeof CREDENTIAL>["status"];

/** Maximum milliseconds for a plugin, which may wait for a person in a browser. */
const TIMEOUT = 5 * 60_000;
const NOT_FOUND = 127;

/**
 * Runs the plugin. Passes `cluster` to a plugin with `provideClusterInfo`. Rejects with a MeshError that names the
 * program.
 */
export async function runPlugin(world: World, plugin: ExecPlugin, cluster: object): Promise<PluginCredential> {
  const name = `The credential plugin "${plugin.command}"`;
  if (plugin.interactiveMode === "Always" && !world.stdin.isTerminal) {
    throw new MeshError(`${name} needs a terminal to ask for credentials`, {
      hint: "sign in manually first, or use a service account",
    });
  }
  const result = await world.processes.run({
    command: plugin.command,
    args: plugin.args ?? [],
    env: environmentOf(plugin, cluster),
    timeoutMilliseconds: TIMEOUT,
  });
  if (result.code === NOT_FOUND) {
    const hint = oneLine(plugin.installHint ?? "install it, or use another context");
    throw new MeshError(`${name} is not installed`, { hint });
  }
  if (result.code !== 0) {
    throw new MeshError(`${name} failed with exit code ${result.code}: ${oneLine(result.stderr).slice(0, 500)}`);
  }
  const credential = readCredential(result.stdout);
  if (credential !== undefined) return credential;
  throw new MeshError(`${name} printed neither a token nor a certificate with its key`);
}

function environmentOf({ env, apiVersion, provideClusterInfo }: ExecPlugin, cluster: object): Record<string, string> {
  const spec = { interactive: false, ...provideClusterInfo === true ? { cluster } : {} };
  const info = JSON.stringify({ kind: "ExecCredential", apiVersion: apiVersion ?? "", spec });
  return { ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])), KUBERNETES_EXEC_INFO: info };
}

function readCredential(output: string): PluginCredential | undefined {
  try {
    const { status } = CREDENTIAL.parse(JSON.parse(output));
    const { token = "", clientCertificateData = "", clientKeyData = "" } = status;
    return token !== "" || (clientCertificateData !== "" && clientKeyData !== "") ? status : undefined;
  } catch {
    // The output is not JSON, or not an ExecCredential.
    return undefined;
  }
}
