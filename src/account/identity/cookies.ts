/** The two cookies of the console, as the gateway's public address allows them. */
import { stringifySetCookie } from "cookie";

export interface ConsoleCookies {
  readonly sessionName: string;
  readonly loginName: string;
  /** Value of `Set-Cookie`. */
  session(token: string, maxAgeMs: number): string;
  login(sealed: string, maxAgeMs: number): string;
  readonly endSession: string;
  readonly endLogin: string;
}

/**
 * On https with the prefix `__Host-` (RFC 6265bis, section 4.1.3.2): no other host of the domain can set them. Lax: a link from
 * elsewhere opens the console signed in, a form of elsewhere sends no cookie.
 */
export function consoleCookies(isHttps: boolean): ConsoleCookies {
  const prefix = isHttps ? "__Host-" : "";
  const sessionName = `${prefix}svc_session`;
  const loginName = `${prefix}svc_login`;
  const cookie = (name: string, value: string, maxAgeMs: number) =>
    stringifySetCookie({
      name,
      value,
      path: "/",
      httpOnly: true,
      sameSite: "lax",
      maxAge: Math.floor(maxAgeMs / 1000),
      secure: isHttps,
    });
  return {
    sessionName,
    loginName,
    session: (token, maxAgeMs) => cookie(sessionName, token, maxAgeMs),
    login: (sealed, maxAgeMs) => cookie(loginName, sealed, maxAgeMs),
    endSession: cookie(sessionName, "", 0),
    endLogin: cookie(loginName, "", 0),
  };
}
