/** All cases. */
import type { LinearCase } from "./case.ts";
import { CONFIGURATION_CASES } from "./configuration.ts";
import { MANIFEST_CASES } from "./manifests.ts";
import { RUNNING_CASES } from "./running.ts";

export const CASES: readonly LinearCase[] = [...MANIFEST_CASES, ...CONFIGURATION_CASES, ...RUNNING_CASES];
