/** What a client has to know of a server and of itself, wherever that was written. */

/** A text, or the file that holds it. */
export type TextOrFile = { readonly text: string } | { readonly file: string };

/** A program that gives credentials (Kubernetes, "client-go credential plugins"). */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What to tell the user if the program is not there. */
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  /** `Always`: it has to be able to ask. */
  readonly needsTerminal: boolean;
}

/** Whom the client pretends to be. */
export interface Impersonation {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** How to reach a server, and as whom. */
export interface ConnectionSettings {
  /** URL without a slash at its end. */
  readonly server: string;
  readonly authorities: TextOrFile | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly proxy: string | undefined;
  readonly certificate: TextOrFile | undefined;
  readonly key: TextOrFile | undefined;
  readonly token: TextOrFile | undefined;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
  readonly exec: ExecPlugin | undefined;
  readonly impersonation: Impersonation | undefined;
  /** The namespace of the context, for those that ask for none. */
  readonly namespace: string | undefined;
  /** What the settings were read from, for messages: `context "kind" of "/home/ada/.kube/config"`. */
  readonly origin: string;
}

/** Which connection is wanted; all of it may be left out. */
export interface ConnectOptions {
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
}
