/** Reads a request of a container runtime from variables and standard input (CNI specification 1.1.0). */
import * as z from "zod/mini";
import { decodeUtf8 } from "../../base/text/mod.ts";
import { joinBytes } from "../../base/bytes.ts";
import { parseJson } from "../../base/json.ts";
import { isMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { CniError, CODE } from "./failure.ts";

/** CNI versions whose results pass through this plugin unchanged. */
export const VERSIONS = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;
export const NEWEST = VERSIONS[4];

/** The required variables of each command, and the first CNI version with this command. */
const COMMANDS = {
  ADD: { needs: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_PATH"], since: "0.3.0" },
  CHECK: { needs: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_PATH"], since: "0.4.0" },
  DEL: { needs: ["CNI_CONTAINERID", "CNI_IFNAME", "CNI_PATH"], since: "0.3.0" },
  GC: { needs: ["CNI_PATH"], since: "1.1.0" },
  STATUS: { needs: ["CNI_PATH"], since: "1.1.0" },
  VERSION: { needs: [], since: "0.3.0" },
} as const;

export type CniCommand = keyof typeof COMMANDS;

/**
 * The fields that the installer writes to the list of plugins. Fields that also exist in istio-cni have the same names
 * here.
 */
export const CONFIGURATION = z.looseObject({
  cniVersion: z.enum(VERSIONS),
  name: z.string().check(z.regex(/^[a-zA-Z0-9][\w.-]*$/)),
  prevResult: z.optional(z.record(z.string(), z.unknown())),
  /** The folder with the kubeconfig. */
  cni_agent_run_dir: z._default(z.string(), "/var/run/mesh-cni"),
  plugin_log_level: z._default(z.string(), "warning"),
  exclude_namespaces: z._default(z.array(z.string()), []),
  /** Namespace and name prefix of the installer's pods, for which the plugin does not call the API. */
  pod_namespace: z._default(z.string(), ""),
  pod_prefix: z._default(z.string(), ""),
  native_nftables: z._default(z.boolean(), false),
});

export type Configuration = Readonly<z.infer<typeof CONFIGURATION>>;

/** The pod of a request. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export interface CniRequest {
  readonly command: CniCommand;
  readonly configuration: Configuration;
  /** The path of the network namespace; `""` if the container no longer has one. */
  readonly netns: string;
  /** The pod; `undefined` if the container does not belong to a Kubernetes pod. */
  readonly pod: PodName | undefined;
}

/** Maximum size of a configuration, to protect the node's memory. Configurations usually have a few kilobytes. */
const MAX_BYTES = 1 << 20;

/**
 * Returns the command of the request. Throws a `CniError` if the command or one of its required variables is missing.
 */
export function commandOf({ env }: World): CniCommand {
  const command = env.get("CNI_COMMAND") ?? "";
  if (command === "") {
    throw new CniError(
      CODE.environment,
      "The environment variable CNI_COMMAND is not set",
      "this program is a CNI plugin: only container runtimes should call it",
    );
  }
  if (!isCommand(command)) throw new CniError(CODE.environment, `Unknown CNI_COMMAND "${command}"`);
  const missing = COMMANDS[command].needs.filter((name) => (env.get(name) ?? "") === "");
  if (missing.length > 0) {
    throw new CniError(
      CODE.environment,
      `${command} needs environment variables that are not set: ${missing.join(", ")}`,
    );
  }
  return command;
}

function isCommand(text: string): text is CniCommand {
  return Object.hasOwn(COMMANDS, text);
}

/** Reads the request of a command. Rejects with a `CniError` for an invalid configuration. */
export async function readRequest(world: World, command: CniCommand): Promise<CniRequest> {
  const configuration = readConfiguration(await inputText(world));
  const { since } = COMMANDS[command];
  if (VERSIONS.indexOf(configuration.cniVersion) < VERSIONS.indexOf(since)) {
    const message =
      `${command} needs CNI version ${since} or later, but the version of the configuration is ${configuration.cniVersion}`;
    throw new CniError(CODE.incompatibleVersion, message);
  }
  return {
    command,
    configuration,
    netns: world.env.get("CNI_NETNS") ?? "",
    pod: podOf(world.env.get("CNI_ARGS") ?? ""),
  };
}

async function inputText({ stdin }: World): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stdin.chunks()) {
    size += piece.length;
    if (size > MAX_BYTES) {
      throw new CniError(CODE.input, `The configuration on standard input is longer than ${MAX_BYTES} bytes`);
    }
    pieces.push(piece);
  }
  return decodeUtf8(joinBytes(pieces), "standard input");
}

function readConfiguration(text: string): Configuration {
  const value = parseJson(text);
  if (value === undefined) throw new CniError(CODE.notDecoded, "The configuration on standard input is not valid JSON");
  const { success, data, error } = z.safeParse(CONFIGURATION, value);
  if (success) return data;
  const [first] = error.issues;
  const field = first?.path.join(".") ?? "";
  if (field === "cniVersion") {
    const given = isMap(value) ? value["cniVersion"] : undefined;
    const message = `The CNI version ${JSON.stringify(given ?? null)} of the configuration is not supported`;
    throw new CniError(CODE.incompatibleVersion, message, `the plugin supports ${VERSIONS.join(", ")}`);
  }
  throw new CniError(
    CODE.invalidConfiguration,
    `The field "${field}" of the configuration is invalid: ${first?.message}`,
  );
}

/**
 * Parses the pod in CNI_ARGS, which container runtimes set for Kubernetes: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0`.
 */
function podOf(text: string): PodName | undefined {
  const args = new Map(text.split(";").map((part) => [part.split("=", 1)[0] ?? "", part.slice(part.indexOf("=") + 1)]));
  const [namespace, name] = [args.get("K8S_POD_NAMESPACE") ?? "", args.get("K8S_POD_NAME") ?? ""];
  return namespace === "" || name === "" ? undefined : { namespace, name };
}
