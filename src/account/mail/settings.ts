/** `SMTP_URL` and `MAIL_FROM`: the server that takes mails, and who sends them. */

import { LOOPBACK_HOST } from "../../base/network/loopback-host.ts";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `smtps://`: TLS from the first byte. */
  readonly isTls: boolean;
  readonly isLoopback: boolean;
  /** Empty: no sign-in. */
  readonly user: string;
  readonly password: string;
}

export interface Mailbox {
  /** May be empty. */
  readonly name: string;
  readonly address: string;
}

/** Submission (RFC 6409), and the same with TLS from the first byte (RFC 8314). */
const PORTS = { "smtp:": 587, "smtps:": 465 } as const;

/**
 * `smtp://user:password@host:port`, the password percent-encoded. @throws Error with what is wrong, without repeating it: it
 * may hold a password
 */
export function smtpServerOf(text: string): SmtpServer {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:"))
    throw new Error("must be smtp://host or smtps://host, with user:password@ where needed");
  const { protocol, hostname, port, username, password, pathname, search, hash } = url;
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(hostname)) throw new Error("must name a host");
  if (port === "0") throw new Error("must name a port from 1 to 65535");
  if ((pathname !== "" && pathname !== "/") || search !== "" || hash !== "")
    throw new Error("must end after host and port");
  if ((username === "") !== (password === ""))
    throw new Error("must have both user and password, or neither");
  const host = hostname.toLowerCase();
  return {
    host: host.replace(/^\[|\]$/g, ""),
    port: port === "" ? PORTS[protocol as keyof typeof PORTS] : Number(port),
    isTls: protocol === "smtps:",
    isLoopback: LOOPBACK_HOST.test(host),
    user: decoded(username),
    password: decoded(password),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("must have user and password percent-encoded: a % as %25");
  }
}

const MAX_MAILBOX = 320;

/** `Name <name@host>`, or the address alone. @throws Error with what is wrong */
export function mailboxOf(text: string): Mailbox {
  const [, name = "", address = text.trim()] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const isAddress = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(address);
  if (!isAddress || text.length > MAX_MAILBOX || /\p{Cc}/u.test(text))
    throw new Error("must be an address, such as Weir <weir@example.com>");
  return { name: name.trim().replace(/^"([^"]*)"$/, "$1"), address };
}
