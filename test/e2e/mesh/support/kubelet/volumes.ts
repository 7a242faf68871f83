/** The volumes of a pod as folders, created and refreshed as the kubelet does. */
import type { KubeApi, Pod } from "../../../../../src/kube/client/mod.ts";
import { isMap, type Value } from "../../../../../src/base/value.ts";
import { MountedFolder } from "../../../webhook/support/server.ts";
import { fieldText } from "./environment.ts";

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number];
type Source = NonNullable<NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]>;
type Files = Record<string, string>;

/** Options of the request for a token. */
export interface TokenChoice {
  /** Instead of the audience that the volume names. */
  readonly audience?: string;
}

/** The folders of a pod's volumes. */
export class Volumes implements AsyncDisposable {
  readonly #empty = new Map<string, string>();
  readonly #mounted = new Map<string, MountedFolder>();

  private constructor(readonly api: KubeApi, readonly pod: Pod, readonly folder: string) {}

  /** Creates all volumes. Rejects if a ConfigMap does not exist: the kubelet would not start the pod. */
  static async make(api: KubeApi, pod: Pod, folder: string): Promise<Volumes> {
    const volumes = new Volumes(api, pod, folder);
    for (const volume of pod.spec?.volumes ?? []) await volumes.#make(volume);
    return volumes;
  }

  /** The folder of a volume. */
  path(name: string): string {
    const path = this.#empty.get(name) ?? this.#mounted.get(name)?.path;
    return path ?? fail(`The pod has no volume "${name}"`);
  }

  /** Whether containers may write to it. */
  isWritable(name: string): boolean {
    return this.#empty.has(name);
  }

  /** Rewrites all files of a volume at once, with a new token or the current ConfigMap. */
  async refresh(name: string, choice: TokenChoice = {}): Promise<void> {
    const volume = this.pod.spec?.volumes?.find((volume) => volume.name === name);
    if (volume === undefined) fail(`The pod has no volume "${name}"`);
    await (this.#mounted.get(name) ?? fail(`The volume "${name}" has no files`)).put(await this.#files(volume, choice));
  }

  async #make(volume: Volume): Promise<void> {
    const { name = "", emptyDir } = volume;
    if (emptyDir === undefined) {
      const folder = await MountedFolder.make(await this.#files(volume, {}));
      this.#mounted.set(name, folder);
      await Deno.chmod(folder.path, 0o755);
      return;
    }
    const path = `${this.folder}/empty-${name}`;
    await Deno.mkdir(path);
    await Deno.chmod(path, 0o777);
    this.#empty.set(name, path);
  }

  async #files({ name, projected, configMap, downwardAPI }: Volume, choice: TokenChoice): Promise<Files> {
    const sources: Source[] = projected?.sources ??
      [{
        ...(configMap === undefined ? {} : { configMap: { name: configMap.name ?? "" } }),
        downwardAPI: downwardAPI ?? {},
      }];
    const parts: Files[] = [];
    for (const source of sources) parts.push(await this.#filesOf(source, choice));
    const files = Object.assign({}, ...parts);
    if (Object.keys(files).length === 0) fail(`The volume "${name}" is of a kind that is not known here`);
    return files;
  }

  async #filesOf({ serviceAccountToken, configMap, downwardAPI }: Source, choice: TokenChoice): Promise<Files> {
    const items = (downwardAPI?.items ?? []).map(({ path = "", fieldRef }) =>
      [path, fieldText(this.pod, fieldRef?.fieldPath ?? "")] as const
    );
    return {
      ...Object.fromEntries(items),
      ...configMap?.name === undefined ? {} : await this.#configMap(configMap.name),
      ...serviceAccountToken === undefined ? {} : {
        [serviceAccountToken.path ?? ""]: await this.#token({ ...serviceAccountToken, ...choice }),
      },
    };
  }

  async #configMap(name: string): Promise<Files> {
    const path = `/api/v1/namespaces/${this.pod.metadata.namespace}/configmaps/${name}`;
    const { data } = await this.api.get(path) ?? fail(`The ConfigMap "${name}" does not exist`);
    return Object.fromEntries(Object.entries(isMap(data) ? data : {}).map(([key, value]) => [key, String(value)]));
  }

  /** A token of the pod's service account, bound to the pod. */
  async #token({ audience, expirationSeconds }: { audience?: string; expirationSeconds?: number }): Promise<string> {
    const { name, namespace, uid } = this.pod.metadata;
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/${this.pod.spec?.serviceAccountName}`;
    const answer = await this.api.create(`${account}/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [audience], expirationSeconds, boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } },
    });
    return textAt(answer["status"], "token");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of this.#mounted.values()) await folder[Symbol.asyncDispose]();
  }
}

function textAt(value: Value | undefined, name: string): string {
  const text = value !== undefined && isMap(value) ? value[name] : undefined;
  return typeof text === "string" ? text : fail(`The answer has no "${name}"`);
}

function fail(message: string): never {
  throw new Error(message);
}
