/** What a probe proved of the stations. */
import type { Answer } from "../answer_schema.ts";
import type { Proof } from "../capture/capture.ts";

/** Marks the stations that a probe passed as proved. One that it missed, against the prediction, is the answer. */
export function withProofs(answer: Answer, proofs: readonly Proof[]): Answer {
  if (proofs.length === 0) return answer;
  const stations = answer.stations.map((station) => {
    const own = proofs.filter(({ kind }) => kind === station.kind);
    const proof = own.find(({ name }) => name === station.name) ?? own[0];
    if (proof === undefined) return station;
    const isSame = proof.passed && (proof.name === station.name || proof.name === "" || station.name === "");
    const message = `${station.message}; ${proof.message}`;
    return isSame
      ? { ...station, source: "proved" as const, message }
      : { ...station, result: "error" as const, message };
  });
  const wrong = stations.find((station, index) =>
    station.result === "error" && answer.stations[index]?.result !== "error"
  );
  if (wrong === undefined) return { ...answer, stations };
  return {
    ...answer,
    stations,
    verdict: "unknown",
    reason: `The probe did not pass as predicted: ${wrong.message}`,
    fix: "",
  };
}
