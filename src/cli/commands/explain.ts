import { UsageError } from "../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../golang/flags/mod.ts";
import type { World } from "../../platform/world.ts";
import type { Connection, PodChoice, SourceChoice } from "../../explain/mod.ts";
import { command, type Input } from "../command.ts";
import { say } from "../failure.ts";
import { CLUSTER, NAMESPACE } from "../shared_flags.ts";
import { podChoice, podName } from "./pod_name.ts";

const SAVED_OR_LOCAL = ["filename", "local"];

const FLAGS = {
  "Connection": {
    to: flag(
      "--to HOST:PORT[/PATH]",
      "Destination of an outbound connection (name or address); http://, https://, tls:// or tcp:// sets the protocol",
      { type: "text", excludes: ["from"] },
    ),
    from: flag("--from ADDRESS", "Client of an inbound connection", { type: "text", needs: ["to-port"] }),
    toPort: flag("--to-port PORT", "Destination port of the inbound connection", {
      type: "port",
      needs: ["from"],
    }),
    method: flag("--method METHOD", "Method of the HTTP request", { needs: ["to", "from"], defaultDoc: "GET" }),
    header: flag("--header NAME:VALUE", "Header of the HTTP request; Host sets the authority, :path the path", {
      type: "texts",
      needs: ["to", "from"],
    }),
    oneEnd: flag("--one-end", "Show only the client's side, without the pods behind the endpoints", {
      needs: ["to"],
    }),
    matrix: flag(
      "--matrix",
      "Explain the connection from every workload to every Service of the namespace, as a table or json",
      {
        excludes: ["to", "from", "ephemeral", "local"],
      },
    ),
    responseFlags: flag(
      "--response-flags FLAGS",
      "Explain these response flags of Envoy, such as UF,URX, for this connection, with next steps",
      { type: "text", needs: ["to", "from"] },
    ),
    log: flag(
      "--log LINE",
      "Explain the response flags in this line of the proxy's access log; - reads the last such line of standard input",
      { type: "text", excludes: ["response-flags", "matrix"] },
    ),
    sni: flag("--sni NAME", "Server name (SNI) that the application sends, if it speaks TLS itself", {
      needs: ["to", "from"],
    }),
  },
  "Configuration": {
    of: flag(
      "--of listeners|routes|clusters|endpoints|secrets|bootstrap",
      "List this part of the proxy's configuration without secrets, like istioctl proxy-config, as table, json or yaml",
      { excludes: ["to", "from", "matrix", "log", "selector", "all-namespaces", "ephemeral"] },
    ),
    name: flag(
      "--name NAME",
      "Only the resource with this name; with --of endpoints, only the endpoints of this cluster",
      {
        type: "text",
        needs: ["of"],
      },
    ),
    port: flag("--port PORT", "Only listeners, clusters or endpoints of this port", { type: "port", needs: ["of"] }),
    fqdn: flag("--fqdn TEXT", "Only clusters with this text in their name, or their endpoints", {
      type: "text",
      needs: ["of"],
    }),
  },
  "Pod": {
    namespace: flag(
      "-n, --namespace NAMESPACE",
      "Namespace of the pod; if no pod is named, all pods with a proxy in the namespace",
      {
        ...NAMESPACE,
        excludes: ["all-namespaces", ...SAVED_OR_LOCAL],
        defaultDoc: "from the context",
      },
    ),
    selector: flag("-l, --selector SELECTOR", "All pods with these labels", { excludes: SAVED_OR_LOCAL }),
    allNamespaces: flag("-A, --all-namespaces", "Pods of all namespaces", { excludes: SAVED_OR_LOCAL }),
    container: flag("-c, --container NAME", "Container of the proxy", {
      excludes: SAVED_OR_LOCAL,
      defaultDoc: "istio-proxy",
    }),
  },
  "Source": {
    filename: flag(
      "-f, --filename SNAPSHOT",
      "Read a snapshot, its unpacked folder or a config_dump.json instead of a cluster; repeat the flag to add the peers",
      { type: "files", excludes: ["local"] },
    ),
    local: flag("--local", "Read the pod of this process's network namespace, without an API server"),
    ephemeral: flag(
      "--ephemeral",
      "Read the kernel's rules through an ephemeral container with NET_ADMIN, which stays listed in the pod",
      { excludes: [...SAVED_OR_LOCAL, "selector", "all-namespaces"] },
    ),
    probe: flag(
      "--probe",
      "Send one real request and mark the stations that it passes as proved: with --to as the application's user, with " +
        "--from as the proxy's user inside the pod, with --matrix for every connection; the sender is an ephemeral " +
        "container without capabilities, or a process with --local",
      { needs: ["to", "from", "matrix"], excludes: ["filename", "selector", "all-namespaces"] },
    ),
    trace: flag(
      "--trace",
      "Send a first packet to --to, trace it through the kernel's rules, and mark the kernel's station as proved",
      { needs: ["to"], excludes: ["probe", "matrix"] },
    ),
    probeImage: flag("--probe-image IMAGE", "Image of the container that sends the request, which must contain curl", {
      needs: ["probe"],
      excludes: ["local"],
      defaultDoc: "the image of the proxy",
    }),
  },
  "Output": {
    output: flag(
      "-o, --output table|wide|short|json|yaml|svg",
      "Output format; svg draws a pod, wide prints every station with its values, short prints one line per pod, yaml needs --of",
      { default: "table" },
    ),
  },
  "Cluster": flagsWith(CLUSTER, { excludes: SAVED_OR_LOCAL }),
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const EXPLAIN = command({
  summary: "Explain what happens to a connection in a pod of the mesh",
  description:
    "Print the stations of one connection, from the kernel's rules to listener, route, cluster, endpoint and TLS. " +
    "Each station shows what decided its result, and how this is known: seen, planned, proved or unknown. The first " +
    "station with a problem is the cause. Without a connection, print a summary of the pod's side of the mesh. " +
    "Changes nothing in the pod without --ephemeral and --probe.",
  usage: "POD | KIND/NAME | -n NAMESPACE | -l SELECTOR | -f SNAPSHOT [POD] | --local [flags]",
  positional: { usage: "POD", completes: "pods" },
  examples: [
    { command: "kubectl mesh explain pod/web --to reviews:9080/api" },
    { command: "kubectl mesh explain deployment/web --to 10.0.0.9:80 --header Host:reviews" },
    { command: "kubectl mesh explain pod/web --to reviews:9080/api --probe" },
    { command: "kubectl mesh explain pod/web --from 10.1.9.9 --to-port 8080" },
    { command: "kubectl mesh explain pod/web" },
    { command: "kubectl mesh explain -n shop -o short" },
    { command: "kubectl mesh explain -A -o short" },
    { command: "kubectl mesh explain --matrix -n shop" },
    { command: "kubectl mesh explain --matrix --probe -n shop" },
    { command: "kubectl mesh explain deployment/web --of clusters --fqdn reviews" },
    { command: "kubectl mesh explain -f web.tar.gz --to https://api.example.com/" },
    { command: "kubectl mesh explain -f shop.tar.gz pod/cart --to catalog:8080" },
  ],
  flags: FLAGS,
  exits: {
    ok: "the connection reaches an endpoint or bypasses the proxy; without a connection, no problem is an error",
    failed:
      "the connection is refused or unknown, a pod or its proxy cannot be read, or, without a connection, a problem is an error",
    usage: true,
  },
  run: runExplain,
});

async function runExplain(world: World, { flags, args }: Input<typeof FLAGS>): Promise<number> {
  const { explain, explainListing, readConnection } = await import("../../explain/mod.ts");
  const { of, output } = flags;
  if (of !== undefined) {
    checkFilter(of, flags);
    if (output === "svg") {
      throw new UsageError("A listing cannot be drawn as SVG", { hint: "use -o table, json or yaml" });
    }
    const form = output === "wide" ? "table" : output;
    return await explainListing(world, { source: sourceOf(flags, args, undefined), output: form, of, filter: flags });
  }
  if (output === "yaml") {
    throw new UsageError("Only a listing can be printed as YAML", { hint: "select a listing with --of" });
  }
  checkMatrix(flags);
  const connection = readConnection(flags);
  const responseFlags = await responseFlagsOf(world, flags, connection);
  if (flags.trace && !flags.local) {
    throw new UsageError("A packet can only be traced in the pod's own network namespace", {
      hint: "--trace needs --local",
    });
  }
  const source = sourceOf(flags, args, connection);
  return await explain(world, {
    source,
    connection,
    output,
    isOneEnd: flags.oneEnd,
    flags: responseFlags,
    isMatrix: flags.matrix,
    isProbed: flags.probe,
    isTraced: flags.trace,
  });
}

/** The parts of a proxy configuration that each filter supports. */
const FILTERED: Readonly<Record<"name" | "port" | "fqdn", readonly string[]>> = {
  name: ["listeners", "routes", "clusters", "endpoints", "secrets"],
  port: ["listeners", "clusters", "endpoints"],
  fqdn: ["clusters", "endpoints"],
};

function checkFilter(of: string, flags: Pick<Flags, "name" | "port" | "fqdn">): void {
  for (const filter of ["name", "port", "fqdn"] as const) {
    if (flags[filter] === undefined || FILTERED[filter].includes(of)) continue;
    throw new UsageError(`--${filter} does not filter ${of}`, { hint: `it filters ${FILTERED[filter].join(", ")}` });
  }
}

function checkMatrix({ matrix, output }: Pick<Flags, "matrix" | "output">): void {
  if (matrix && output === "svg") {
    throw new UsageError("A matrix cannot be drawn as SVG", { hint: "use -o table or json" });
  }
}

/**
 * Returns the response flags to explain. Says if there are none, and if a line is from another connection. Throws a
 * UsageError for a line without a connection. Its hint names the connection of the line.
 */
async function responseFlagsOf(world: World, flags: Pick<Flags, "log" | "responseFlags">, connection?: Connection) {
  const { connectionOfLine, flagsOfLine, lastLogLine, otherConnection, readFlags } = await import(
    "../../explain/mod.ts"
  );
  if (flags.log === undefined) {
    const named = readFlags(flags.responseFlags ?? "");
    if (flags.responseFlags !== undefined && named.length === 0) say(world, NO_FLAG);
    return named;
  }
  const line = flags.log === "-" ? await standardInput(world, lastLogLine) : lastLogLine(flags.log);
  const found = flagsOfLine(line);
  if (connection === undefined) {
    const named = connectionOfLine(line);
    throw new UsageError("The flag --log needs --to or --from", {
      hint: named === undefined ? "such as --to reviews:9080/api" : `add ${named}, the connection in the line`,
    });
  }
  const other = otherConnection(line, connection);
  if (other !== undefined) say(world, `warning: The line is from another connection: ${other}`);
  if (found.length === 0) say(world, NO_FLAG);
  return found;
}

const NO_FLAG = "note: The line has no response flag";

/** Maximum length of a log line on standard input, in characters. */
const MAX_LINE = 65_536;

/** Returns the line that `choose` selects. At a terminal, the first line ends the input. */
async function standardInput({ stdin }: World, choose: (text: string) => string): Promise<string> {
  const decoder = new TextDecoder();
  let chosen = "";
  let rest = "";
  for await (const chunk of stdin.chunks()) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) chosen = choose(`${chosen}\n${text.slice(0, end)}`);
    rest = text.slice(end, end + MAX_LINE);
    if (end > 0 && stdin.isTerminal) break;
  }
  return choose(`${chosen}\n${rest}`);
}

const HINT = { hint: 'see "kubectl mesh explain --help"' };

function sourceOf(flags: Flags, args: readonly string[], connection: Connection | undefined): SourceChoice {
  const { filename, local, ephemeral, probeImage } = flags;
  const probe = flags.probe ? connection : undefined;
  const name = podName(args);
  if (local && name !== undefined) throw new UsageError(`Both the pod "${name}" and --local are named`, HINT);
  if (filename.includes("-")) {
    throw new UsageError("A snapshot cannot be read from standard input", { hint: "name its file or folder with -f" });
  }
  if (filename.length > 0) return { kind: "file", paths: filename, pod: name };
  if (local) return { kind: "local", probe };
  if (name !== undefined && FILE_NAME.test(name)) {
    throw new UsageError(`"${name}" is not the name of a pod`, {
      hint: "name the file or folder of a snapshot with -f",
    });
  }
  return { kind: "live", pods: podsOf(flags, name), api: flags, ephemeral, probe, probeImage };
}

/** A path, or the name of a snapshot. */
const FILE_NAME = /^\.{0,2}\/|\/.*\/|\.(?:tar|gz|tgz|json)$/;

function podsOf(flags: Flags, name: string | undefined): PodChoice {
  const choice = podChoice(flags, name);
  if (choice !== undefined) return choice;
  const { namespace, container, matrix, of, ephemeral, probe } = flags;
  // A listing, a probe and an ephemeral container are for one pod.
  const isOfOne = of !== undefined || ephemeral || probe;
  if (matrix || (namespace !== undefined && !isOfOne)) {
    return { name, selector: undefined, namespace, allNamespaces: false, container };
  }
  throw new UsageError("No pod is named", {
    hint: `give pod/NAME or KIND/NAME${isOfOne ? "" : ", -n, -l or -A"}, or a snapshot with -f`,
  });
}
