/** The gateway's own identity provider as this room knows it: for people who try the gateway on their machine. */
import type { ProviderSettings } from "./relying-party.ts";

/** What users of the built-in provider have as their issuer, whatever its port: it may be another after the next start. */
export const BUILT_IN = "built-in";

/** Somebody on the provider's list. */
export interface LocalPerson {
  readonly sub: string;
  readonly email: string;
  readonly name: string;
}

export interface BuiltInIdentity {
  identity(): Promise<Omit<ProviderSettings, "storedIssuer">>;
  /** Removes a person from its list, if they are on it. */
  forgetPerson(sub: string): Promise<void>;
}
