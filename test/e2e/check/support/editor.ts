/** Simulates a user in the editor of `kubectl edit` who knows only the advice. */
import assert from "node:assert/strict";
import { shellQuoted } from "../../../../src/base/text/mod.ts";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";
import { helmFor } from "./helm.ts";

/** Corrects the object in the editor; `report` contains the message and the advice. */
export type Writer = (file: string, report: string) => string;

/** Corrects the line that the message names, in a text under a key of a ConfigMap. */
export function atReportedLine(place: RegExp, was: string, is: string): Writer {
  return (file, report) => {
    const { key = "", under, line = "" } = place.exec(report)?.groups ?? {};
    const lines = file.split("\n");
    const start = lines.findIndex((each) => each.startsWith(`  ${key}: |`));
    const first = under === undefined ? start : lines.findIndex((each, index) => {
      return index > start && new RegExp(`^\\s+${under}: \\|`).test(each);
    });
    assert.ok(start >= 0 && first >= start, `${report}\n${file}`);
    const index = first + Number(line);
    assert.ok(lines[index]?.includes(was), `line ${line} is: ${lines[index]}\n${report}`);
    return lines.with(index, lines[index]?.replace(was, is) ?? "").join("\n");
  };
}

/** Corrects the text that the message and the advice name with these words. */
export function named(words: RegExp, was: string | RegExp, is: string): Writer {
  return (file, report) => {
    assert.match(report, words);
    const written = file.replace(was, is);
    assert.notEqual(written, file, file);
    return written;
  };
}

/** Runs a command from the advice. If it opens an editor, `writer` makes the changes. */
export async function runCommand(
  cluster: Cluster,
  command: string,
  { writer, report }: { readonly writer: Writer | undefined; readonly report: string },
): Promise<void> {
  const helm = await helmFor(cluster, command);
  const run = async (text: string) => {
    const { code, stdout, stderr } = await cluster.shell(`${helm}${text}`, MESH_COMMAND);
    assert.equal(code, 0, `${text}: ${stderr}`);
    return stdout;
  };
  const file = await Deno.makeTempFile({ prefix: "mesh-edit-" });
  try {
    if (!command.startsWith(EDIT)) {
      // The user's own file, a pull secret.
      await Deno.writeTextFile(file, '{"auths": {}}');
      return void await run(command.replace(/\bFILE$/, file));
    }
    assert(writer !== undefined, `nobody knows what to write: ${command}`);
    await Deno.writeTextFile(file, writer(await run(command.replace(EDIT, "kubectl get -o yaml ")), report));
    await run(`export KUBE_EDITOR=${shellQuoted(`cp ${file}`)}; ${command}`);
  } finally {
    await Deno.remove(file);
  }
}

const EDIT = "kubectl edit ";
