/**
 * Secrets of playground keys, one for all tabs of a browser: asked for again, a key ends the secret before it, so tabs that each asked
 * would end each other's calls. A tab first asks the others; a lock has one of them at a time ask the API. Secrets are in memory alone.
 */
import { me, org } from "../app/session.ts";
import { call } from "./call.ts";

interface Secret {
  readonly secret: string;
  readonly endsAtMs: number;
}

/** `who`: a tab asks the others for the secret of a project. */
type Message =
  | { readonly kind: "who"; readonly project: string }
  | ({ readonly kind: "known"; readonly project: string } & Secret);

/** So long before its end a secret is not used any more: a call must be let in with it. */
const SPARE_MS = 30_000;
/** The other tabs answer within a turn of their event loops; a tab that sleeps does not. */
const WAIT_MS = 150;

class SharedSecrets {
  readonly name: string;
  readonly #channel: BroadcastChannel;
  readonly #known = new Map<string, Secret>();
  readonly #waiting = new Set<() => void>();

  constructor(name: string) {
    this.name = name;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#heard(data);
  }

  close(): void {
    this.#channel.close();
  }

  /** @param refused a secret that the API has refused: another one is wanted @throws ApiError */
  async of(project: string, refused: string): Promise<string> {
    const known = this.#usable(project, refused);
    if (known !== undefined) return known;
    const find = () => this.#find(project, refused);
    if (navigator.locks === undefined) return await find();
    return await navigator.locks.request(`${this.name}.${project}`, find);
  }

  async #find(project: string, refused: string): Promise<string> {
    return (
      this.#usable(project, refused) ??
      (await this.#fromOthers(project, refused)) ??
      (await this.#fromApi(project))
    );
  }

  #usable(project: string, refused: string): string | undefined {
    const known = this.#known.get(project);
    const isUsable =
      known !== undefined && known.secret !== refused && known.endsAtMs - SPARE_MS > Date.now();
    return isUsable ? known.secret : undefined;
  }

  #fromOthers(project: string, refused: string): Promise<string | undefined> {
    return new Promise((done) => {
      const finish = () => {
        this.#waiting.delete(look);
        clearTimeout(timer);
        done(this.#usable(project, refused));
      };
      const look = () => {
        if (this.#usable(project, refused) !== undefined) finish();
      };
      const timer = setTimeout(finish, WAIT_MS);
      this.#waiting.add(look);
      this.#channel.postMessage({ kind: "who", project } satisfies Message);
    });
  }

  async #fromApi(project: string): Promise<string> {
    const { secret, expires_at: endsAt = "" } = await call("createPlaygroundKey", {
      body: { project_id: project },
    });
    const made = { secret, endsAtMs: Date.parse(endsAt) };
    this.#known.set(project, made);
    this.#channel.postMessage({ kind: "known", project, ...made } satisfies Message);
    return secret;
  }

  #heard(message: Message): void {
    const { kind, project } = message;
    if (kind === "known") {
      this.#known.set(project, { secret: message.secret, endsAtMs: message.endsAtMs });
      for (const look of [...this.#waiting]) look();
      return;
    }
    const known = this.#known.get(project);
    if (known !== undefined && known.endsAtMs > Date.now())
      this.#channel.postMessage({ kind: "known", project, ...known } satisfies Message);
  }
}

let current: SharedSecrets | undefined;

/** The secrets of the person and the org that the page is about: another person of this browser has keys of their own. */
function shared(): SharedSecrets {
  const name = `weir.playground.${me.value?.user.id}.${org.value?.id}`;
  if (current?.name === name) return current;
  current?.close();
  current = new SharedSecrets(name);
  return current;
}

/** Listens to other tabs, so that the first call of this one need not ask the API. */
export function shareSecrets(): void {
  shared();
}

/**
 * A secret of the person's playground key of a project.
 * @param refused one that was refused as `invalid_key`: it is not given again; empty: none was
 * @throws ApiError
 */
export const playgroundSecret = (project: string, refused = ""): Promise<string> =>
  shared().of(project, refused);
