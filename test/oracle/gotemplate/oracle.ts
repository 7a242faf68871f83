import type { GoValue, MissingKey } from "../../../src/core/gotemplate/mod.ts";
import { parse } from "../../../src/core/gotemplate/mod.ts";
import { extra, values } from "./extra.ts";

/** A template to answer for, as main.go of this folder reads it. */
export interface Request {
  readonly name: string;
  readonly template: string;
  readonly data?: GoValue;
  readonly delims?: readonly [string, string];
  readonly missingKey?: MissingKey;
  /** A Go value of structs.go as data. */
  readonly go?: string;
  /** Functions to declare that return nil. */
  readonly stubs?: readonly string[];
  readonly parseOnly?: boolean;
  /** Without sprig. */
  readonly plain?: boolean;
}

/** Text or error. */
export interface Answer {
  readonly out?: string;
  readonly error?: string;
}

const here = decodeURIComponent(new URL(".", import.meta.url).pathname);

/** Go's answers; builds and runs the Go program. */
export async function goAnswers(requests: readonly Request[]): Promise<Answer[]> {
  const process = new Deno.Command("go", { args: ["run", "."], cwd: here, stdin: "piped", stdout: "piped" }).spawn();
  const input = requests.map((request) => JSON.stringify(request) + "\n").join("");
  const writing = new Blob([input]).stream().pipeTo(process.stdin);
  const { stdout } = await process.output();
  await writing;
  return new TextDecoder().decode(stdout).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Our answer: bytes that are no UTF-8 come as U+FFFD, as they do in the JSON of the Go program. */
export function ourAnswer(request: Request): Answer {
  const funcs = { ...extra, ...Object.fromEntries((request.stubs ?? []).map((name) => [name, () => null])) };
  const [leftDelim = "", rightDelim = ""] = request.delims ?? [];
  try {
    const template = parse(request.name, request.template, {
      funcs,
      leftDelim,
      rightDelim,
      missingKey: request.missingKey ?? "default",
    });
    if (request.parseOnly === true) return { out: "" };
    const data = request.go === undefined ? request.data ?? null : values[request.go] ?? null;
    return { out: asJson(template.render(data)) };
  } catch (error) {
    return { error: asJson(String(error instanceof Error ? error.message : error)) };
  }
}

function asJson(text: string): string {
  return text.replace(/[\udc80-\udcff]/g, (unit, at: number) => isPair(text, at) ? unit : "\ufffd");
}

function isPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
