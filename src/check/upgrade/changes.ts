/** Compares the injected parts of two pods. */
import type { Fields, Parts } from "./parts.ts";
import type { UpgradeChange } from "./upgrade_schema.ts";

const WHOLE = "container";

/**
 * Returns the changes from a running pod to the next pod. Because webhooks and limit ranges also add fields, a field
 * that only the running pod has is a change only if the present templates (`present`) set the field.
 */
export function changesBetween(running: Parts, next: Parts, present: Parts | undefined): readonly UpgradeChange[] {
  const names = [...new Set([...Object.keys(running), ...Object.keys(next)])];
  return names.flatMap((container) => {
    const [before, after] = [running[container], next[container]];
    if (before === undefined) return [{ container, field: WHOLE, from: null, to: titleOf(after) }];
    if (after === undefined) return [{ container, field: WHOLE, from: titleOf(before), to: null }];
    return ofFields(container, before, after, present?.[container]);
  });
}

function titleOf(fields: Fields = {}): string {
  return fields["image"] ?? "";
}

function ofFields(
  container: string,
  before: Fields,
  after: Fields,
  present: Fields | undefined,
): readonly UpgradeChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return fields.flatMap((field) => {
    const [from = null, to = null] = [before[field], after[field]];
    const isOfOthers = to === null && present !== undefined && present[field] === undefined;
    return from === to || isOfOthers ? [] : [{ container, field, from, to }];
  });
}
