import { messageOf } from "../../core/errors.ts";

/**
 * What went wrong in a template, without the name `inject` that every template of Istio has: Go's
 * `template: inject:3:7: executing "inject" at <.x>: ...` as `line 3, column 7: executing "inject" at <.x>: ...`.
 */
export function templateMessage(error: unknown): string {
  const message = messageOf(error);
  const [all, line, column, rest] = /^template: inject:(\d+)(?::(\d+))?: ([^]*)$/.exec(message) ?? [];
  if (all === undefined) return message;
  return `line ${line}${column === undefined ? "" : `, column ${column}`}: ${rest}`;
}
