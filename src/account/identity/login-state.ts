/**
 * What the browser carries from `/auth/login` to `/auth/callback`: encrypted in a cookie, so that a flood of sign-ins that
 * nobody finishes stores nothing here, and a sign-in that began in one browser ends in no other.
 */
import { EncryptJWT, jwtDecrypt } from "jose";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";

/** For reading a second factor off a telephone, and no longer. */
const LOGIN_MS = 15 * 60_000;

const stateSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  firstOwner: z.string(),
});
export type LoginState = z.output<typeof stateSchema>;

export class LoginStates {
  readonly #secret: Uint8Array;
  readonly #clock: Clock;
  readonly maxAgeMs = LOGIN_MS;

  /** @param secret 32 bytes */
  constructor(secret: Uint8Array, clock: Clock) {
    this.#secret = secret;
    this.#clock = clock;
  }

  seal(state: LoginState): Promise<string> {
    return new EncryptJWT({ ...state })
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime(new Date(this.#clock.now() + LOGIN_MS))
      .encrypt(this.#secret);
  }

  /** The state that was sealed; undefined for one that is too old, or was not made here. */
  async open(sealed: string): Promise<LoginState | undefined> {
    if (sealed.length > 8192) return undefined;
    try {
      const currentDate = new Date(this.#clock.now());
      const { payload } = await jwtDecrypt(sealed, this.#secret, {
        currentDate,
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
      });
      return stateSchema.parse(payload);
    } catch {
      return undefined;
    }
  }
}
