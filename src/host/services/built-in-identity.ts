/** The identity provider of the simulator, started when somebody first signs in. */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { People } from "../../../simulator/identity/people.ts";
import { type Clock, systemRandom } from "../../base/clock.ts";
import { Once } from "../../base/once.ts";
import { loadPieces } from "../../base/process/modules.ts";
import type { IdentityAddress, LocalPerson } from "../../cluster/supervisor/services.ts";
import type { Config } from "../settings/config.ts";

interface ProviderGround {
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of the port that is asked for before it is opened, then of the one that was opened. */
  readonly onListening: (port: number) => void;
}

/** Who owns an installation that nobody has signed in to; the person may change the name at the provider's page. */
const FIRST_PERSON = { email: "owner@example.com", name: "Owner", secondFactor: false };

export class BuiltInProvider {
  readonly #config: Pick<Config, "dataDir" | "publicUrl">;
  readonly #ground: ProviderGround;
  #port = 0;
  readonly #started = new Once(() => this.#start());
  /** One list of the process, whether the provider runs or not: two would overwrite each other's file. */
  readonly #people = new Once(() => this.#openPeople());

  constructor(config: Pick<Config, "dataDir" | "publicUrl">, ground: ProviderGround) {
    this.#config = config;
    this.#ground = ground;
  }

  /** The gateway's port: the provider sends browsers back there. */
  listensAt(port: number): void {
    this.#port = port;
  }

  async address(): Promise<IdentityAddress> {
    return (await this.#started.get()).address;
  }

  /** The person may be on the list although the provider was not started. */
  async forget(sub: string): Promise<void> {
    await (await this.#people.get()).remove(sub);
  }

  /** Who is first on the list; an empty one gets its first person. @throws Error where the list cannot be read or written */
  async firstPerson(): Promise<LocalPerson> {
    const people = await this.#people.get();
    const [first] = people.all();
    const person = first ?? (await people.put(FIRST_PERSON));
    if (person === undefined) throw new Error("the list of people is full, although nobody was on it");
    return { sub: person.sub, email: person.email, name: person.name };
  }

  async #openPeople(): Promise<People> {
    const { openPeople } = await import("../../../simulator/identity/people.ts");
    const folder = join(this.#config.dataDir, "identity");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await openPeople(join(folder, "people.json"), systemRandom);
  }

  async #start() {
    // Loaded here, since most processes never need it, and a module at a time: calls are served between them.
    await loadPieces("oidc-provider", import.meta.filename);
    const { startIdentityProvider } = await import("../../../simulator/identity/identity-provider.ts");
    const { publicUrl } = this.#config;
    const { clock, log, onListening } = this.#ground;
    const people = await this.#people.get();
    const port = this.#port;
    const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`];
    // That of a proxy on this machine.
    const origins = [...new Set([...own, ...(publicUrl === undefined ? [] : [publicUrl])])];
    const wanted = port === 0 || port === 65_535 ? 0 : port + 1;
    onListening(wanted);
    const [clientId, clientSecret] = ["weir", randomBytes(32).toString("base64url")];
    const provider = await startIdentityProvider({
      port: wanted,
      people,
      clients: [
        {
          id: clientId,
          secret: clientSecret,
          redirectUris: origins.map((origin) => `${origin}/auth/callback`),
          postLogoutRedirectUris: origins.map((origin) => `${origin}/auth/login`),
          backchannelLogoutUri: `${origins[0]}/auth/backchannel-logout`,
        },
      ],
      clock,
      random: systemRandom,
      onListening,
      report: (problem) => log.warn({ problem }, "the built-in identity provider"),
    });
    log.info({ issuer: provider.issuer }, "the built-in identity provider is up");
    return { provider, address: { issuer: provider.issuer, clientId, clientSecret } };
  }

  async close(): Promise<void> {
    await (await this.#started.made?.catch(() => undefined))?.provider.close();
    await (await this.#people.made?.catch(() => undefined))?.saved();
  }
}
