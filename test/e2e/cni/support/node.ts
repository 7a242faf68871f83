/** A node for tests: the folders of a container runtime, a stand-in for the network plugin, and cnitool. */
import type { ValueMap } from "../../../../src/base/value.ts";
import { goProgram } from "../../../support/programs/go_program.ts";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { POD } from "../../iptables/support/pod.ts";

/** The result of the plugin that runs before ours. */
export const RESULT = {
  interfaces: [{ name: "eth0", sandbox: "/run/netns/x" }],
  ips: [{ address: `${POD[4]}/24`, interface: 0 }],
};

/**
 * A plugin that makes no network, because the test has made it. It responds to every command, and its result contains
 * an unknown field.
 */
const NETWORK_PLUGIN = `#!/bin/sh
config=$(cat)
case $CNI_COMMAND in
  VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["0.3.1","0.4.0","1.0.0","1.1.0"]}' ;;
  ADD) version=$(echo "$config" | sed -n 's/.*"cniVersion":"\\([^"]*\\)".*/\\1/p')
       echo '${JSON.stringify(RESULT).replace(/^\{/, '{"cniVersion":"\'"$version"\'",')}' ;;
esac
`;

/** Starts the program under test by the plugin's name, as the installed binary does. */
export const PLUGIN_PROGRAM = `#!/bin/sh
case \${0##*/} in mesh-cni) set -- iptables cni "$@" ;; esac
exec ${MESH_COMMAND} "$@"
`;

/** The folders of a node, which are removed at the end. */
export class CniNode implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async create(): Promise<CniNode> {
    const node = new CniNode(await Deno.makeTempDir({ prefix: "mesh-cni-" }));
    for (const name of ["net.d", "bin", "run", "account"]) await Deno.mkdir(`${node.folder}/${name}`);
    await node.program("network", NETWORK_PLUGIN);
    await Deno.writeTextFile(`${node.folder}/program`, PLUGIN_PROGRAM, { mode: 0o755 });
    return node;
  }

  /** Adds a plugin. */
  async program(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/bin/${name}`, text, { mode: 0o755 });
  }

  /** Writes a configuration list with the network plugin, and with our plugin if it is given. */
  async configure(version: string, own?: ValueMap, name = "10-net.conflist"): Promise<void> {
    const plugins = [{ type: "network" }, ...own === undefined ? [] : [{ type: "mesh-cni", ...own }]];
    const text = JSON.stringify({ cniVersion: version, name: "net", plugins });
    await Deno.writeTextFile(`${this.folder}/net.d/${name}`, text);
    if (own !== undefined) await this.program("mesh-cni", PLUGIN_PROGRAM);
  }

  async configuration(name = "10-net.conflist"): Promise<string> {
    return await Deno.readTextFile(`${this.folder}/net.d/${name}`);
  }

  /** Whether a configuration exists and contains our plugin. */
  async hasPlugin(name?: string): Promise<boolean> {
    return (await this.configuration(name).catch(() => "")).includes('"mesh-cni"');
  }

  /** Writes the plugin's kubeconfig for an API server without TLS. */
  async kubeconfig(server: string, user: ValueMap = {}, cluster: ValueMap = {}): Promise<void> {
    const text = JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
      clusters: [{ name: "c", cluster: { server, ...cluster } }],
      users: [{ name: "c", user }],
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
    });
    await Deno.writeTextFile(`${this.folder}/run/mesh-cni-kubeconfig`, text);
  }

  /** Runs cnitool (github.com/containernetworking/cni), as an administrator does. */
  async cnitool(command: string, netns: string, pod: { readonly namespace?: string; readonly name?: string } = {}) {
    const { namespace = "shop", name = "web-0" } = pod;
    const tool = await goProgram("test/e2e/servers/cnitool", "github.com/containernetworking/cni/cnitool");
    const { code, stdout, stderr } = await new Deno.Command(tool, {
      args: [command, "net", netns],
      env: {
        NETCONFPATH: `${this.folder}/net.d`,
        CNI_PATH: `${this.folder}/bin`,
        CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`,
      },
      stdin: "null",
    }).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
