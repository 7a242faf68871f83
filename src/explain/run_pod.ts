/** Runs `explain` without a connection: prints summaries of pods. */
import { EXIT } from "../base/errors.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import type { PodSummary } from "./summary/pod_summary_schema.ts";
import { podSummary } from "./summary/pod_summary.ts";
import { summaryPicture } from "./picture/summary_picture.ts";
import { lookOf } from "./picture/look.ts";
import { shortText } from "./picture/short.ts";
import { svgText } from "./picture/svg.ts";
import { terminalText } from "./picture/terminal.ts";
import type { Question } from "./question/question.ts";
import { answersJson, onlyOne } from "./several.ts";
import { PODS_READ, snapshotsOf } from "./sources/sources.ts";

/** Prints pods. The exit code is 1 if a pod has an error or a proxy is unreadable. Throws a MeshError. */
export async function explainPods(world: World, question: Question): Promise<number> {
  return await withProgress(world, PODS_READ, (progress) => printPods(world, question, progress));
}

async function printPods(world: World, { source, output }: Question, progress: Progress): Promise<number> {
  const isShort = output === "short";
  const look = lookOf(world);
  const isDrawn = output === "table" || output === "wide";
  const kept: PodSummary[] = [];
  let [isWell, isFirst] = [true, true];
  for await (const { snapshot } of snapshotsOf(world, source, { progress, depth: isShort ? "short" : "whole" })) {
    const summary = podSummary(snapshot);
    isWell &&= summary.configuration.result !== "unknown" && !summary.findings.some(({ result }) => result === "error");
    progress.hide();
    if (!isDrawn) kept.push(summary);
    else world.stdout.write(`${isFirst ? "" : "\n"}${terminalText(summaryPicture(summary), look)}`);
    isFirst = false;
  }
  progress.end();
  if (!isDrawn) world.stdout.write(textOf(output, kept, tableWidthOf(world)));
  return isWell ? EXIT.ok : EXIT.failed;
}

function textOf(output: "short" | "json" | "svg", summaries: readonly PodSummary[], width: number): string {
  if (output === "short") return shortText(summaries, width);
  return output === "json" ? answersJson(summaries) : svgText(summaryPicture(onlyOne(summaries)));
}
