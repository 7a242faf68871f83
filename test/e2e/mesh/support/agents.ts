/** The agent in the pods: this program's, and in long runs also Istio's pilot-agent. */
import { isLong } from "../../../support/long.ts";
import { CACHE, CHECKOUT, makeOnce } from "../../../support/programs/cache.ts";
import { goProgram } from "../../../support/programs/go_program.ts";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { ISTIO_MODULE } from "./istiod.ts";
import type { Image } from "./kubelet/kubelet.ts";
import { RELEASE } from "./release.ts";

/** An agent, as the image of the proxy and of the init container. */
export interface Agent {
  readonly name: "kubectl-mesh" | "pilot-agent";
  readonly image: () => Promise<Image>;
}

/** This program under the name of pilot-agent. */
export const OURS: Agent = {
  name: "kubectl-mesh",
  image: () => Promise.resolve({ entry: [MESH_COMMAND, "pilot-agent"] }),
};

/** Istio's pilot-agent. */
export const PILOT_AGENT: Agent = {
  name: "pilot-agent",
  async image() {
    const program = RELEASE?.agent ?? await goProgram(ISTIO_MODULE, "istio.io/istio/pilot/cmd/pilot-agent");
    const template = "/var/lib/istio/envoy/envoy_bootstrap_tmpl.json";
    return { entry: [program], files: { [template]: RELEASE?.bootstrap ?? await bootstrapTemplate(program) } };
  },
};

/** The agents that faults are tested with: both in a long run. */
export const AGENTS: readonly Agent[] =
  (Deno.env.get("MESH_AGENT") ?? (isLong() ? "kubectl-mesh,pilot-agent" : OURS.name))
    .split(",").map((name) => name === PILOT_AGENT.name ? PILOT_AGENT : OURS);

/** The template of Envoy's bootstrap, which is a file of Istio's image and of its module. */
async function bootstrapTemplate(program: string): Promise<string> {
  const version = program.split("-").at(-1);
  return await makeOnce(`${CACHE}/programs/envoy_bootstrap-${version}.json`, async (file) => {
    const args = ["-C", `${CHECKOUT}/${ISTIO_MODULE}`, "list", "-m", "-f", "{{.Dir}}", "istio.io/istio"];
    const { stdout } = await new Deno.Command("go", { args }).output();
    const folder = new TextDecoder().decode(stdout).trim();
    await Deno.copyFile(`${folder}/tools/packaging/common/envoy_bootstrap.json`, file);
  });
}
