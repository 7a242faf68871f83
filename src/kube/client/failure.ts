import { parseJson } from "../../base/json.ts";
import { oneLine } from "../../base/errors.ts";
import { withoutMiddle } from "../../base/text/mod.ts";
import { isMap, textAt } from "../../base/value.ts";
import { ApiError, ConflictError } from "./api.ts";

export interface Asked {
  /** The request, such as `GET /api/v1/namespaces/x`. */
  readonly what: string;
  readonly server: string;
  /** The source of the credentials, for messages. */
  readonly origin: string;
}

/** Maximum characters of a message. The end is kept: the cause is there, such as after the names in a certificate. */
const LONGEST = 2_000;

/** Returns the error for a failed response. `body`: the `Status` object of the API, or the text of a proxy. */
export function refusal(status: number, body: string, asked: Asked): ApiError {
  const said = withoutMiddle(oneLine(messageOf(body)), LONGEST);
  if (status === 401) {
    return new ApiError(
      `The Kubernetes API server "${asked.server}" does not accept the credentials of ${asked.origin}`,
      { status, hint: "sign in again, or choose another context with --context" },
    );
  }
  if (status === 403) {
    return new ApiError(`The Kubernetes API server denied the request: ${said}`, {
      status,
      hint: `an administrator can grant the permission with a ${
        /at the cluster scope/.test(said) ? "ClusterRole and a ClusterRoleBinding" : "Role and a RoleBinding"
      }`,
    });
  }
  const message = `The Kubernetes API server "${asked.server}" answered ${status} to ${asked.what}: ${said}`;
  return status === 409 ? new ConflictError(message, { status }) : new ApiError(message, { status });
}

function messageOf(body: string): string {
  const status = parseJson(body) ?? null;
  const message = isMap(status) ? textAt(status, "message") : "";
  return message || (body.trim() === "" ? "no reason given" : body);
}
