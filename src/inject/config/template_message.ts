import { messageOf } from "../../base/errors.ts";

/**
 * Removes Istio's template name `inject` from the message of a template error. Go's
 * `template: inject:3:7: executing "inject" at <.x>: ...` becomes `line 3, column 7: executing "inject" at <.x>: ...`.
 */
export function templateMessage(error: unknown): string {
  const message = messageOf(error);
  const [all, line, column, rest] = /^template: inject:(\d+)(?::(\d+))?: ([^]*)$/.exec(message) ?? [];
  if (all === undefined) return message;
  return `line ${line}${column === undefined ? "" : `, column ${column}`}: ${rest}`;
}
