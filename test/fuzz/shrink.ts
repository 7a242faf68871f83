/** The maximum number of smaller inputs to try. */
const MAX_LOOKS = 2_000;

/** Returns the smallest input found by removing parts as long as `fails` stays true. */
export async function shrunk(
  input: Uint8Array<ArrayBuffer>,
  fails: (input: Uint8Array<ArrayBuffer>) => Promise<boolean>,
): Promise<Uint8Array<ArrayBuffer>> {
  let best = input;
  let looks = 0;
  for (let size = best.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < best.length && looks < MAX_LOOKS;) {
      const less = without(best, at, size);
      looks++;
      if (await fails(less)) best = less;
      else at += size;
    }
  }
  return best;
}

function without(bytes: Uint8Array, at: number, size: number): Uint8Array<ArrayBuffer> {
  const less = new Uint8Array(bytes.length - Math.min(size, bytes.length - at));
  less.set(bytes.subarray(0, at));
  less.set(bytes.subarray(Math.min(bytes.length, at + size)), at);
  return less;
}
