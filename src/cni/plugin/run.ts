/** Runs `iptables cni`, which handles one request of a container runtime. */
import { EXIT, MeshError } from "../../base/errors.ts";
import { openCapture } from "../../iptables/mod.ts";
import { type Logger, logText, startLog } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { annotationOf, captureOf } from "./capture_of.ts";
import { CniError, CODE, failureJson } from "./failure.ts";
import { readPod } from "./read_pod.ts";
import { type CniRequest, commandOf, type Configuration, NEWEST, readRequest, VERSIONS } from "./request.ts";

/**
 * Handles the request in the environment and on standard input. Returns the exit code. Prints an error as the CNI JSON
 * object on standard output.
 */
export async function runPlugin(world: World): Promise<number> {
  let version: string = NEWEST;
  try {
    const command = commandOf(world);
    if (command === "VERSION") {
      world.stdout.write(`${JSON.stringify({ cniVersion: NEWEST, supportedVersions: VERSIONS })}\n`);
      return EXIT.ok;
    }
    const request = await readRequest(world, command);
    version = request.configuration.cniVersion;
    await answer(world, request);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    world.stdout.write(failureJson(error, version));
    return EXIT.failed;
  }
}

async function answer(world: World, request: CniRequest): Promise<void> {
  const log = startLog(world, "cni", { level: request.configuration.plugin_log_level });
  switch (request.command) {
    case "ADD":
      await (await capture(world, log, request))?.apply();
      return world.stdout.write(`${JSON.stringify(resultOf(request.configuration))}\n`);
    case "CHECK":
      return await check(world, log, request);
    case "DEL":
    case "GC":
    case "STATUS":
    case "VERSION":
      // The kernel deletes the rules with the network namespace. STATUS must succeed without the API and the
      // kubeconfig: otherwise the kubelet would not start the installer, which writes the kubeconfig.
      return;
  }
}

/**
 * Returns the result of the previous plugins; an empty result if this is the only plugin of a network, as with Multus.
 */
function resultOf({ cniVersion, prevResult = {} }: Configuration): Readonly<Record<string, unknown>> {
  return { ...prevResult, cniVersion };
}

/** Enters the pod's network namespace; `undefined` if the plugin does not capture the pod. */
async function capture(world: World, log: Logger, request: CniRequest) {
  const args = await argumentsOf(world, log, request);
  return args === undefined ? undefined : await openCapture(world, { args, log, originOf: annotationOf });
}

/** Throws a `CniError` if the rules of the pod differ from its settings. */
async function check(world: World, log: Logger, request: CniRequest): Promise<void> {
  const { differences = [], isFree = false } = await (await capture(world, log, request))?.compare() ?? {};
  if (isFree) throw new CniError(CODE.noRules, "The traffic of the pod is not captured: the pod has none of the rules");
  const [first] = differences;
  if (first === undefined) return;
  const more = differences.length === 1 ? "" : ` (and ${differences.length - 1} more)`;
  throw new CniError(CODE.otherRules, `The rules of the pod differ from its settings: ${first}${more}`);
}

/** Returns the arguments of `iptables apply` for the pod; `undefined` if the plugin does not capture the pod. */
async function argumentsOf(world: World, log: Logger, request: CniRequest): Promise<string[] | undefined> {
  const { pod, configuration, netns } = request;
  if (pod === undefined) return skip(log, "The container does not belong to a Kubernetes pod");
  const name = `"${pod.namespace}/${pod.name}"`;
  if (configuration.exclude_namespaces.includes(pod.namespace)) {
    return skip(log, `The namespace of ${name} is excluded`);
  }
  // The installer's pod must start without capture, because only the installer writes the kubeconfig that capture
  // needs.
  const isInstaller = configuration.pod_prefix !== "" && pod.name.startsWith(configuration.pod_prefix) &&
    pod.namespace === configuration.pod_namespace;
  if (isInstaller) return skip(log, `${name} is the installer of this plugin`);
  const decision = captureOf(await readPod(world, log, configuration.cni_agent_run_dir, pod));
  if (!decision.captured) return skip(log, `${name} is not captured: ${decision.reason}`);
  log.info(logText(`${name} is captured with ${decision.args.join(" ")}`));
  const native = configuration.native_nftables ? ["--native-nftables"] : [];
  return [...decision.args, ...native, "--network-namespace", netns];
}

function skip(log: Logger, text: string): undefined {
  log.info(logText(text));
  return undefined;
}
