/**
 * The sign-in link that a start shows on its terminal. One is open at a time; it works once, within ten minutes. Only the hash of
 * its token is kept, in memory of the process whose terminal it is: a link ends with that.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.ts";

export const LINK_MS = 600_000;
/** 256 random bits, base64url. */
const TOKEN = /^[\w-]{43}$/;

export class SignInLink {
  readonly #clock: Clock;
  #open: { readonly hash: Buffer; readonly endsAtMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new link; the one before it ends. @returns its path, which holds the token */
  make(): string {
    const token = randomBytes(32).toString("base64url");
    this.#open = { hash: hashOf(token), endsAtMs: this.#clock.monotonic() + LINK_MS };
    return `/auth/link/${token}`;
  }

  /** Whether the token opens a session now; it stays open. */
  isOpen(token: string): boolean {
    const open = this.#open;
    if (open === undefined || !TOKEN.test(token) || this.#clock.monotonic() >= open.endsAtMs) return false;
    return timingSafeEqual(hashOf(token), open.hash);
  }

  /** Uses the link up: of any number of callers at once one gets true. */
  take(token: string): boolean {
    if (!this.isOpen(token)) return false;
    this.#open = undefined;
    return true;
  }
}

const hashOf = (token: string): Buffer => hash("sha256", token, "buffer");
