import { MeshError } from "../../base/errors.ts";

/**
 * An environment variable; `undefined` if it is not set. Errors: its value is not UTF-8, which a JavaScript string
 * cannot hold.
 */
export function variable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.InvalidData)) throw error;
    throw new MeshError(`The variable "${name}" is not UTF-8`, {
      hint: "unset it, or give it another value",
      cause: error,
    });
  }
}
