/** `explain` without a connection: pods at a glance. */
import { EXIT, UsageError } from "../base/errors.ts";
import type { World } from "../platform/world.ts";
import type { Glance } from "./glance/glance_schema.ts";
import { glanceOf } from "./glance/glance.ts";
import { glancePicture } from "./picture/glance_picture.ts";
import { lookOf } from "./picture/look.ts";
import { shortText } from "./picture/short.ts";
import { svgText } from "./picture/svg.ts";
import { terminalText } from "./picture/terminal.ts";
import type { Question } from "./question/question.ts";
import { capturesOf } from "./sources/sources.ts";

/** Prints pods on standard output; the exit code is 1 if an error was found in one, or a proxy cannot be read. Errors are `MeshError`s. */
export async function explainPods(world: World, { source, output }: Question): Promise<number> {
  const isShort = output === "short";
  const look = lookOf(world);
  const kept: Glance[] = [];
  let [isWell, isFirst] = [true, true];
  for await (const capture of capturesOf(world, source, { depth: isShort ? "short" : "whole" })) {
    const glance = glanceOf(capture);
    isWell &&= isTold(glance) && !glance.findings.some(({ result }) => result === "error");
    if (output !== "table") kept.push(glance);
    else world.stdout.write(`${isFirst ? "" : "\n"}${terminalText(glancePicture(glance), look)}`);
    isFirst = false;
  }
  if (output !== "table") world.stdout.write(textOf(output, kept));
  return isWell ? EXIT.ok : EXIT.failed;
}

/** A proxy that nobody could read may be anything. */
function isTold({ configuration }: Glance): boolean {
  return configuration.result !== "unknown";
}

function textOf(output: "short" | "json" | "svg", glances: readonly Glance[]): string {
  if (output === "short") return shortText(glances);
  const [only] = glances;
  const isOne = glances.length === 1 && only !== undefined;
  if (output === "svg") {
    if (isOne) return svgText(glancePicture(only));
    throw new UsageError(`A picture is of one pod, and there are ${glances.length}`, {
      hint: "name a pod as pod/NAME",
    });
  }
  return isOne
    ? `${JSON.stringify(only, undefined, 2)}\n`
    : glances.map((glance) => `${JSON.stringify(glance)}\n`).join("");
}
