import { ALL_CHECKS } from "../../../src/check/checks/all.ts";
import type { Finding } from "../../../src/check/check.ts";
import { judge } from "../../../src/check/run.ts";
import type { Inventory } from "../../../src/check/inventory/mod.ts";

/** Runs a check on an inventory and returns its finding. */
export async function findingFor(id: string, inventory: Inventory): Promise<Finding> {
  const check = ALL_CHECKS.find((each) => each.id === id);
  if (check === undefined) throw new Error(`There is no check "${id}"`);
  return await judge(check, inventory);
}
