/** The JSON of `version -o json`. Import it for types only: printing needs no zod. */
import { z } from "zod";

/** What `version -o` prints. */
export const VERSION_INFO = z.strictObject({
  version: z.string(),
}).describe("The output of `kubectl mesh version -o json`");

export type VersionInfo = Readonly<z.infer<typeof VERSION_INFO>>;
