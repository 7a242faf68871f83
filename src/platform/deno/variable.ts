import { MeshError } from "../../base/errors.ts";

/**
 * Returns an environment variable; `undefined` if it is not set. Throws a MeshError for a value that is not UTF-8,
 * which a JavaScript string cannot hold.
 */
export function variable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.InvalidData)) throw error;
    throw new MeshError(`The value of the environment variable "${name}" is not UTF-8`, {
      hint: "unset the variable, or set a UTF-8 value",
      cause: error,
    });
  }
}
