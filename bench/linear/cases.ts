/** The list of all cases. */
import type { LinearCase } from "./case.ts";
import { CONFIGURATION_CASES } from "./configuration.ts";
import { MANIFEST_CASES } from "./manifests.ts";
import { RUNNING_CASES } from "./running.ts";
import { WHOLE_SIZE_CASES } from "./whole_size.ts";

export const CASES: readonly LinearCase[] = [
  ...MANIFEST_CASES,
  ...CONFIGURATION_CASES,
  ...RUNNING_CASES,
  ...WHOLE_SIZE_CASES,
];
