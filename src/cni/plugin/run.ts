/** `iptables cni`: answers one request of a container runtime. */
import { EXIT, MeshError } from "../../base/errors.ts";
import { openCapture } from "../../iptables/mod.ts";
import { type Logger, logText, startLog } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { annotationOf, captureOf } from "./capture_of.ts";
import { CniError, CODE, failureJson } from "./failure.ts";
import { readPod } from "./read_pod.ts";
import { type CniRequest, commandOf, type Configuration, NEWEST, readRequest, VERSIONS } from "./request.ts";

/**
 * Answers the request in the environment and on standard input. Returns the exit code; an error is the JSON object of CNI
 * on standard output.
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
      await capture(world, log, request);
      return world.stdout.write(`${JSON.stringify(resultOf(request.configuration))}\n`);
    case "CHECK":
      return await check(world, log, request);
    case "DEL":
    case "GC":
    case "STATUS":
    case "VERSION":
      // The rules end with the network namespace. STATUS asks neither the API nor for the kubeconfig: after a failure the
      // kubelet would not start the installer, which writes it.
      return;
  }
}

/** The result of the plugins before this one; an empty result if it is the only plugin of a network, as with Multus. */
function resultOf({ cniVersion, prevResult = {} }: Configuration): Readonly<Record<string, unknown>> {
  return { ...prevResult, cniVersion };
}

async function capture(world: World, log: Logger, request: CniRequest): Promise<void> {
  const args = await argumentsOf(world, log, request);
  if (args === undefined) return;
  const pod = await openCapture(world, { args, log, originOf: annotationOf });
  await pod.apply();
}

/** Throws a `CniError` if the rules of the pod differ from its settings. */
async function check(world: World, log: Logger, request: CniRequest): Promise<void> {
  const args = await argumentsOf(world, log, request);
  if (args === undefined) return;
  const { differences, isFree } = await (await openCapture(world, { args, log, originOf: annotationOf })).compare();
  if (isFree) throw new CniError(CODE.noRules, "The traffic of the pod is not captured: it has none of the rules");
  const [first] = differences;
  if (first === undefined) return;
  const more = differences.length === 1 ? "" : ` (and ${differences.length - 1} more)`;
  throw new CniError(CODE.otherRules, `The rules of the pod differ from its settings: ${first}${more}`);
}

/** The arguments of `iptables apply` for the pod; `undefined` if it is not captured. */
async function argumentsOf(world: World, log: Logger, request: CniRequest): Promise<string[] | undefined> {
  const { pod, configuration, netns } = request;
  if (pod === undefined) return skip(log, "The container is no pod of Kubernetes");
  const name = `"${pod.namespace}/${pod.name}"`;
  if (configuration.exclude_namespaces.includes(pod.namespace)) {
    return skip(log, `The namespace of ${name} is excluded`);
  }
  // The installer's own pod, without which the kubeconfig stays missing or expired.
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
