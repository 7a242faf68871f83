import { trimmedEnd } from "../../base/text/mod.ts";
import { MeshError } from "../../base/errors.ts";
import { wholeNumber } from "./resolve.ts";

/**
 * A number as kubectl writes it: 64-bit integers in digits, other numbers in Go's shortest `%g`. A number
 * whose exponent is below -4 or at least 6 is written in exponent form, and its exponent has at least two digits.
 */
export function numberText(value: number | bigint): string {
  if (typeof value === "bigint") return value.toString();
  if (!Number.isFinite(value)) throw new MeshError(`Cannot write the number "${value}": JSON cannot represent it`);
  return wholeNumber(value)?.toString() ?? goFloat(value.toExponential());
}

/** A float as a map key: sigs.k8s.io/yaml formats it as a 32-bit float. */
export function floatKeyText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single < 0 ? "-.inf" : ".inf";
  return floatText(single);
}

/** A finite 32-bit float in the fewest digits that read back as the same float. */
export function floatText(single: number): string {
  for (let digits = 0; digits < 9; digits++) {
    const text = single.toExponential(digits);
    if (Math.fround(Number(text)) === single) return goFloat(text);
  }
  return goFloat(single.toExponential());
}

/** Converts the result of JavaScript's toExponential, such as `1.5e+7`, to Go's `%g` with the shortest precision. */
function goFloat(exponential: string): string {
  const [mantissa = "", power = "0"] = exponential.split("e");
  const exponent = Number(power);
  const digits = trimmedEnd(mantissa.replace("-", "").replace(".", ""), "0", 1);
  const sign = mantissa.startsWith("-") ? "-" : "";
  if (exponent < -4 || exponent >= 6) return sign + scientific(digits, exponent);
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return sign + (fraction === "" ? whole : `${whole}.${fraction}`);
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
