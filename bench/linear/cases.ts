/** All cases. */
import type { LinearCase } from "./case.ts";
import { MANIFEST_CASES } from "./manifests.ts";

export const CASES: readonly LinearCase[] = [...MANIFEST_CASES];
