import { parseYaml } from "../../src/yaml/mod.ts";

/** A reference to someone else's action or workflow: `OWNER/NAME@` and a commit, with the tag in a comment. */
const PINNED = /\buses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d\S*$/;
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/**
 * Checks a GitHub workflow and returns a line for each problem: an action or image that its owner can change, a step
 * that continues after a failure, an installation without a checksum, or permissions that no job declares.
 */
export function findingsOf(text: string): string[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trimEnd(), at: index + 1 }));
  const code = lines.filter(({ line }) => !/^\s*#/.test(line));
  const unpinned = code.filter(({ line }) => /\buses:/.test(line) && !PINNED.test(line));
  const lenient = code.filter(({ line }) => /\bcontinue-on-error:/.test(line));
  return [
    ...unpinned.map(({ at }) => `line ${at}: no commit and tag of the action`),
    ...lenient.map(({ at }) => `line ${at}: continue-on-error`),
    ...findingsOfJobs(parseYaml(text)),
  ];
}

function findingsOfJobs(workflow: unknown): string[] {
  const { permissions, jobs } = recordOf(workflow);
  const findings = isEmptyRecord(permissions) ? [] : ["the workflow's own permissions are not {}"];
  for (const [name, value] of Object.entries(recordOf(jobs))) {
    const job = recordOf(value);
    if (typeof job["permissions"] !== "object" || job["permissions"] === null) {
      findings.push(`job ${name}: no permissions by name`);
    }
    const services = Object.values(recordOf(job["services"]));
    for (const image of [job["container"], ...services].filter((each) => each !== undefined).map(imageOf)) {
      if (!DIGEST.test(image)) findings.push(`job ${name}: the image "${image}" has no digest`);
    }
    for (const step of listOf(job["steps"]).map(recordOf)) findings.push(...findingsOfScript(name, step["run"]));
  }
  return findings;
}

function findingsOfScript(job: string, run: unknown): string[] {
  const commands = typeof run === "string" ? run.replaceAll("\\\n", " ").split("\n") : [];
  return commands.filter((each) => /\bpip3? +(install|download)\b/.test(each) && !each.includes("--require-hashes"))
    .map((each) => `job ${job}: without --require-hashes: ${each.trim()}`);
}

function imageOf(value: unknown): string {
  const image = typeof value === "string" ? value : recordOf(value)["image"];
  return typeof image === "string" ? image : "";
}

function isEmptyRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
