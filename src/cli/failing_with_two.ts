import { EXIT, MeshError } from "../base/errors.ts";

/** Runs a comparison. Like in diff(1), errors have exit code 2, because 1 means a difference. */
export async function failingWithTwo<T>(compare: () => Promise<T>): Promise<T> {
  try {
    return await compare();
  } catch (error) {
    if (!(error instanceof MeshError) || error.exitCode !== EXIT.failed) throw error;
    const { message, place, hint, rest } = error;
    throw new MeshError(message, {
      ...place === undefined ? {} : { place },
      hint,
      rest,
      exitCode: EXIT.usage,
    });
  }
}
