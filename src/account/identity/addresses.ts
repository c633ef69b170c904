/** Addresses that browsers are sent to: the gateway's own, and where to go after a sign-in. */
import { fail } from "../../base/errors.ts";

/** The gateway's address as the browser used it, if that is on this machine; any other must be in the settings. */
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * The gateway's address; undefined where only the client says what it is: a `Host` must not decide where a sign-in ends.
 * @param publicUrl of the settings; undefined: none
 * @param host header of the request
 */
export function knownAddress(publicUrl: string | undefined, host: string): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  return LOCAL_HOST.test(host) ? `http://${host.toLowerCase()}` : undefined;
}

/** @throws WeirError `identity_unavailable` where it is not known */
export function ownAddress(publicUrl: string | undefined, host: string): string {
  const known = knownAddress(publicUrl, host);
  if (known !== undefined) return known;
  throw fail(
    "identity_unavailable",
    "Sign-in needs the gateway's address: set PUBLIC_URL, or open it as http://localhost.",
    { retryable: false },
  );
}

const MAX_PATH = 1000;

/** A path of this gateway; `usual` for anything that could lead elsewhere, such as `//host` or `/\host`. */
export function localPath(path: string | undefined, usual: string): string {
  if (path === undefined || path.length > MAX_PATH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return usual;
  const base = "http://weir.invalid";
  return URL.canParse(path, base) && new URL(path, base).origin === base ? path : usual;
}
