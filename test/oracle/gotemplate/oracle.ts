import type { GoValue } from "../../../src/golang/gotemplate/mod.ts";
import { parse, pure } from "../../../src/golang/gotemplate/mod.ts";
import { askGoProgram } from "../../support/programs/go_program.ts";
import { extra, values } from "./extra.ts";

/** A request to main.go in this folder. */
export interface Request {
  readonly name: string;
  readonly template: string;
  readonly data?: GoValue;
  readonly delims?: readonly [string, string];
  /** The name of a Go value in structs.go, which is the data of the template. */
  readonly go?: string;
  /** Names of functions that return nil, to declare. */
  readonly stubs?: readonly string[];
  readonly parseOnly?: boolean;
  /** Whether sprig's functions are left out. */
  readonly plain?: boolean;
}

/** The output, or an error. */
export interface Answer {
  readonly out?: string;
  readonly error?: string;
}

/** Returns Go's answers. Builds the Go program on first use. */
export async function goAnswers(requests: readonly Request[], env: Record<string, string> = {}): Promise<Answer[]> {
  return await askGoProgram("test/oracle/gotemplate", requests, (line): Answer => JSON.parse(line), env);
}

/** Returns this project's answer. Invalid UTF-8 becomes U+FFFD, as in the JSON from the Go program. */
export function ourAnswer(request: Request): Answer {
  const funcs = {
    ...extra,
    ...Object.fromEntries((request.stubs ?? []).map((name) => [name, pure(["interface {}"], () => null, true)])),
  };
  const [leftDelim = "", rightDelim = ""] = request.delims ?? [];
  try {
    const template = parse(request.name, request.template, {
      funcs,
      leftDelim,
      rightDelim,
    });
    if (request.parseOnly === true) return { out: "" };
    const data = request.go === undefined ? request.data ?? null : values[request.go] ?? null;
    return { out: asJson(template.render(data)) };
  } catch (error) {
    return { error: asJson(String(error instanceof Error ? error.message : error)) };
  }
}

/**
 * Whether two answers are the same, apart from two details of Go's errors: for elements of a list or map, an error
 * about a field names the type `interface {}` instead of the value's type; and the position in errors about arguments
 * after a pipeline in parentheses varies.
 */
export function sameAnswer(us: Answer, go: Answer): boolean {
  const shown = ({ error }: Answer) =>
    error?.replace(/(?<=can't evaluate field \w+ in type ).*/s, "")
      .replace(/\d+:\d+: executing .*(?=: can't give argument to non-function)/s, "");
  return us.out === go.out && shown(us) === shown(go);
}

function asJson(text: string): string {
  return text.replace(/[\udc80-\udcff]/g, (unit, at: number) => isPair(text, at) ? unit : "\ufffd");
}

function isPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
