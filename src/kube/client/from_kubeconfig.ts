/**
 * Reads the connection settings from a kubeconfig. Only this file imports client-node's code, which signs in with OIDC.
 * `connect` loads this file only if a kubeconfig exists.
 */
import { Buffer } from "node:buffer";
import { MeshError, messageOf } from "../../base/errors.ts";
import { shownUrl, withShownUrls } from "../../base/shown_url.ts";
import { trimmedEnd } from "../../base/text/mod.ts";
import { isMap, mapAt, mapsAt, newMap, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { type Connection, type ConnectOptions, Credentials, type LastingCredential, READ_AGAIN } from "./connection.ts";
import { readKubeconfig } from "./kubeconfig_file.ts";
import { EXEC_PLUGIN, type ExecPlugin, type PluginCredential, runPlugin } from "./exec_plugin.ts";

/** A context, cluster or user as written in a file, with the folder for its relative paths. */
interface Entry {
  readonly name: string;
  readonly fields: ValueMap;
  readonly folder: string;
}

type Kind = "context" | "cluster" | "user";

interface Kubeconfig {
  readonly entries: Readonly<Record<Kind, readonly Entry[]>>;
  readonly currentContext: string;
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
  const { file } = kubeconfig;
  const context = named(kubeconfig, "context", options.context ?? kubeconfig.currentContext);
  const cluster = clusterWith(clusterOf(kubeconfig, context, options), options, file);
  const user = userWith(named(kubeconfig, "user", options.user ?? textAt(context.fields, "user")), options);
  const exec = execOf(user, file);
  const sources = { cluster, user, exec, oidc: await oidcOf(user, file), file };
  return {
    server: cluster.server,
    insecure: cluster.insecure,
    serverName: cluster.serverName,
    proxy: cluster.proxy,
    credentials: new Credentials(
      world.clock,
      () => load(world, sources),
      exec !== undefined || textAt(user.fields, "tokenFile") !== "",
    ),
    runsPlugin: exec !== undefined,
    namespace: optionalText(context.fields, "namespace"),
    origin: originText(options, context.name, files),
  };
}

function originText({ server }: ConnectOptions, context: string, files: readonly string[]): string {
  if (files.length === 0) return "--server";
  const text = `context "${context}" of ${files.map((path) => `"${path}"`).join(", ")}`;
  return server === undefined ? text : `--server, with ${text}`;
}

/** Merges the files as kubectl does: the first entry with a name and the first current context win. */
async function readFiles(world: World, files: readonly string[]): Promise<Kubeconfig> {
  const read = await Promise.all(
    files.map(async (file) => ({ value: await readKubeconfig(world, file), folder: folderOf(file) })),
  );
  const entriesOf = (kind: Kind, needed?: string) => {
    const all = read.flatMap(({ value, folder }) =>
      mapsAt(value, `${kind}s`).map((entry) => ({ name: textAt(entry, "name"), fields: mapAt(entry, kind), folder }))
    );
    // Drops incomplete entries, because the context in use may be complete.
    const complete = all.filter(({ name, fields }) => name !== "" && (needed === undefined || fields[needed]));
    return Map.groupBy(complete, ({ name }) => name).values().flatMap((same) => same.slice(0, 1)).toArray();
  };
  const contexts = read.map(({ value }) => textAt(value, "current-context"));
  return {
    entries: {
      context: entriesOf("context", "cluster"),
      cluster: entriesOf("cluster", "server"),
      user: entriesOf("user"),
    },
    currentContext: contexts.find((name) => name !== "") ?? "",
    file: files.join(", "),
  };
}

function folderOf(file: string): string {
  const end = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return end < 0 ? "." : file.slice(0, end);
}

function within(folder: string, path: string): string {
  return /^(\/|\\|[A-Za-z]:|$)/.test(path) ? path : `${folder}/${path}`;
}

function optionalText(fields: ValueMap, key: string): string | undefined {
  return textAt(fields, key) || undefined;
}

/** Returns the cluster from `--cluster` or from the context. With `--server`, the kubeconfig needs no cluster. */
function clusterOf(kubeconfig: Kubeconfig, context: Entry, { cluster, server }: ConnectOptions): Entry {
  const name = cluster ?? textAt(context.fields, "cluster");
  if (name === "" && server === undefined) throw noContext(kubeconfig);
  return named(kubeconfig, "cluster", name);
}

const ANONYMOUS: Entry = { name: "", fields: newMap(), folder: "." };

/** Required fields, for messages. */
const NEEDS: Readonly<Record<Kind, string>> = { context: " with a cluster", cluster: " with a server", user: "" };

/** Returns the entry with a name. Without a name, the entry has no fields. */
function named({ entries, file }: Kubeconfig, kind: Kind, name: string): Entry {
  if (name === "") return ANONYMOUS;
  const entry = entries[kind].find((each) => each.name === name);
  if (entry !== undefined) return entry;
  throw new MeshError(`The kubeconfig has no ${kind} "${name}"${NEEDS[kind]}`, {
    place: { file },
    hint: existing(kind, entries[kind]),
  });
}

function noContext({ entries, file }: Kubeconfig): MeshError {
  if (entries.context.length === 0) {
    return new MeshError("The kubeconfig has no context", {
      place: { file },
      hint: "sign in, or set another file with --kubeconfig",
    });
  }
  const hint = `choose one with --context: ${existing("context", entries.context)}`;
  return new MeshError("The kubeconfig has no current context", { place: { file }, hint });
}

const MAX_NAMES = 10;

function existing(kind: Kind, entries: readonly Entry[]): string {
  if (entries.length === 0) return `the kubeconfig has no ${kind}`;
  const more = entries.length > MAX_NAMES ? ` and ${entries.length - MAX_NAMES} more` : "";
  return `the kubeconfig has ${entries.slice(0, MAX_NAMES).map(({ name }) => `"${name}"`).join(", ")}${more}`;
}

/** Where a PEM text is: as base64 in a field `FIELD-data`, otherwise in a file. */
interface PemSource {
  readonly field: string;
  readonly data: string;
  readonly path: string;
}

function pemSource({ fields, folder }: Entry, field: string): PemSource {
  return { field, data: textAt(fields, `${field}-data`), path: within(folder, textAt(fields, field)) };
}

/** Returns the settings of a cluster. Flags win over the kubeconfig, as in kubectl. */
function clusterWith(entry: Entry, options: ConnectOptions, file: string) {
  const { certificateAuthority, insecureSkipTlsVerify = false } = options;
  const { fields } = entry;
  return {
    ...serverOf(entry, options, file),
    serverName: options.tlsServerName ?? optionalText(fields, "tls-server-name"),
    insecure: insecureSkipTlsVerify || fields["insecure-skip-tls-verify"] === true,
    proxy: proxyOf(entry, file),
    authorities: certificateAuthority === undefined
      ? pemSource(entry, "certificate-authority")
      : { field: "certificate-authority", data: "", path: certificateAuthority },
  };
}

/**
 * Returns the server's URL for requests and messages, and the `authorization` header for user and password in it. Drops
 * the query, as kubectl does.
 */
function serverOf({ name, fields }: Entry, { server: flag }: ConnectOptions, file: string) {
  const text = flag === undefined || flag.includes("://") ? flag ?? textAt(fields, "server") : `https://${flag}`;
  const authorization = /^https?:\/\/[^/]/.test(text) ? basicIn(text) : undefined;
  const shown = shownUrl(text);
  if (authorization !== undefined) return { server: trimmedEnd(shown.replace(/\?.*/s, ""), "/"), authorization };
  throw new MeshError(`The server "${shown}" of the cluster "${name}" is not an http or https URL`, {
    place: { file },
  });
}

/** Returns the header for user and password in a URL: `""` without them, `undefined` if the URL is invalid. */
function basicIn(text: string): string | undefined {
  try {
    const { username, password } = new URL(text);
    return username + password === "" ? "" : basic(decodeURIComponent(username), decodeURIComponent(password));
  } catch {
    // The text is not a URL, or an escape in it is invalid.
    return undefined;
  }
}

function proxyOf({ name, fields }: Entry, file: string): string | undefined {
  const proxy = optionalText(fields, "proxy-url");
  if (proxy === undefined || (/^(https?|socks5h?):/.test(proxy) && URL.canParse(proxy))) return proxy;
  // Does not quote the URL, which may contain a password.
  throw new MeshError(`The proxy-url of the cluster "${name}" is not an http, https or socks5 URL`, {
    place: { file },
  });
}

const IMPERSONATION = ["as", "as-uid", "as-groups", "as-user-extra"];

/** Applies flags to a user. `--token` replaces the user's credentials, and `--as` the kubeconfig's impersonation. */
function userWith({ fields, ...entry }: Entry, { token, as, asGroup = [] }: ConnectOptions): Entry {
  if (asGroup.length > 0 && as === undefined) {
    throw new MeshError("The flag --as-group needs --as: the API server accepts groups only with a user");
  }
  const impersonation = Object.entries(fields).filter(([key]) => IMPERSONATION.includes(key));
  const own = token === undefined ? fields : { ...Object.fromEntries(impersonation), token };
  const flags = { as: as ?? "", "as-groups": [...asGroup], "as-uid": "", "as-user-extra": newMap() };
  return { ...entry, fields: as === undefined ? own : { ...own, ...flags } };
}

/** Returns the user's plugin. A command without a slash is searched in PATH. */
function execOf({ name, fields, folder }: Entry, file: string): ExecPlugin | undefined {
  if (!isMap(fields["exec"])) return undefined;
  const { success, data, error } = EXEC_PLUGIN.safeParse(fields["exec"]);
  if (success) return /[/\\]/.test(data.command) ? { ...data, command: within(folder, data.command) } : data;
  const field = error.issues[0]?.path.join(".");
  const problem = field === "command" ? "has no command" : `has an invalid field "${field}"`;
  throw new MeshError(`The exec plugin of the user "${name}" ${problem}`, { place: { file } });
}

/** Returns a function that renews and returns the `authorization` header of a user with OIDC. */
async function oidcOf({ name, fields }: Entry, file: string): Promise<(() => Promise<string>) | undefined> {
  const provider = fields["auth-provider"];
  if (!isMap(provider)) return undefined;
  if (provider["name"] !== "oidc") {
    throw new MeshError(`The user "${name}" signs in with the auth-provider "${textAt(provider, "name")}"`, {
      place: { file },
      hint: "Kubernetes 1.26 removed this auth-provider: use the exec plugin of the provider",
    });
  }
  const { OpenIDConnectAuth } = await import("@kubernetes/client-node/oidc");
  const auth = new OpenIDConnectAuth();
  const config = mapAt(provider, "config");
  const issuer = textAt(config, "idp-issuer-url");
  // client-node 1.4.0 needs the issuer as a URL object, and writes renewed tokens into this object.
  const authProvider = { name: "oidc", config: { ...config, "idp-issuer-url": URL.parse(issuer) ?? issuer } };
  return async () => {
    const headers: Record<string, string> = {};
    try {
      await auth.applyAuthentication({ name, authProvider }, { headers });
      return headers["Authorization"] ?? "";
    } catch (error) {
      throw new MeshError(`The user "${name}" cannot sign in with OIDC: ${withShownUrls(messageOf(error))}`, {
        place: { file },
        hint: "sign in again with the tool that wrote the kubeconfig",
        cause: error,
      });
    }
  };
}

interface Sources {
  readonly cluster: ReturnType<typeof clusterWith>;
  readonly user: Entry;
  readonly exec: ExecPlugin | undefined;
  readonly oidc: (() => Promise<string>) | undefined;
  readonly file: string;
}

/** Milliseconds before expiry at which a plugin's credential is renewed. */
const MARGIN = 10_000;

/** Reads the files, runs the plugin and renews OIDC tokens. */
async function load(world: World, { cluster, user, exec, oidc, file }: Sources): Promise<LastingCredential> {
  const pem = (source: PemSource) => readPem(world, source, file);
  const authorities = await pem(cluster.authorities);
  const plugin = exec === undefined ? {} : await runPlugin(world, exec, clusterInfo(cluster, authorities));
  const certificate = await pem(pemSource(user, "client-certificate")) ?? plugin.clientCertificateData;
  const key = await pem(pemSource(user, "client-key")) ?? plugin.clientKeyData;
  const identity = certificate && key ? { certificate, key } : undefined;
  const headers = impersonated(user.fields);
  const authorization = await authorizationOf(world, { cluster, user, oidc }, plugin.token);
  if (authorization !== "") headers.set("authorization", authorization);
  const credential = { headers, authorities, identity };
  return { credential, lasts: exec === undefined ? READ_AGAIN : lifetimeOf(plugin, world.clock) };
}

/**
 * A token file wins over the token, and a token over a password, as in client-go. User and password in the server's URL
 * win over all, because Go's net/http sets the header first.
 */
async function authorizationOf(
  world: World,
  { cluster, user: { fields, folder }, oidc }: Pick<Sources, "cluster" | "user" | "oidc">,
  fromPlugin = "",
): Promise<string> {
  if (cluster.authorization !== "") return cluster.authorization;
  const tokenFile = within(folder, textAt(fields, "tokenFile"));
  const token = tokenFile === "" ? textAt(fields, "token") || fromPlugin : await world.files.readText(tokenFile);
  if (token.trim() !== "") return `Bearer ${token.trim()}`;
  const name = textAt(fields, "username");
  return name === "" ? await oidc?.() ?? "" : basic(name, textAt(fields, "password"));
}

function basic(name: string, password: string): string {
  return `Basic ${base64(`${name}:${password}`)}`;
}

/**
 * Returns the lifetime of a credential in milliseconds. Without an expiry, the credential lasts until the server
 * refuses it.
 */
function lifetimeOf({ expirationTimestamp = "" }: PluginCredential, clock: Pick<World["clock"], "now">): number {
  const expires = Date.parse(expirationTimestamp);
  return Number.isNaN(expires) ? Infinity : expires - MARGIN - clock.now().getTime();
}

async function readPem(world: World, { field, data, path }: PemSource, file: string): Promise<string | undefined> {
  if (data === "" && path === "") return undefined;
  const text = data === "" ? await world.files.readText(path) : Buffer.from(data, "base64").toString();
  if (text.includes("-----BEGIN ")) return text;
  throw new MeshError(`The ${field} of the kubeconfig is not PEM`, {
    place: { file },
    hint: `"${field}-data" must be PEM in base64, "${field}" the path of a PEM file`,
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Returns the impersonation headers (Kubernetes, "Authenticating"). */
function impersonated(fields: ValueMap): Headers {
  const headers = new Headers();
  for (const [header, key] of [["impersonate-user", "as"], ["impersonate-uid", "as-uid"]] as const) {
    if (textAt(fields, key) !== "") headers.set(header, textAt(fields, key));
  }
  for (const group of textsAt(fields, "as-groups")) headers.append("impersonate-group", group);
  const extra = mapAt(fields, "as-user-extra");
  for (const key of Object.keys(extra)) {
    for (const value of textsAt(extra, key)) headers.append(`impersonate-extra-${encodeURIComponent(key)}`, value);
  }
  return headers;
}

/** Returns the cluster for a plugin with `provideClusterInfo` (client.authentication.k8s.io/v1, `Cluster`). */
function clusterInfo(cluster: Sources["cluster"], authorities: string | undefined): object {
  return {
    server: cluster.server,
    "certificate-authority-data": authorities && base64(authorities),
    "tls-server-name": cluster.serverName,
    "proxy-url": cluster.proxy,
    "insecure-skip-tls-verify": cluster.insecure || undefined,
    config: null,
  };
}
