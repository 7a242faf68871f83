import { MeshError, oneLine } from "../../errors.ts";
import { isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import type { World } from "../../world/mod.ts";
import type { ConnectionSettings, ExecPlugin } from "./connection.ts";

/** What a plugin gave. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly identity: { readonly certificate: string; readonly key: string } | undefined;
  /** Milliseconds since 1970 from which on it does not count; `undefined` if it counts until the server refuses it. */
  readonly expires: number | undefined;
}

/** A person may have to sign in in a browser meanwhile. */
const TIMEOUT = 5 * 60_000;
const NOT_FOUND = 127;

/**
 * Runs a credential plugin (client.authentication.k8s.io/v1, v1beta1; Kubernetes, "client-go credential plugins").
 * Errors: a MeshError that names the program, with what it said on standard error.
 */
export async function execCredential(
  world: World,
  plugin: ExecPlugin,
  settings: ConnectionSettings,
): Promise<ExecCredential> {
  if (plugin.needsTerminal && !world.stdin.isTerminal) {
    throw new MeshError(`The credential plugin "${plugin.command}" has to ask, and there is no terminal`, {
      hint: "sign in by hand first, or use a service account",
    });
  }
  const result = await world.processes.run({
    command: plugin.command,
    args: plugin.args,
    env: { ...plugin.env, KUBERNETES_EXEC_INFO: await execInfo(world, plugin, settings) },
    timeoutMilliseconds: TIMEOUT,
  });
  if (result.code === NOT_FOUND) {
    throw new MeshError(`The credential plugin "${plugin.command}" is not there`, {
      hint: oneLine(plugin.installHint ?? "install it, or use another context"),
    });
  }
  if (result.code !== 0) {
    const said = oneLine(result.stderr).slice(0, 500);
    throw new MeshError(`The credential plugin "${plugin.command}" failed with code ${result.code}: ${said}`);
  }
  return readCredential(result.stdout, plugin);
}

async function execInfo(world: World, plugin: ExecPlugin, settings: ConnectionSettings): Promise<string> {
  const spec: Record<string, unknown> = { interactive: false };
  if (plugin.provideClusterInfo) spec["cluster"] = await clusterInfo(world, settings);
  return JSON.stringify({ kind: "ExecCredential", apiVersion: plugin.apiVersion, spec });
}

async function clusterInfo(world: World, { server, authorities, insecure, serverName, proxy }: ConnectionSettings) {
  const text = authorities === undefined
    ? undefined
    : "text" in authorities
    ? authorities.text
    : await world.files.readText(authorities.file);
  return {
    server,
    ...(text === undefined ? {} : { "certificate-authority-data": btoa(text) }),
    ...(insecure ? { "insecure-skip-tls-verify": true } : {}),
    ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
    ...(proxy === undefined ? {} : { "proxy-url": proxy }),
    config: null,
  };
}

function readCredential(output: string, plugin: ExecPlugin): ExecCredential {
  const status = statusOf(output);
  const [certificate, key] = [textAt(status, "clientCertificateData"), textAt(status, "clientKeyData")];
  const token = textAt(status, "token");
  const identity = certificate === undefined || key === undefined ? undefined : { certificate, key };
  if (token === undefined && identity === undefined) {
    throw new MeshError(
      `The credential plugin "${plugin.command}" gave neither a token nor a certificate with its key`,
    );
  }
  const expires = Date.parse(textAt(status, "expirationTimestamp") ?? "");
  return { token, identity, expires: Number.isNaN(expires) ? undefined : expires };
}

function statusOf(output: string): ValueMap {
  try {
    const value: Value = JSON.parse(output);
    return isMap(value) && isMap(value["status"]) ? value["status"] : newMap();
  } catch {
    return newMap();
  }
}

function textAt(map: ValueMap, key: string): string | undefined {
  const value = map[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}
