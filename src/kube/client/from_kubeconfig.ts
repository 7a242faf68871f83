/**
 * Reads the connection settings from a kubeconfig. client-node's `KubeConfig` parses the entries and builds the
 * headers. Only this file imports client-node's code, and only `connect` imports this file, if a kubeconfig exists.
 * client-node does not read files or run plugins here; this file does, through the `World`. It also reads `tokenFile`,
 * and the groups and extra fields of impersonation, because client-node drops them.
 */
import { trimmedEnd } from "../../base/text/mod.ts";
import "./no_deprecation.ts";
import { KubeConfig } from "@kubernetes/client-node/config";
import type { Cluster, User } from "@kubernetes/client-node/config_types";
import { Buffer } from "node:buffer";
import { MeshError, messageOf } from "../../base/errors.ts";
import { isMap, mapAt, mapsAt, newMap, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { type Connection, type ConnectOptions, Credentials, type LastingCredential, READ_AGAIN } from "./connection.ts";
import { readKubeconfig } from "./kubeconfig_file.ts";
import { EXEC_PLUGIN, type ExecPlugin, type PluginCredential, runPlugin } from "./exec_plugin.ts";

/** The merged files of a kubeconfig. */
interface Kubeconfig {
  readonly config: KubeConfig;
  /** The users as written in the files, with the folder for their relative paths. */
  readonly users: ReadonlyMap<string, { readonly fields: ValueMap; readonly folder: string }>;
  readonly file: string;
}

/**
 * Returns the connection of a context: its cluster and its user.
 * Rejects with a MeshError if a file is not a kubeconfig; if the context, cluster or user is missing (the hint lists
 * the existing names); if the user signs in with a method that Kubernetes removed (`auth-provider` other than oidc).
 */
export async function kubeconfigConnection(
  world: World,
  files: readonly string[],
  options: ConnectOptions,
): Promise<Connection> {
  const kubeconfig = await readFiles(world, files);
  const { name, context, cluster: found } = chosen(kubeconfig, options);
  const cluster = clusterWith(found, options);
  const signIn = signInWith(signInOf(options.user ?? context?.user ?? "", kubeconfig), options);
  const runsPlugin = signIn.exec !== undefined;
  const isRenewable = runsPlugin || signIn.tokenFile !== undefined;
  return {
    server: serverOf(cluster, kubeconfig.file),
    insecure: cluster.skipTLSVerify,
    serverName: cluster.tlsServerName,
    proxy: proxyOf(cluster, kubeconfig.file),
    credentials: new Credentials(world.clock, () => load(world, cluster, signIn), isRenewable),
    runsPlugin,
    namespace: context?.namespace,
    origin: originText(options, name, files),
  };
}

function originText({ server }: ConnectOptions, context: string, files: readonly string[]): string {
  if (files.length === 0) return "--server";
  const text = `context "${context}" of ${files.map((path) => `"${path}"`).join(", ")}`;
  return server === undefined ? text : `--server, with ${text}`;
}

/** Returns the context, and the cluster from `--cluster` or from the context. */
function chosen(kubeconfig: Kubeconfig, options: ConnectOptions) {
  const { config, file } = kubeconfig;
  const name = options.context ?? config.currentContext ?? "";
  const context = name === "" ? undefined : named("context", config.contexts, name, file);
  const wanted = options.cluster ?? context?.cluster;
  if (wanted !== undefined) return { name, context, cluster: named("cluster", config.clusters, wanted, file) };
  if (options.server === undefined) throw noContext(kubeconfig);
  return { name, context, cluster: NO_CLUSTER };
}

/** An empty cluster, for `--server` without a cluster in the kubeconfig. */
const NO_CLUSTER: Cluster = { name: "", server: "", skipTLSVerify: false };

/** Applies flags to a cluster. Flags win over the kubeconfig, as in kubectl. */
function clusterWith(cluster: Cluster, options: ConnectOptions): Cluster {
  const { server, tlsServerName, certificateAuthority, insecureSkipTlsVerify = false } = options;
  return {
    ...cluster,
    ...server === undefined ? {} : { server: server.includes("://") ? server : `https://${server}` },
    ...tlsServerName === undefined ? {} : { tlsServerName },
    ...certificateAuthority === undefined ? {} : { caFile: certificateAuthority, caData: "" },
    ...insecureSkipTlsVerify ? { skipTLSVerify: true } : {},
  };
}

/** Applies flags to a user. `--token` replaces the user's credentials, and `--as` the kubeconfig's impersonation. */
function signInWith(signIn: SignIn, { token, as, asGroup = [] }: ConnectOptions): SignIn {
  if (asGroup.length > 0 && as === undefined) {
    throw new MeshError("The flag --as-group needs --as: the API server accepts groups only with a user");
  }
  const { user, fields } = signIn;
  const signed: SignIn = token === undefined
    ? signIn
    : { ...signIn, user: { name: user.name, token }, tokenFile: undefined, exec: undefined, authProvider: undefined };
  if (as === undefined) return signed;
  const impersonation = { "as-groups": [...asGroup], "as-uid": "", "as-user-extra": newMap() };
  return { ...signed, user: { ...signed.user, impersonateUser: as }, fields: { ...fields, ...impersonation } };
}

/** Merges the files as kubectl does: the first entry with a name and the first current context win. */
async function readFiles(world: World, files: readonly string[]): Promise<Kubeconfig> {
  const merged = new KubeConfig();
  const users = new Map<string, { readonly fields: ValueMap; readonly folder: string }>();
  const configs: KubeConfig[] = [];
  for (const file of files) {
    const value = await readKubeconfig(world, file);
    const folder = folderOf(file);
    const config = new KubeConfig();
    // Drops incomplete entries, because the context in use may be complete.
    config.loadFromString(JSON.stringify(value, withoutBigints), { onInvalidEntry: "filter" });
    config.makePathsAbsolute(folder);
    configs.push(config);
    merged.currentContext ||= config.currentContext;
    for (const entry of mapsAt(value, "users")) {
      const name = textAt(entry, "name");
      if (!users.has(name)) users.set(name, { fields: mapAt(entry, "user"), folder });
    }
  }
  // Avoids client-node's mergeConfig, which refuses duplicate names, and searches all entries for each entry.
  merged.clusters = firstOfEachName(configs.flatMap(({ clusters }) => clusters));
  merged.users = firstOfEachName(configs.flatMap(({ users }) => users));
  merged.contexts = firstOfEachName(configs.flatMap(({ contexts }) => contexts));
  return { config: merged, users, file: files.join(", ") };
}

function withoutBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  return Map.groupBy(entries, ({ name }) => name).values().flatMap((same) => same.slice(0, 1)).toArray();
}

function folderOf(file: string): string {
  const end = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return end < 0 ? "." : file.slice(0, end);
}

type Kind = "context" | "cluster" | "user";

/** Required fields, for messages: client-node drops entries without them. */
const NEEDS: Readonly<Record<Kind, string>> = { context: " with a cluster", cluster: " with a server", user: "" };

function named<T extends { readonly name: string }>(kind: Kind, entries: readonly T[], name: string, file: string): T {
  const entry = entries.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  throw new MeshError(`The kubeconfig has no ${kind} "${name}"${NEEDS[kind]}`, {
    place: { file },
    hint: existing(kind, entries.map((each) => each.name)),
  });
}

function noContext({ config, file }: Kubeconfig): MeshError {
  const names = config.contexts.map(({ name }) => name);
  if (names.length === 0) {
    return new MeshError("The kubeconfig has no context", {
      place: { file },
      hint: "sign in, or set another file with --kubeconfig",
    });
  }
  const hint = `choose one with --context: ${existing("context", names)}`;
  return new MeshError("The kubeconfig has no current context", { place: { file }, hint });
}

const MAX_NAMES = 10;

function existing(kind: Kind, names: readonly string[]): string {
  if (names.length === 0) return `the kubeconfig has no ${kind}`;
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `the kubeconfig has ${names.slice(0, MAX_NAMES).map((name) => `"${name}"`).join(", ")}${more}`;
}

function serverOf({ name, server }: Cluster, file: string): string {
  if (/^https?:\/\/[^/]/.test(server) && URL.canParse(server)) return trimmedEnd(server, "/");
  throw new MeshError(`The server "${server}" of the cluster "${name}" is not an http or https URL`, {
    place: { file },
  });
}

function proxyOf({ name, proxyUrl }: Cluster, file: string): string | undefined {
  if (proxyUrl === undefined || proxyUrl === "") return undefined;
  if (/^(https?|socks5h?):/.test(proxyUrl) && URL.canParse(proxyUrl)) return proxyUrl;
  // Does not quote the URL, which may contain a password.
  throw new MeshError(`The proxy-url of the cluster "${name}" is not an http, https or socks5 URL`, {
    place: { file },
  });
}

/** The credentials of a user, and their sources. */
interface SignIn {
  readonly user: User;
  /** Path of a token file, which wins over the token, as in client-go. */
  readonly tokenFile: string | undefined;
  readonly exec: ExecPlugin | undefined;
  /** The OIDC provider. All loads share this object, because client-node writes refreshed tokens into it. */
  readonly authProvider: object | undefined;
  /** The user's fields as written in the file. */
  readonly fields: ValueMap;
  readonly file: string;
}

/** Returns the credentials of a user. Without a name, requests are anonymous. */
function signInOf(name: string, { config, users, file }: Kubeconfig): SignIn {
  const user = name === "" ? { name } : named("user", config.users, name, file);
  const { fields, folder } = users.get(user.name) ?? { fields: newMap(), folder: "." };
  const provider = fields["auth-provider"];
  if (isMap(provider) && provider["name"] !== "oidc") {
    throw new MeshError(`The user "${user.name}" signs in with the auth-provider "${textAt(provider, "name")}"`, {
      place: { file },
      hint: "Kubernetes 1.26 removed this auth-provider: use the exec plugin of the provider",
    });
  }
  const tokenFile = textAt(fields, "tokenFile");
  const at = `The exec plugin of the user "${user.name}"`;
  return {
    user,
    tokenFile: tokenFile === "" ? undefined : within(folder, tokenFile),
    exec: isMap(fields["exec"]) ? execOf(fields["exec"], { folder, file, at }) : undefined,
    authProvider: oidc(fields),
    fields,
    file,
  };
}

function execOf(fields: ValueMap, { folder, file, at }: Record<"folder" | "file" | "at", string>): ExecPlugin {
  const { success, data, error } = EXEC_PLUGIN.safeParse(fields);
  if (!success) {
    const [issue] = error.issues;
    const field = issue?.path.join(".");
    throw new MeshError(field === "command" ? `${at} has no command` : `${at} has an invalid field "${field}"`, {
      place: { file },
    });
  }
  // A command without a slash stays as it is, for a search in PATH.
  return /[/\\]/.test(data.command) ? { ...data, command: within(folder, data.command) } : data;
}

function within(folder: string, path: string): string {
  return /^(\/|\\|[A-Za-z]:)/.test(path) ? path : `${folder}/${path}`;
}

/** Milliseconds before expiry at which a plugin's credential is renewed. */
const MARGIN = 10_000;

/** Reads the files, runs the plugin, and lets client-node build the credential. */
async function load(world: World, cluster: Cluster, signIn: SignIn): Promise<LastingCredential> {
  const { user, exec, tokenFile, fields, file } = signIn;
  const read = (data: string | undefined, path: string | undefined) => contentOf(world, data, path);
  const caData = await read(cluster.caData, cluster.caFile);
  const plugin: PluginCredential = exec === undefined ? {} : await runPlugin(world, exec, clusterInfo(cluster, caData));
  const token = tokenFile === undefined ? user.token : await world.files.readText(tokenFile);
  const request = await requestOf({ ...cluster, ...WITHOUT_AGENTS, caData }, signIn, {
    ...user,
    ...WITHOUT_FILES,
    token: (token ?? plugin.token)?.trim(),
    certData: await read(user.certData, user.certFile) ?? base64(plugin.clientCertificateData),
    keyData: await read(user.keyData, user.keyFile) ?? base64(plugin.clientKeyData),
  });
  const pem = (content: Content, field: string) => pemOf(content, field, file);
  const certificate = pem(request.cert, "client-certificate");
  const key = pem(request.key, "client-key");
  const identity = certificate === undefined || key === undefined ? undefined : { certificate, key };
  const credential = {
    headers: headersOf(request, fields),
    authorities: pem(request.ca, "certificate-authority"),
    identity,
  };
  return { credential, lasts: exec === undefined ? READ_AGAIN : lifetimeOf(plugin, world.clock) };
}

/**
 * Returns the lifetime of a credential in milliseconds. Without an expiry, the credential lasts until the server
 * refuses it.
 */
function lifetimeOf({ expirationTimestamp = "" }: PluginCredential, clock: Pick<World["clock"], "now">): number {
  const expires = Date.parse(expirationTimestamp);
  return Number.isNaN(expires) ? Infinity : expires - MARGIN - clock.now().getTime();
}

/** Headers and certificates of a request. The field `agent`, for node:https, is not used. */
type RequestOptions = Parameters<KubeConfig["applyToHTTPSOptions"]>[0];

async function requestOf(cluster: object, { user, authProvider, file }: SignIn, own: object): Promise<RequestOptions> {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ ...cluster, name: "" }],
    users: [{ ...own, name: "", authProvider }],
    contexts: [{ name: "", cluster: "", user: "" }],
    currentContext: "",
  });
  const request: RequestOptions = { headers: {} };
  try {
    await config.applyToHTTPSOptions(request);
    return request;
  } catch (error) {
    // Only OIDC can fail here, because the files have been read and the plugin has run.
    throw new MeshError(`The user "${user.name}" cannot sign in with OIDC: ${messageOf(error)}`, {
      place: { file },
      hint: "sign in again with the tool that wrote the kubeconfig",
      cause: error,
    });
  }
}

function headersOf(request: RequestOptions, fields: ValueMap): Headers {
  const headers = impersonated(new Headers(), fields);
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, String(value));
  const basic = base64(request.auth ?? undefined);
  if (basic !== undefined && !headers.has("authorization")) headers.set("authorization", `Basic ${basic}`);
  return headers;
}

/** Turns off client-node's handling of proxies and verification, because the transport handles them. */
const WITHOUT_AGENTS = { caFile: undefined, proxyUrl: undefined, skipTLSVerify: true };

/** Turns off client-node's handling of files and plugins, because this file handles them. */
const WITHOUT_FILES = { certFile: undefined, keyFile: undefined, exec: undefined };

/** Returns the OIDC provider with the issuer as a URL object, which a library of client-node 1.4.0 requires. */
function oidc(fields: ValueMap): object | undefined {
  const provider = fields["auth-provider"];
  if (!isMap(provider)) return undefined;
  const config = mapAt(provider, "config");
  const issuer = textAt(config, "idp-issuer-url");
  return { name: "oidc", config: { ...config, ...URL.canParse(issuer) ? { "idp-issuer-url": new URL(issuer) } : {} } };
}

/** Returns the content of a `-data` field, or of the file if there is no such field, in base64. */
async function contentOf(world: World, data: string | undefined, path: string | undefined) {
  if ((data ?? "") !== "") return data;
  return (path ?? "") === "" ? undefined : base64(await world.files.readText(path ?? ""));
}

function base64(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : Buffer.from(text).toString("base64");
}

type Content = { toString(): string } | null | undefined;

function pemOf(content: Content, field: string, file: string): string | undefined {
  const text = content?.toString();
  if (text === undefined || text.includes("-----BEGIN ")) return text;
  throw new MeshError(`The ${field} of the kubeconfig is not PEM`, {
    place: { file },
    hint: `"${field}-data" must be PEM in base64, "${field}" the path of a PEM file`,
  });
}

/** Adds the impersonation headers except the user, which client-node sets (Kubernetes, "Authenticating"). */
function impersonated(headers: Headers, fields: ValueMap): Headers {
  const uid = textAt(fields, "as-uid");
  if (uid !== "") headers.set("impersonate-uid", uid);
  for (const group of textsAt(fields, "as-groups")) headers.append("impersonate-group", group);
  const extra = mapAt(fields, "as-user-extra");
  for (const key of Object.keys(extra)) {
    for (const value of textsAt(extra, key)) headers.append(`impersonate-extra-${encodeURIComponent(key)}`, value);
  }
  return headers;
}

/** Returns the cluster for a plugin with `provideClusterInfo` (client.authentication.k8s.io/v1, `Cluster`). */
function clusterInfo({ server, skipTLSVerify, tlsServerName, proxyUrl }: Cluster, caData: string | undefined): object {
  return {
    server,
    "certificate-authority-data": caData,
    "tls-server-name": tlsServerName,
    "proxy-url": proxyUrl,
    "insecure-skip-tls-verify": skipTLSVerify || undefined,
    config: null,
  };
}
