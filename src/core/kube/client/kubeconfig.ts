import { MeshError } from "../../errors.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import type { ConnectionSettings, ConnectOptions, ExecPlugin, Impersonation, TextOrFile } from "./connection.ts";
import type { Entry, Kubeconfig } from "./kubeconfig_files.ts";

/**
 * The connection of a context: its cluster and its user.
 * Errors: a MeshError that names what is there, for a context, cluster or user that is not, and for a user that signs in
 * in a way that Kubernetes gave up (`auth-provider`).
 */
export function settingsOf(config: Kubeconfig, options: ConnectOptions): ConnectionSettings {
  const name = options.context ?? config.currentContext;
  if (name === "" && options.cluster === undefined) throw noContext(config);
  const context = name === "" ? undefined : find(config, "context", name);
  const cluster = find(config, "cluster", options.cluster ?? text(context, "cluster") ?? "");
  const userName = options.user ?? text(context, "user") ?? "";
  const user = userName === "" ? undefined : find(config, "user", userName);
  return {
    server: serverOf(cluster),
    authorities: textOrFile(cluster, "certificate-authority"),
    insecure: cluster.fields["insecure-skip-tls-verify"] === true,
    serverName: text(cluster, "tls-server-name"),
    proxy: proxyOf(cluster),
    certificate: textOrFile(user, "client-certificate"),
    key: textOrFile(user, "client-key"),
    ...signIn(user),
    impersonation: impersonationOf(user),
    namespace: text(context, "namespace"),
    origin: `context "${name}" of ${config.files.map((file) => `"${file}"`).join(", ")}`,
  };
}

type Kind = "context" | "cluster" | "user";

function find(config: Kubeconfig, kind: Kind, name: string): Entry {
  const entries = { context: config.contexts, cluster: config.clusters, user: config.users }[kind];
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  throw new MeshError(`There is no ${kind} "${name}" in the kubeconfig`, {
    place: { file: config.files.join(", ") },
    hint: thereIs(kind, [...entries.keys()]),
  });
}

function noContext(config: Kubeconfig): MeshError {
  const hint = `name one with --context: ${thereIs("context", [...config.contexts.keys()])}`;
  return new MeshError("The kubeconfig has no current context", { place: { file: config.files.join(", ") }, hint });
}

const MOST_NAMES = 10;

function thereIs(kind: Kind, names: readonly string[]): string {
  if (names.length === 0) return `it has no ${kind}`;
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return `it has ${names.slice(0, MOST_NAMES).map((name) => `"${name}"`).join(", ")}${more}`;
}

function serverOf(cluster: Entry): string {
  const server = text(cluster, "server") ?? "";
  if (/^https?:\/\/[^/]/.test(server) && URL.canParse(server)) return server.replace(/\/+$/, "");
  throw new MeshError(`The server "${server}" is no http or https URL`, {
    place: { file: cluster.file, field: "clusters[].cluster.server" },
  });
}

function proxyOf(cluster: Entry): string | undefined {
  const proxy = text(cluster, "proxy-url");
  if (proxy === undefined || (/^(https?|socks5h?):/.test(proxy) && URL.canParse(proxy))) return proxy;
  throw new MeshError("The proxy of the cluster is no http, https or socks5 URL", {
    place: { file: cluster.file, field: "clusters[].cluster.proxy-url" },
  });
}

function signIn(user: Entry | undefined): Pick<ConnectionSettings, "token" | "basic" | "exec"> {
  const provider = user?.fields["auth-provider"];
  if (user !== undefined && isMap(provider)) {
    throw new MeshError(`The user signs in by the auth-provider "${String(provider["name"])}"`, {
      place: { file: user.file },
      hint: "Kubernetes gave these up with 1.26: use the exec plugin of the provider",
    });
  }
  const username = text(user, "username");
  const [token, tokenFile] = [text(user, "token"), text(user, "tokenFile")];
  return {
    // client-go reads the file if both are there.
    token: tokenFile === undefined ? token === undefined ? undefined : { text: token } : path(user, tokenFile),
    basic: username === undefined ? undefined : { username, password: text(user, "password") ?? "" },
    exec: user === undefined ? undefined : execOf(user),
  };
}

function execOf(user: Entry): ExecPlugin | undefined {
  const exec = user.fields["exec"];
  if (!isMap(exec)) return undefined;
  const at: Entry = { ...user, fields: exec };
  const command = text(at, "command");
  if (command === undefined) {
    throw new MeshError("The exec plugin has no command", { place: { file: user.file, field: "users[].user.exec" } });
  }
  return {
    apiVersion: text(at, "apiVersion") ?? "",
    // A name without a slash is looked for on PATH.
    command: /[/\\]/.test(command) ? within(user, command) : command,
    args: strings(exec["args"]),
    env: Object.fromEntries(
      maps(exec["env"]).map((entry) => [stringOf(entry["name"]) ?? "", stringOf(entry["value"]) ?? ""]),
    ),
    installHint: text(at, "installHint"),
    provideClusterInfo: exec["provideClusterInfo"] === true,
    needsTerminal: exec["interactiveMode"] === "Always",
  };
}

function impersonationOf(user: Entry | undefined): Impersonation | undefined {
  const name = text(user, "as");
  if (user === undefined || name === undefined) return undefined;
  const extra = user.fields["as-user-extra"];
  return {
    user: name,
    uid: text(user, "as-uid"),
    groups: strings(user.fields["as-groups"]),
    extra: Object.fromEntries(
      Object.entries(isMap(extra) ? extra : newMap()).map(([key, value]) => [key, strings(value)]),
    ),
  };
}

/** `client-key-data` in base64 wins over the path in `client-key`. */
function textOrFile(entry: Entry | undefined, field: string): TextOrFile | undefined {
  const data = text(entry, `${field}-data`);
  if (entry !== undefined && data !== undefined) return { text: decoded(data, { entry, field: `${field}-data` }) };
  const file = text(entry, field);
  return file === undefined ? undefined : path(entry, file);
}

function decoded(data: string, { entry, field }: { entry: Entry; field: string }): string {
  try {
    return atob(data);
  } catch (error) {
    throw new MeshError(`"${field}" is not base64`, { place: { file: entry.file, field }, cause: error });
  }
}

function path(entry: Entry | undefined, file: string): TextOrFile {
  return { file: entry === undefined ? file : within(entry, file) };
}

function within({ folder }: Entry, file: string): string {
  return /^(\/|\\|[A-Za-z]:)/.test(file) ? file : `${folder}/${file}`;
}

function text(entry: Entry | undefined, field: string): string | undefined {
  return stringOf(entry?.fields[field]);
}

/** A field that is set to nothing is not set. */
function stringOf(value: Value | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function strings(value: Value | undefined): string[] {
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}

function maps(value: Value | undefined): ValueMap[] {
  return isList(value) ? value.filter(isMap) : [];
}
